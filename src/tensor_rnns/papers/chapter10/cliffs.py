"""Section 11: cliffs, where the step that was right on the flat part is far too long."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.rows import Rows, row, series
from tensor_rnns.tasks import Batch

RATE = 0.1
STEPS = 10.0 ** np.arange(-10, 2.1, 0.5)
"""The lengths of a step that are tried."""


def compute(*, seeds: int, updates: int, settings: dict[str, dict]) -> Rows:
    """Rows of `seeds` runs of gradient descent at 0.1 without clipping, in float64, of the net of `settings`.

    At each update g is the gradient on its batch, L the loss, and t the largest of the steps 1e-10 .. 1e2,
    two a decade, up to which L(theta - t g) <= L(theta) holds throughout, 1e-10 where it never does. Of the
    item `run-<seed>`, index the update: norm of g, step t, and jump, L(theta - 0.1 g) / L(theta). Of the item
    `cliffs`, index the seed: jump, the greatest, and ratio, the greatest t over the smallest.
    """
    rows: Rows = []
    for seed in range(seeds):
        columns = np.array([*along(settings, seed, updates)]).T
        for name, values in zip(("norm", "step", "jump"), columns, strict=True):
            rows += series(f"run-{seed}", name, values)
        _, steps, jumps = columns
        rows += [
            row("cliffs", "jump", jumps.max(), seed),
            row("cliffs", "ratio", steps.max() / steps.min(), seed),
        ]
    return rows


def along(settings: Mapping[str, Any], seed: int, updates: int):
    """(|g|, t, jump) at each update of one run."""
    task = tasks.build(settings, None)
    model = models.build(settings, task.inputs, task.outputs, "eager", task.symbols)
    drawn = model.initialise(rng(seed, 1))
    sizes = [value.size for value in drawn.values()]
    theta = torch.from_numpy(np.concatenate([value.ravel() for value in drawn.values()]))
    lengths = torch.from_numpy(np.append(STEPS, RATE))[:, None]

    def loss_of(flat: Tensor, batch: Batch) -> Tensor:
        """The loss of each row of parameters, [S]."""
        parts = zip(drawn.items(), flat.split(sizes, 1), strict=True)
        values = {name: part.view(-1, *value.shape) for (name, value), part in parts}
        many = Batch.stack([batch] * len(flat))
        inputs, targets = (torch.from_numpy(array).double() for array in (many.inputs, many.targets))
        return task.loss(model.forward(values, inputs)[0], targets)

    for update in range(updates):
        batch = task.batch(seed, update)
        flat = theta[None].requires_grad_()
        loss = loss_of(flat, batch)
        (gradient,) = torch.autograd.grad(loss.sum(), flat)
        with torch.no_grad():
            losses = loss_of(theta - lengths * gradient, batch)
            falls = int((losses[:-1] <= loss).long().cumprod(0).sum())
            yield gradient.norm().item(), STEPS[max(falls - 1, 0)], (losses[-1] / loss).item()
            theta = (flat - RATE * gradient)[0]
