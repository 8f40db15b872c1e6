"""How one small step of gradient descent moves the loss of a net on a long task: mathews2016 section 2.2.3.

Addition is learnt from one fixed batch, so that the loss before and after a step differs by the step alone.
"""

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


def begin(cell: cells.Cell, seed: int, draws: int) -> dict[str, Tensor]:
    """Initial values of cell and read-out in float64, a replica a draw; the read-out has no bias yet."""
    values = [cell.initialise(rng(seed, VALUES, draw)) for draw in range(draws)]
    limit = np.sqrt(3 / cell.hidden)
    read_out = [rng(seed, READ_OUT, draw).uniform(-limit, limit, (cell.hidden, 1)) for draw in range(draws)]
    params = {name: np.stack([start[name] for start in values]) for name in values[0]}
    params |= {"read_out/W": np.stack(read_out), "read_out/b": np.zeros((draws, 1, 1))}
    return {name: torch.from_numpy(value) for name, value in params.items()}


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

    Rates and limits of the gradient's norm are one per replica, [S].
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


def counts(jumped: np.ndarray, above: np.ndarray) -> dict[str, int]:
    """The numbers of jumps [updates, ..], of runs with any, of runs that blew up, and of all runs."""
    counted = {"jumps": jumped.sum(), "runs with jumps": jumped.any(0).sum()}
    return counted | {"blown up": above.sum(), "runs": above.size}


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
    arms = {"unclipped": np.inf, "clipped": clip_norm}
    copies = len(arms) * len(rates)
    curve, sizes = descend(
        net,
        {name: torch.cat([value] * copies) for name, value in begin(net, seed, draws).items()},
        torch.from_numpy(np.stack([batch.inputs for batch in batches] * copies, axis=1)).double(),
        torch.from_numpy(np.stack([batch.targets for batch in batches] * copies)).double(),
        torch.tensor(rates, dtype=torch.float64).repeat_interleave(draws).repeat(len(arms)),
        torch.tensor([*arms.values()], dtype=torch.float64).repeat_interleave(len(rates) * draws),
        updates,
    )
    shape = len(arms), len(rates), draws
    flags = jumps(curve, sizes, small, steep)
    jumped, above = flags.reshape(updates, *shape), ~(curve <= blown).all(0).reshape(shape)
    items = {}
    for k, arm in enumerate(arms):
        items[arm] = counts(jumped[:, k], above[k])
        items |= {f"{arm} {rate:g}": counts(jumped[:, k, j], above[k, j]) for j, rate in enumerate(rates)}
    items["difference"] = {name: value - items["unclipped"][name] for name, value in items["clipped"].items()}
    half = above[0].size
    shown = steepest(curve[:, :half], flags[:, :half])
    curves = [series("loss", arm, curve[:, shown + k * half]) for k, arm in enumerate(arms)]
    return sum(curves, rows_of(items))
