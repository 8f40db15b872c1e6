"""Does a net give bound patterns back, or only answer at the right moment? (mathews2016, figures 5.4, 5.5)"""

import torch
from torch import Tensor

from tensor_rnns.probes.trained import Findings, Trained, correlation, one_step_before
from tensor_rnns.rows import rows_of
from tensor_rnns.tasks.variable_binding import VariableBinding


def probe(trained: Trained, *, items: int = 1000) -> Findings:
    """Table rows of one replica over `items` items of the test split; no arrays.

    A step is due where some label was on the step before and is off. Rows of the item `due`: accuracy, the
    share of bits on the right side of 0.5; mean, of the outputs; correlation, the absolute one of outputs and
    target bits, 0 where either is constant. Row `mean` of the item `other`: of the outputs at all other
    steps. ValueError for another task.
    """
    trained.require("recall", task=VariableBinding)
    inputs, targets = trained.items("test", items)
    outputs = torch.sigmoid(trained.outputs(trained.states(inputs)))
    due = due_steps(inputs[..., trained.task.bits :])
    said, wanted = outputs[due], targets[due]
    right = ((said > 0.5) == (wanted > 0.5)).double().mean()
    alike = correlation(said.flatten(), wanted.flatten()).abs()
    of_due = {"accuracy": right, "mean": said.mean(), "correlation": alike}
    return {}, rows_of({"due": of_due, "other": {"mean": outputs[~due].mean()}})


def due_steps(labels: Tensor) -> Tensor:
    """Whether some label [T, B, N] was on the step before and is off: booleans [T, B]."""
    on = labels > 0.5
    return (one_step_before(on) & ~on).any(-1)
