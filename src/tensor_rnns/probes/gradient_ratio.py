"""Do gradients explode or vanish on their way back through time? (mathews2016, sections 4.2.1 and 5.1.3)"""

import math
from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor

from tensor_rnns.models.base import linear
from tensor_rnns.probes.trained import Findings, Trained
from tensor_rnns.rows import row

SMALLEST = 1e-300
"""Stands for a norm of 0, so that the logarithm of a vanished gradient is a number."""
LARGEST = 1e300
"""Stands for a norm beyond all numbers."""


def probe(trained: Trained, *, items: int = 100, length: int | None = None) -> Findings:
    """Table rows of one replica of a net that reads its last state, on the first `items` test items (100), of
    `length` steps in place of those of the task where it is given.

    For the items `initial` (the replica's initial weights) and `trained` (those it kept): log_ratio, the
    decimal logarithm of the norm of dL/dh_0 over the norm of dL/dh_T. L is the loss on these items, h_0 all
    parts of the initial state and h_T the output of the last step. A norm beyond all numbers counts as
    1e300, one of 0 as 1e-300; an item is left out where a gradient is no number. No arrays. ValueError for a
    net that reads every step or has several layers.
    """
    model = trained.model
    if not model.last_only or model.layers != 1:
        raise ValueError(
            f"gradient_ratio looks at one layer read at the last step, not at the model {model.name} of "
            f"{model.layers} layers"
        )
    if length is not None:
        trained = replace(trained, task=replace(trained.task, length=length))
    inputs, targets = trained.items("test", items)
    rows = []
    for item, parameters in (("initial", trained.initial), ("trained", trained.parameters)):
        ratio = log_ratio(trained, parameters, inputs, targets)
        if not math.isnan(ratio):
            rows.append(row(item, "log_ratio", ratio))
    return {}, rows


def log_ratio(trained: Trained, parameters: Mapping[str, Tensor], inputs: Tensor, targets: Tensor) -> float:
    """log10 of norm(dL/dh_0) / norm(dL/dh_T)."""
    model = trained.model
    own = {name: parameters[f"cell/{name}"] for name in model.cell.shapes()}
    start = model.cell.initial_state(inputs.shape[1], dtype=inputs.dtype)
    start = tuple(part.requires_grad_() for part in start)
    hidden, _ = model.engine.run(
        model.cell, own, model.entered(parameters, inputs, None), start, last_only=True
    )
    outputs = linear(parameters, "read_out", hidden)
    loss = trained.task.loss(outputs.unsqueeze(0), targets.unsqueeze(0)).sum()
    gradients = torch.autograd.grad(loss, (hidden, *start), allow_unused=True)
    last, *first = (0.0 if g is None else norm(g) for g in gradients)
    return math.log10(max(math.hypot(*first), SMALLEST)) - math.log10(max(last, SMALLEST))


def norm(gradient: Tensor) -> float:
    """The Euclidean norm without overflow of squares: LARGEST for an infinite one, NaN for no number."""
    top = float(gradient.abs().max())
    if math.isnan(top):
        return math.nan
    if top == 0:
        return 0.0
    return LARGEST if math.isinf(top) else min(top * float((gradient / top).norm()), LARGEST)
