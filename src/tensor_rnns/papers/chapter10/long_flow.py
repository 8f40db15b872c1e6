"""What is left of a gradient after many steps, before and after training: chapter10 section 10."""

from dataclasses import replace

from tensor_rnns.probes import gradient_ratio
from tensor_rnns.probes.trained import Findings, Trained


def probe(trained: Trained, *, length: int = 100, items: int = 100) -> Findings:
    """The rows of the probe gradient_ratio on sequences of `length` steps in place of those of the task:
    log10 of the norm of dL/dh_0 over that of dL/dh_T, T = `length`, initial and trained."""
    return gradient_ratio.probe(replace(trained, task=replace(trained.task, length=length)), items=items)
