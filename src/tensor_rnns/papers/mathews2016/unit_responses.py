"""What the single units of a net trained on variable binding respond to."""

import torch
from torch import Tensor

from tensor_rnns.papers.mathews2016.answer_in_state import correlation
from tensor_rnns.papers.mathews2016.pattern_in_state import labels
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row, series
from tensor_rnns.tasks.variable_binding import VariableBinding


def probe(trained: Trained, *, items: int = 300) -> Findings:
    """Arrays and table rows of one replica over `items` items of the test split.

    Features of a step: for each label k whether it is on, and each bit of its pattern as -1 or 1 from the
    step that shows it to the last one with the label on, 0 else. Array `response` [N (1 + D), H]: absolute
    correlation of each feature with each unit over all steps and items, 0 where either is constant; label k
    first, then its bits. Rows of the item `unit`, by unit: strongest, the largest of these, and feature,
    which one it is; of the item `share`: of_bits, the share of units whose strongest feature is a bit.
    ValueError for another task.
    """
    task = trained.task
    trained.require("unit_responses", task=VariableBinding)
    inputs, _ = trained.items("test", items)
    states = trained.states(inputs).flatten(0, 1)
    columns = features(inputs, task.patterns, task.bits).flatten(0, 1)
    response = torch.stack([correlation(states, column[:, None]) for column in columns.unbind(1)])
    response = response.abs().nan_to_num(0.0)
    strongest, feature = response.max(0)
    of_bits = (feature % (1 + task.bits) > 0).double().mean()
    rows = series("unit", "strongest", strongest) + series("unit", "feature", feature)
    return {"response": response}, [*rows, row("share", "of_bits", of_bits)]


def features(inputs: Tensor, patterns: int, bits: int) -> Tensor:
    """[T, B, N (1 + D)]: each label, then the bits of its pattern while they are to be held."""
    columns, steps = [], torch.arange(len(inputs))[:, None]
    for k, (on, start, shown) in enumerate(labels(inputs, patterns, bits)):
        columns += [inputs[..., -1 - k, None], (on & (steps > start))[..., None] * shown]
    return torch.cat(columns, dim=-1)
