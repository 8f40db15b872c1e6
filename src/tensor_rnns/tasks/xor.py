"""Exclusive-or: mathews2016 section 3.4.4 and table 3.2."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from tensor_rnns.tasks.base import Batch, Task

POINTS = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=np.float32)
TRUTH = np.array([[0], [1], [1], [0]], dtype=np.float32)


@dataclass(frozen=True)
class Xor(Task):
    """All four points of the truth table in every update; cross entropy in nats, averaged over the points.

    The baseline is ln 2, the loss of answering 0.5.
    """

    name: ClassVar[str] = "xor"
    inputs = 2
    outputs = 1
    baseline = math.log(2)
    updates_per_epoch = 1

    def batch(self, seed: int, update: int) -> Batch:
        """The four points: inputs [4, 2], targets [4, 1]."""
        return Batch(POINTS, TRUTH, len(POINTS))

    def evaluation(self, split: str) -> Iterator[Batch]:
        yield self.batch(0, 0)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Mean cross entropy, [S]; outputs are logits [S, 4, 1]."""
        return binary_cross_entropy_with_logits(outputs, targets, reduction="none").mean((-2, -1))

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """loss, and accuracy: the share of points on the right side of 0.5."""
        right = (outputs > 0) == (targets > 0.5)
        return {"loss": self.loss(outputs, targets), "accuracy": right.to(outputs.dtype).mean((-2, -1))}
