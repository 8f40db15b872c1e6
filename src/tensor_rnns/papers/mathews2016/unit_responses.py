"""What the single units of a net trained on variable binding respond to."""

import torch
from torch import Tensor

from tensor_rnns.papers.mathews2016.pattern_in_state import labels
from tensor_rnns.probes.trained import Findings, Trained, correlation
from tensor_rnns.tasks.variable_binding import VariableBinding


def probe(trained: Trained, *, items: int = 300) -> Findings:
    """The array `response` of one replica over `items` items of the test split; no table rows.

    Features of a step: for each label k whether it is on, and each bit of its pattern as -1 or 1 from the
    step that shows it to the last one with the label on, 0 else. `response` [N (1 + D), H] is the absolute
    correlation of each feature with each unit over all steps and items, 0 where either is constant; label k
    first, then its bits. ValueError for another task.
    """
    task = trained.task
    trained.require("unit_responses", task=VariableBinding)
    inputs, _ = trained.items("test", items)
    states = trained.states(inputs).flatten(0, 1)
    columns = features(inputs, task.patterns, task.bits).flatten(0, 1)
    response = torch.stack([correlation(states, column[:, None]) for column in columns.unbind(1)])
    return {"response": response.abs()}, []


def features(inputs: Tensor, patterns: int, bits: int) -> Tensor:
    """[T, B, N (1 + D)]: each label, then the bits of its pattern while they are to be held."""
    columns, steps = [], torch.arange(len(inputs))[:, None]
    for k, (on, start, shown) in enumerate(labels(inputs, patterns, bits)):
        columns += [inputs[..., -1 - k, None], (on & (steps > start))[..., None] * shown]
    return torch.cat(columns, dim=-1)
