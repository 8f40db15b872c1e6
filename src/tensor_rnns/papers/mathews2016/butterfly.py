"""How one small step of gradient descent moves the loss of a net on a long task: mathews2016 section 2.2.3.

Addition is learnt from one fixed batch, so that the loss before and after a step differs by the step alone.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import cells, tasks
from tensor_rnns.declared import Natural, Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, rows_of, series

VALUES, READ_OUT, ITEMS = range(3)
"""Streams: initial values of the cell, those of its read-out, the batch."""
ARMS = ("unclipped", "clipped")


def begin(cell: cells.Cell, seed: int, draws: int) -> dict[str, Tensor]:
    """Initial values of cell and read-out in float64, a replica a draw; the read-out has no bias yet."""
    values = [cell.initialise(rng(seed, VALUES, draw)) for draw in range(draws)]
    limit = np.sqrt(3 / cell.hidden)
    read_out = [rng(seed, READ_OUT, draw).uniform(-limit, limit, (cell.hidden, 1)) for draw in range(draws)]
    found = {name: np.stack([one[name] for one in values]) for name in values[0]}
    found |= {"read_out/W": np.stack(read_out), "read_out/b": np.zeros((draws, 1, 1))}
    return {name: torch.from_numpy(value) for name, value in found.items()}


def losses(cell: cells.Cell, params: Mapping[str, Tensor], inputs: Tensor, targets: Tensor) -> Tensor:
    """Mean squared errors [S] of the linear read-out of the last state; inputs [T, S, B, I]."""
    state = cell.initial_state(*inputs.shape[1:3], dtype=inputs.dtype)
    for x in inputs:
        state = cell.step(dict(params), x, state)
    return (state[0] @ params["read_out/W"] + params["read_out/b"] - targets).square().mean((1, 2))


def norms(values: Sequence[Tensor]) -> Tensor:
    """The norm over all of `values` of each replica, [S]."""
    return sum(value.square().sum((1, 2)) for value in values).sqrt()


def descend(
    cell: cells.Cell, params: dict[str, Tensor], inputs: Tensor, targets: Tensor, rates: Tensor,
    limits: Tensor, updates: int,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """Losses before each of `updates` steps and after the last, [updates + 1, S], and sizes of the steps over
    that of the parameters, [updates, S].

    Rates and limits of the gradient's norm are one a replica, [S].
    """
    curve, sizes = [], []
    for _ in range(updates):
        params = {name: value.requires_grad_() for name, value in params.items()}
        loss = losses(cell, params, inputs, targets)
        gradients = torch.autograd.grad(loss.sum(), list(params.values()))
        with torch.no_grad():
            norm, size = norms(gradients), norms(list(params.values()))
            factor = rates * torch.clamp(limits / norm, max=1.0)
            pairs = zip(params.items(), gradients, strict=True)
            params = {name: value - factor[:, None, None] * step for (name, value), step in pairs}
        curve.append(loss.detach().numpy())
        sizes.append((factor * norm / size).numpy())
    with torch.no_grad():
        curve.append(losses(cell, params, inputs, targets).numpy())
    return np.array(curve), np.array(sizes)


def jumps(curve: np.ndarray, sizes: np.ndarray, small: float, steep: float) -> np.ndarray:
    """Where a step smaller than `small` multiplied the loss by more than `steep`; [updates, S]."""
    with np.errstate(invalid="ignore", over="ignore"):
        return (sizes < small) & (curve[1:] > steep * curve[:-1])


def steepest(curve: np.ndarray, jumped: np.ndarray) -> int:
    """The run [updates, runs] with the steepest of its jumps [updates - 1, runs] on a logarithmic scale."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rises = np.where(jumped, np.log(curve[1:]) - np.log(curve[:-1]), -np.inf)
    return int(rises.max(0).argmax())


def compute(
    *, seed: Natural, draws: int, cell: dict, length: int, batch: int, updates: int,
    rates: tuple[Positive, ...], clip_norm: Positive, small: Positive, steep: Positive, blown: Positive,
) -> Rows:  # fmt: skip
    """Rows {item, name, index, value}, an item `unclipped` or `clipped` for all rates together and one for
    each rate: `jumps`, `runs with jumps`, `blown up` (runs whose loss was above `blown` or not finite) and
    `runs`; `difference` has the clipped number less the other of each; `loss` the curves of the runs of the
    unclipped arm with the steepest rise and of its clipped twin, by update.

    Each of `rates` is run with and without `clip_norm`; `small`, `steep` and `blown` say what counts.
    """
    block = {"name": "addition", "length": length}
    task = tasks.build({"task": block, "training": {"batch": batch}})
    net = cells.build(cell, task.inputs)
    batches = [task.generate(rng(seed, ITEMS, draw), batch) for draw in range(draws)]
    places = list(itertools.product(ARMS, rates, range(draws)))
    limits = {"unclipped": np.inf, "clipped": clip_norm}
    copies = len(ARMS) * len(rates)
    curve, sizes = descend(
        net,
        {name: torch.cat([value] * copies) for name, value in begin(net, seed, draws).items()},
        torch.from_numpy(np.stack([one.inputs for one in batches] * copies, axis=1)).double(),
        torch.from_numpy(np.stack([one.targets for one in batches] * copies)).double(),
        torch.tensor([rate for _, rate, _ in places], dtype=torch.float64),
        torch.tensor([limits[arm] for arm, _, _ in places], dtype=torch.float64),
        updates,
    )
    found = jumps(curve, sizes, small, steep)
    above = ~(curve <= blown).all(0)
    items = {}
    for arm in ARMS:
        for label, kept in [(arm, rates), *((f"{arm} {rate:g}", [rate]) for rate in rates)]:
            chosen = np.array([place[0] == arm and place[1] in kept for place in places])
            items[label] = {
                "jumps": found[:, chosen].sum(),
                "runs with jumps": found[:, chosen].any(0).sum(),
                "blown up": above[chosen].sum(),
                "runs": chosen.sum(),
            }
    items["difference"] = {name: value - items["unclipped"][name] for name, value in items["clipped"].items()}
    rows = rows_of(items)
    half = len(places) // 2
    shown = steepest(curve[:, :half], found[:, :half])
    for arm, place in zip(ARMS, (shown, shown + half), strict=True):
        rows += series("loss", arm, curve[:, place])
    return rows
