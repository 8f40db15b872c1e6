"""Do gradients vanish or explode through time at initial values? (mathews2016 2.2.3, 2.5, 4.1 to 4.3)

Every number is a decimal logarithm of the Frobenius norm of dh_T / dh_t, the Jacobian of the last state by an
earlier one, over that of dh_T / dh_T, unless it says otherwise. Inputs are N(0, 1), and states
start at zero where nothing else is said.
"""

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells import Cell
from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, rows_of, series

VALUES, INPUTS, WEIGHTS, TARGETS, STARTS = range(5)
"""Streams: initial values of a draw, its inputs, matrices that no cell draws, targets, states
before the first step."""
SMALLEST = 1e-300
"""Stands for a norm of 0, so that the logarithm of a vanished gradient is a number."""
FADED = -6.0
"""Logarithm below which a gradient counts as vanished."""


@dataclass(frozen=True)
class Arguments:
    seed: Natural
    draws: int
    units: int
    steps: int
    cells: dict[str, dict]
    radii: tuple[Positive, ...]
    scales: tuple[Positive, ...]
    widths: tuple[int, ...]
    biases: tuple[float, ...]


def initial(cell: Cell, seed: int, draws: int) -> dict[str, Tensor]:
    """The cell's initial parameters, one replica a draw."""
    values = [cell.initialise(rng(seed, VALUES, draw)) for draw in range(draws)]
    return {name: torch.from_numpy(np.stack([one[name] for one in values])) for name in values[0]}


def inputs(cell: Cell, seed: int, draws: int, steps: int) -> Tensor:
    """N(0, 1) numbers [T, S, 1, I]."""
    drawn = [rng(seed, INPUTS, draw).standard_normal((steps, 1, cell.inputs)) for draw in range(draws)]
    return torch.from_numpy(np.stack(drawn, axis=1))


def states(
    cell: Cell, params: Mapping[str, Tensor], given: Tensor, start: Tensor | None = None
) -> list[tuple[Tensor, ...]]:
    """The states before the first step and after each; row i of each replica's batch serves unit i of h_T.

    h_0 is `start` [S, 1, H], or 0; other parts of the state start at 0.
    """
    lead = given.shape[1], cell.hidden
    first, *rest = cell.initial_state(*lead, dtype=given.dtype)
    first = first if start is None else start.expand_as(first).clone()
    found = [tuple(part.requires_grad_() for part in (first, *rest))]
    for x in given:
        found.append(cell.step(dict(params), x.expand(*lead, -1), found[-1]))
    return found


def norms(
    cell: Cell, params: Mapping[str, Tensor], given: Tensor, of: int = 0, start: Tensor | None = None
) -> np.ndarray:
    """The logarithms for lags T, T - 1, ..., 0, [T + 1, draws], of the cell's state number `of`; `start` as
    for `states`."""
    parts = [each[of] for each in states(cell, params, given, start)]
    chosen = torch.diagonal(parts[-1], dim1=-2, dim2=-1).sum()
    jacobians = torch.autograd.grad(chosen, parts, allow_unused=True)
    found = [torch.zeros(parts[0].shape[:1]) if j is None else torch.linalg.matrix_norm(j) for j in jacobians]
    logs = torch.log10(torch.stack(found).clamp(min=SMALLEST))
    return (logs - logs[-1]).numpy()


def built(block: Mapping[str, Any], units: int) -> Cell:
    """The cell of a block with as many inputs as units, and a rank equal to them where it has a tensor."""
    fields = {field.name for field in dataclasses.fields(cells.find(block))}
    rank = {"rank": units} if "rank" in fields else {}
    return cells.build({"hidden": units} | rank | dict(block), units)


def matrices(seed: int, draws: int, units: int) -> np.ndarray:
    """N(0, 1) matrices [draws, units, units] of spectral radius 1."""
    drawn = np.stack([rng(seed, WEIGHTS, draw).standard_normal((units, units)) for draw in range(draws)])
    return drawn / np.abs(np.linalg.eigvals(drawn)).max(axis=1)[:, None, None]


def linear(arguments: Arguments) -> dict[str, float]:
    """2.2.3: h_t = W h_(t-1) over 200 steps; the slope of the natural logarithm of the norm, median over W.

    Fitted to the second half, where what a matrix that is not normal does at first has passed. `error` is the
    largest relative distance of a slope from the logarithm of the spectral radius.
    """
    unit = matrices(arguments.seed, arguments.draws, arguments.units)
    steps = np.arange(1, 201)
    power, logs = np.eye(unit.shape[-1]), []
    for _ in steps:
        power = power @ unit
        logs.append(np.log(np.linalg.norm(power, axis=(1, 2))))
    slope = float(np.median(np.polyfit(steps[100:], np.array(logs)[100:], 1)[0]))
    found = {f"slope at radius {radius}": slope + math.log(radius) for radius in arguments.radii}
    errors = [abs(slope / math.log(radius)) for radius in arguments.radii]
    return found | {"error": max(errors)}


def saturating(arguments: Arguments) -> dict[str, float]:
    """2.2.3: h_t = f(W h_(t-1) + x_t) with one W of radius 1.5 for f = tanh, ReLU and the identity.

    Medians; shares of draws in which tanh has the smaller norm; shares of lags and draws that have faded.
    """
    seed, draws, units = arguments.seed, arguments.draws, arguments.units
    w = torch.from_numpy(1.5 * matrices(seed, draws, units))
    found, logs = {}, {}
    for f in ("tanh", "relu", "linear"):
        cell = built({"name": "vanilla", "input_weights": "identity", "activation": f}, units)
        params = initial(cell, seed, draws) | {"U": w}
        logs[f] = norms(cell, params, inputs(cell, seed, draws, arguments.steps))
        found |= {f: median(logs[f][0]), f"{f} faded": float(np.mean(logs[f] < FADED))}
    for other in ("relu", "linear"):
        found[f"tanh below {other}"] = float(np.mean(logs["tanh"][0] < logs[other][0]))
    return found


def product_only(arguments: Arguments) -> dict[str, float]:
    """2.5: h_t = tanh(W x_t * U h_(t-1)) against the vanilla cell with the same W, U and h_0, over 50 steps.

    h_0 is N(0, 1), because from 0 the product stays at 0.
    """
    seed, draws, units = arguments.seed, arguments.draws, arguments.units
    vanilla = built({"name": "vanilla"}, units)
    nothing = {"recurrent_weights": "zeros", "input_weights": "zeros", "factors": "identity"}
    product = built({"name": "gmr", **nothing}, units)
    params, given = initial(vanilla, seed, draws), inputs(vanilla, seed, draws, 50)
    factors = {"A": params["W"].mT, "C": params["U"].mT}
    drawn = np.stack([rng(seed, STARTS, draw).standard_normal((1, units)) for draw in range(draws)])
    start = torch.from_numpy(drawn)
    gated = norms(product, initial(product, seed, draws) | factors, given, start=start)[0]
    plain = norms(vanilla, params, given, start=start)[0]
    return {"product": median(gated), "vanilla": median(plain), "below": float(np.mean(gated < plain))}


def over_lags(arguments: Arguments) -> tuple[dict[str, dict[str, float]], list[dict]]:
    """Every cell of `cells` at its own initial values: over all steps the median `log`, smallest, largest and
    `slope` a step; the median at each lag for the figure.
    """
    seed, draws = arguments.seed, arguments.draws
    items, curves = {}, []
    for label, block in arguments.cells.items():
        cell = built(block, arguments.units)
        logs = norms(cell, initial(cell, seed, draws), inputs(cell, seed, draws, arguments.steps))
        start = logs[0]
        items[label] = {
            "log": median(start), "smallest": float(start.min()), "largest": float(start.max()),
            "slope": median(start) / arguments.steps, "above 2": float(np.mean(start > 2)),
        }  # fmt: skip
        middle = np.median(logs[::-1], axis=1)
        curves += series("lags", label, middle)
    return items, curves


def pace(by_cell: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """4.1.2: the slope of the GMR over that of the vanilla cell, the smaller of the two over the TGU's."""
    gmr, vanilla, tgu = (abs(by_cell[cell]["slope"]) for cell in ("gmr", "vanilla", "tgu"))
    return {"gmr over vanilla": gmr / vanilla, "smaller of gmr and vanilla over tgu": min(gmr, vanilla) / tgu}


def additive(arguments: Arguments) -> dict[str, float]:
    """4.2.1: CP+ with ReLU and with tanh, the same values: the authors' initial ones, or all unit scaling.

    `above 2`: the share of draws whose norm with ReLU has grown by more than two decades.
    """
    seed, draws, steps = arguments.seed, arguments.draws, arguments.steps
    found = {}
    for label, options in (
        ("authors", {}),
        ("unit", {"factors": "unit_scaling", "input_weights": "unit_scaling"}),
    ):
        logs = {}
        for f in ("relu", "tanh"):
            cell = built({"name": "cp_plus", "activation": f, **options}, arguments.units)
            logs[f] = norms(cell, initial(cell, seed, draws), inputs(cell, seed, draws, steps))[0]
            found[f"{label} {f}"] = median(logs[f])
        found[f"{label} above 2"] = float(np.mean(logs["relu"] > 2))
        found[f"{label} relu above tanh"] = float(np.mean(logs["relu"] > logs["tanh"]))
    return found


def forget_bias(arguments: Arguments) -> dict[str, float]:
    """4.2.2: dc_T / dc_0 of the LSTM for rising `forget_bias`; `rises`: the share of draws that rise at each.

    `pile`: the largest |c_t| / t with all forget gates at 1.
    """
    seed, draws, steps = arguments.seed, arguments.draws, arguments.steps
    logs = []
    for bias in arguments.biases:
        cell = built({"name": "lstm", "forget_bias": float(bias)}, arguments.units)
        logs.append(norms(cell, initial(cell, seed, draws), inputs(cell, seed, draws, steps), of=1)[0])
    found = {f"bias {bias}": median(one) for bias, one in zip(arguments.biases, logs, strict=True)}
    held = built({"name": "lstm", "forget_bias": 100.0}, arguments.units)
    after = states(held, initial(held, seed, draws), inputs(held, seed, draws, steps))[1:]
    piles = [float(part[1].detach().abs().max()) / step for step, part in enumerate(after, 1)]
    return found | {"rises": float(np.mean((np.diff(logs, axis=0) > 0).all(axis=0))), "pile": max(piles)}


def candidate_scale(arguments: Arguments) -> dict[str, float]:
    """4.2.2: the TGU over 200 steps with W_in multiplied by `scales`, for units `widths`.

    Medians, and the share of draws whose norm has grown at most tenfold; `moderate` is the smallest share up
    to scale 3, `smallest` that of all.
    """
    seed, draws = arguments.seed, arguments.draws
    found, shares = {}, {}
    for scale in arguments.scales:
        for units in arguments.widths:
            cell = built({"name": "tgu"}, units)
            params = initial(cell, seed, draws)
            logs = norms(cell, params | {"W_in": scale * params["W_in"]}, inputs(cell, seed, draws, 200))[0]
            shares[scale, units] = float(np.mean(logs <= 1))
            found |= {f"log {scale}x {units}": median(logs), f"share {scale}x {units}": shares[scale, units]}
    moderate = min(share for (scale, _), share in shares.items() if scale <= 3)
    return found | {"moderate": moderate, "smallest": min(shares.values())}


def candidate_gradient(arguments: Arguments) -> dict[str, float]:
    """4.3.1: the norm of dL / dW_in of the TGU with a linear candidate over that with ReLU, the same values.

    The median, and the share of draws `above` 1. L is the mean square of h_T less a target N(0, 1).
    """
    seed, draws, units = arguments.seed, arguments.draws, arguments.units
    size = {}
    for f in ("relu", "linear"):
        cell = built({"name": "tgu", "candidate": f}, units)
        params = {name: value.requires_grad_() for name, value in initial(cell, seed, draws).items()}
        given = inputs(cell, seed, draws, arguments.steps)
        drawn = np.stack([rng(seed, TARGETS, draw).standard_normal(units) for draw in range(draws)])
        last = states(cell, params, given)[-1][0][:, 0]
        loss = (last - torch.from_numpy(drawn)).square().mean(-1).sum()
        size[f] = torch.linalg.matrix_norm(torch.autograd.grad(loss, params["W_in"])[0]).numpy()
    ratio = size["linear"] / size["relu"]
    return {"linear over relu": median(ratio), "above": float(np.mean(ratio > 1))}


def median(values: np.ndarray) -> float:
    """The median as a plain number."""
    return float(np.median(values))


def compute(arguments: Arguments) -> Rows:
    """Rows {item, name, index, value}: an item for each function above, one for each cell, and `lags` by lag.

    Inputs and rank are as many as `units`; `scales` and `widths` are of the TGU's candidates, `biases` of the
    LSTM's forget gate. ValueError where `cells`, {label: cell block}, lacks vanilla, gmr or tgu.
    """
    if missing := sorted({"vanilla", "gmr", "tgu"} - set(arguments.cells)):
        given = ", ".join(sorted(arguments.cells)) or "none"
        raise ValueError(f"flow was given the cells {given}; {', '.join(missing)} are needed too")
    by_cell, curves = over_lags(arguments)
    items = {
        "linear": linear(arguments),
        "saturating": saturating(arguments),
        "product only": product_only(arguments),
        "additive": additive(arguments),
        "forget bias": forget_bias(arguments),
        "candidate scale": candidate_scale(arguments),
        "candidate gradient": candidate_gradient(arguments),
        "pace": pace(by_cell),
        **by_cell,
    }
    return rows_of(items) + curves
