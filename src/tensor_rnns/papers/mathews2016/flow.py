"""Do gradients vanish or explode through time at initial values? (mathews2016 2.2.3, 2.5, 4.1 to 4.3)

Every number is a decimal logarithm of the Frobenius norm of dh_T / dh_t, the Jacobian of the last state by an
earlier one, over that of dh_T / dh_T, unless it says otherwise. Inputs are N(0, 1), and states
start at zero where nothing else is said.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import cells as known
from tensor_rnns.cells import Cell
from tensor_rnns.declared import Natural, Positive, keys
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
class Draws:
    """Replicas that every cell shares, with as many inputs as units; draw d depends on (seed, d) only."""

    seed: int
    draws: int
    units: int
    steps: int

    def normal(self, stream: int, *shape: int) -> np.ndarray:
        """N(0, 1) numbers [S, *shape] of one of the streams above."""
        return np.stack([rng(self.seed, stream, draw).standard_normal(shape) for draw in range(self.draws)])

    def initial(self, cell: Cell) -> dict[str, Tensor]:
        """The cell's initial parameters, one replica a draw."""
        values = [cell.initialise(rng(self.seed, VALUES, draw)) for draw in range(self.draws)]
        return {name: torch.from_numpy(np.stack([start[name] for start in values])) for name in values[0]}

    def inputs(self, cell: Cell) -> Tensor:
        """N(0, 1) numbers [T, S, 1, I]."""
        drawn = self.normal(INPUTS, self.steps, 1, cell.inputs)
        return torch.from_numpy(np.ascontiguousarray(drawn.swapaxes(0, 1)))

    def logs(
        self, block: Mapping[str, Any], changed: Mapping[str, Tensor] | None = None, **options: Any
    ) -> np.ndarray:
        """`norms` with its `options`, of the cell of a block at its initial values, some `changed`."""
        cell = built(block, self.units)
        return norms(cell, self.initial(cell) | dict(changed or {}), self.inputs(cell), **options)


def states(
    cell: Cell, params: Mapping[str, Tensor], given: Tensor, start: Tensor | None = None
) -> list[tuple[Tensor, ...]]:
    """The states before the first step and after each; row i of each replica's batch serves unit i of h_T.

    h_0 is `start` [S, 1, H], or 0; other parts of the state start at 0.
    """
    lead = given.shape[1], cell.hidden
    first, *rest = cell.initial_state(*lead, dtype=given.dtype)
    first = first if start is None else start.expand_as(first).clone()
    path = [tuple(part.requires_grad_() for part in (first, *rest))]
    for x in given:
        path.append(cell.step(dict(params), x.expand(*lead, -1), path[-1]))
    return path


def norms(
    cell: Cell, params: Mapping[str, Tensor], given: Tensor, of: int = 0, start: Tensor | None = None
) -> np.ndarray:
    """The logarithms for lags T, T - 1, ..., 0, [T + 1, draws], of the cell's state number `of`; `start` as
    for `states`."""
    parts = [each[of] for each in states(cell, params, given, start)]
    chosen = torch.diagonal(parts[-1], dim1=-2, dim2=-1).sum()
    jacobians = torch.autograd.grad(chosen, parts, allow_unused=True)
    zero = torch.zeros(parts[0].shape[:1])
    lengths = [zero if j is None else torch.linalg.matrix_norm(j) for j in jacobians]
    logs = torch.log10(torch.stack(lengths).clamp(min=SMALLEST))
    return (logs - logs[-1]).numpy()


def built(block: Mapping[str, Any], units: int) -> Cell:
    """The cell of a block with as many inputs as units, and a rank equal to them where it has a tensor."""
    rank = {"rank": units} if "rank" in keys(known.find(block)) else {}
    return known.build({"hidden": units} | rank | dict(block), units)


def matrices(draws: Draws) -> np.ndarray:
    """N(0, 1) matrices [draws, units, units] of spectral radius 1."""
    drawn = draws.normal(WEIGHTS, draws.units, draws.units)
    return drawn / np.abs(np.linalg.eigvals(drawn)).max(axis=1)[:, None, None]


def linear(draws: Draws, radii: Sequence[float]) -> dict[str, float]:
    """2.2.3: h_t = W h_(t-1) over 200 steps; the slope of the natural logarithm of the norm, median over W.

    Fitted to the second half, where what a matrix that is not normal does at first has passed. `error` is the
    largest relative distance of a slope from the logarithm of the spectral radius.
    """
    unit, steps = matrices(draws), np.arange(1, 201)
    power, logs = np.eye(draws.units), []
    for _ in steps:
        power = power @ unit
        logs.append(np.log(np.linalg.norm(power, axis=(1, 2))))
    slope = float(np.median(np.polyfit(steps[100:], np.array(logs)[100:], 1)[0]))
    numbers = {f"slope at radius {radius}": slope + math.log(radius) for radius in radii}
    return numbers | {"error": max(abs(slope / math.log(radius)) for radius in radii)}


def saturating(draws: Draws) -> dict[str, float]:
    """2.2.3: h_t = f(W h_(t-1) + x_t) with one W of radius 1.5 for f = tanh, ReLU and the identity.

    Medians; shares of draws in which tanh has the smaller norm; shares of lags and draws that have faded, and
    by how much that of tanh exceeds that of ReLU.
    """
    w = torch.from_numpy(1.5 * matrices(draws))
    numbers, logs = {}, {}
    for f in ("tanh", "relu", "linear"):
        logs[f] = draws.logs({"name": "vanilla", "input_weights": "identity", "activation": f}, {"U": w})
        numbers |= {f: np.median(logs[f][0]), f"{f} faded": np.mean(logs[f] < FADED)}
    for other in ("relu", "linear"):
        numbers[f"tanh below {other}"] = np.mean(logs["tanh"][0] < logs[other][0])
    return numbers | {"tanh faded less relu": numbers["tanh faded"] - numbers["relu faded"]}


def product_only(draws: Draws) -> dict[str, float]:
    """2.5: h_t = tanh(W x_t * U h_(t-1)) against the vanilla cell with the same W, U and h_0, over 50 steps.

    h_0 is N(0, 1), because from 0 the product stays at 0.
    """
    draws = replace(draws, steps=50)
    start = torch.from_numpy(draws.normal(STARTS, 1, draws.units))
    params = draws.initial(built({"name": "vanilla"}, draws.units))
    product = {
        "name": "gmr", "recurrent_weights": "zeros", "input_weights": "zeros", "factors": "identity"
    }  # fmt: skip
    gated = draws.logs(product, {"A": params["W"].mT, "C": params["U"].mT}, start=start)[0]
    plain = draws.logs({"name": "vanilla"}, start=start)[0]
    return {"product": np.median(gated), "vanilla": np.median(plain), "below": np.mean(gated < plain)}


def over_lags(draws: Draws, blocks: Mapping[str, Mapping[str, Any]]) -> tuple[dict[str, dict], Rows]:
    """Every cell at its own initial values: over all steps the median `log`, smallest, largest and `slope` a
    step; the median at each lag for the figure.
    """
    items, curves = {}, []
    for label, block in blocks.items():
        logs = draws.logs(block)
        start = logs[0]
        items[label] = {
            "log": np.median(start), "smallest": start.min(), "largest": start.max(),
            "slope": np.median(start) / draws.steps, "above 2": np.mean(start > 2),
        }  # fmt: skip
        curves += series("lags", label, np.median(logs[::-1], axis=1))
    return items, curves


def pace(by_cell: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """4.1.2: the slope of the GMR over that of the vanilla cell, the smaller of the two over the TGU's."""
    gmr, vanilla, tgu = (abs(by_cell[cell]["slope"]) for cell in ("gmr", "vanilla", "tgu"))
    return {"gmr over vanilla": gmr / vanilla, "smaller of gmr and vanilla over tgu": min(gmr, vanilla) / tgu}


def additive(draws: Draws) -> dict[str, float]:
    """4.2.1: CP+ with ReLU and with tanh, the same values: the authors' initial ones, or all unit scaling.

    `above 2`: the share of draws whose norm with ReLU has grown by more than two decades.
    """
    unit = {"factors": "unit_scaling", "input_weights": "unit_scaling"}
    numbers = {}
    for label, options in (("authors", {}), ("unit", unit)):
        relu, tanh = (
            draws.logs({"name": "cp_plus", "activation": f, **options})[0] for f in ("relu", "tanh")
        )
        numbers |= {
            f"{label} relu": np.median(relu), f"{label} tanh": np.median(tanh),
            f"{label} above 2": np.mean(relu > 2), f"{label} relu above tanh": np.mean(relu > tanh),
        }  # fmt: skip
    return numbers


def forget_bias(draws: Draws, biases: Sequence[float]) -> dict[str, float]:
    """4.2.2: dc_T / dc_0 of the LSTM for rising `forget_bias`; `rises`: the share of draws that rise at each.

    `pile`: with all forget gates at 1, the median of |c| after all steps over that after half of them.
    """
    logs = [draws.logs({"name": "lstm", "forget_bias": float(bias)}, of=1)[0] for bias in biases]
    numbers = {f"bias {bias}": np.median(log) for bias, log in zip(biases, logs, strict=True)}
    held = built({"name": "lstm", "forget_bias": 100.0}, draws.units)
    after = states(held, draws.initial(held), draws.inputs(held))[1:]
    half, end = (float(after[step - 1][1].detach().abs().median()) for step in (len(after) // 2, len(after)))
    return numbers | {"rises": np.mean((np.diff(logs, axis=0) > 0).all(axis=0)), "pile": end / half}


def candidate_scale(draws: Draws, scales: Sequence[float], widths: Sequence[int]) -> dict[str, float]:
    """4.2.2: the TGU over 200 steps with W_in multiplied by `scales`, for units `widths`.

    Medians, and the share of draws whose norm has grown at most tenfold; `moderate` is the smallest share up
    to scale 3, `smallest` that of all.
    """
    numbers, shares = {}, {}
    for scale, units in itertools.product(scales, widths):
        of_width = replace(draws, units=units, steps=200)
        w_in = of_width.initial(built({"name": "tgu"}, units))["W_in"]
        logs = of_width.logs({"name": "tgu"}, {"W_in": scale * w_in})[0]
        shares[scale, units] = np.mean(logs <= 1)
        numbers |= {f"log {scale}x {units}": np.median(logs), f"share {scale}x {units}": shares[scale, units]}
    moderate = min(share for (scale, _), share in shares.items() if scale <= 3)
    return numbers | {"moderate": moderate, "smallest": min(shares.values())}


def candidate_gradient(draws: Draws) -> dict[str, float]:
    """4.3.1: the norm of dL / dW_in of the TGU with a linear candidate over that with ReLU, the same values.

    The median, and the share of draws `above` 1. L is the mean square of h_T less a target N(0, 1).
    """
    size = {}
    for f in ("relu", "linear"):
        cell = built({"name": "tgu", "candidate": f}, draws.units)
        params = {name: value.requires_grad_() for name, value in draws.initial(cell).items()}
        last = states(cell, params, draws.inputs(cell))[-1][0][:, 0]
        targets = torch.from_numpy(draws.normal(TARGETS, draws.units))
        loss = (last - targets).square().mean(-1).sum()
        size[f] = torch.linalg.matrix_norm(torch.autograd.grad(loss, params["W_in"])[0]).numpy()
    ratio = size["linear"] / size["relu"]
    return {"linear over relu": np.median(ratio), "above": np.mean(ratio > 1)}


def compute(
    *, seed: Natural, draws: int, units: int, steps: int, cells: dict[str, dict],
    radii: tuple[Positive, ...], scales: tuple[Positive, ...], widths: tuple[int, ...],
    biases: tuple[float, ...],
) -> Rows:  # fmt: skip
    """Rows {item, name, index, value}: an item for each function above, one for each cell, and `lags` by lag.

    Inputs and rank are as many as `units`; `scales` and `widths` are of the TGU's candidates, `biases` of the
    LSTM's forget gate. ValueError where `cells`, {label: cell block}, lacks vanilla, gmr or tgu.
    """
    if missing := sorted({"vanilla", "gmr", "tgu"} - set(cells)):
        given = ", ".join(sorted(cells)) or "none"
        raise ValueError(f"flow was given the cells {given}; {', '.join(missing)} are needed too")
    drawn = Draws(seed, draws, units, steps)
    by_cell, curves = over_lags(drawn, cells)
    items = {
        "linear": linear(drawn, radii),
        "saturating": saturating(drawn),
        "product only": product_only(drawn),
        "additive": additive(drawn),
        "forget bias": forget_bias(drawn, biases),
        "candidate scale": candidate_scale(drawn, scales, widths),
        "candidate gradient": candidate_gradient(drawn),
        "pace": pace(by_cell),
        **by_cell,
    }
    return rows_of(items) + curves
