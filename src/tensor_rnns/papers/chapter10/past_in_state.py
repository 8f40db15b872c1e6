"""How far back a state tells its inputs, chapter10 section 1: what a linear read-out finds in it."""

import torch

from tensor_rnns.probes.trained import Findings, Trained, one_step_before
from tensor_rnns.rows import rows_of, series
from tensor_rnns.tasks.bits import Recall

BEYOND = 3
"""So many steps after the lag of the task an input counts as one that need not be kept."""


def probe(trained: Trained, *, items: int = 500, farthest: int = 15) -> Findings:
    """Table rows of one replica that recalls a bit x_{t - lag}, over `items` test items; no arrays.

    For k = 0 .. `farthest` a linear map of (h_t, 1), by least squares on the first half of the items, says
    the sign of x_{t - k}, at steps from `farthest` on: rows of the item `past`, names back, k itself, and
    accuracy on the other half, index k. Of the item `goal`: kept, the least accuracy for k up to the lag, and
    lost, the greatest from `lag + 3` on. ValueError for another task, and where `farthest` is not beyond that
    or the sequences are too short.
    """
    trained.require("past_in_state", task=Recall)
    lag, length = trained.task.lag, trained.task.length
    if not lag + BEYOND <= farthest < length:
        given = f"farthest = {farthest} given with lag = {lag}, length = {length}"
        raise ValueError(f"the probe past_in_state: {given}; allowed: lag + {BEYOND} to length - 1")
    inputs, _ = trained.items("test", items)
    hidden = trained.states(inputs)
    states = torch.cat([hidden, torch.ones_like(hidden[..., :1])], -1)[farthest:]
    seen, accuracies = inputs[..., 0], []
    for _ in range(farthest + 1):
        accuracies.append(predicted(states, seen[farthest:]))
        seen = one_step_before(seen)
    goal = {"kept": min(accuracies[: lag + 1]), "lost": max(accuracies[lag + BEYOND :])}
    past = series("past", "back", range(farthest + 1)) + series("past", "accuracy", accuracies)
    return {}, past + rows_of({"goal": goal})


def predicted(states: torch.Tensor, bits: torch.Tensor) -> float:
    """The share of `bits` [T, B] whose sign the best linear map of `states` [T, B, H] for the first half of
    the rows gives for the second."""
    half = states.shape[1] // 2
    fit = torch.linalg.lstsq(states[:, :half].flatten(0, 1), bits[:, :half].reshape(-1, 1), driver="gelsd")
    said = (states[:, half:] @ fit.solution).squeeze(-1)
    return float(((said > 0) == (bits[:, half:] > 0)).double().mean())
