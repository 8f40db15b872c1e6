"""Tasks whose answers are bits, or classes, at some of the steps or at the end."""

import math
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Outputs, binary_cross_entropy, cross_entropy, values
from tensor_rnns.tasks.base import Batch, Generated


def signs(generator: np.random.Generator, *shape: int) -> np.ndarray:
    """Fair bits as -1 and 1, float32."""
    return generator.integers(0, 2, shape).astype(np.float32) * 2 - 1


def is_one(numbers: np.ndarray) -> np.ndarray:
    """Bits given as -1 and 1, or as truth values, as the targets 0 and 1."""
    return (numbers > 0).astype(np.float32)


def judged_at(inputs: np.ndarray, targets: np.ndarray, due: np.ndarray) -> Batch:
    """A batch whose loss is the mean over the steps that are `due`, truth values that fit the targets
    [T, B, O]."""
    weights = np.broadcast_to(due, targets.shape[:2]).astype(np.float32)
    return Batch(inputs, targets, float(weights.sum()), weights)


def mean_where(right: Tensor, weights: Tensor | None) -> Tensor:
    """The mean of `right` [.., S, B] over everything but the replicas, [S], by the shares `weights`."""
    replicas = right.dim() - 2
    axes = [axis for axis in range(right.dim()) if axis != replicas]
    return right.double().mean(axes) if weights is None else (right * weights).double().sum(axes)


class BitAnswers(Generated):
    """Targets are bits 0 and 1, [T, B, O] or [B, O], and outputs their logits.

    The loss is the cross entropy of a bit in nats, the mean over bits and over the steps that are due.
    `accuracy` is the share of right bits, `last_accuracy` that of the last of the O bits. `baseline` is the
    loss at even odds, which a constant answer can beat where zeros and ones are not equally likely.
    """

    lazy: ClassVar[bool] = True
    inputs: int = 1
    outputs: int = 1
    baseline = math.log(2)

    def loss(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        over = targets[..., 0, :, :].numel() if weights is None else targets.shape[-1]
        return binary_cross_entropy(outputs, targets, over, weights)

    def metrics(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> dict[str, Tensor]:
        """loss, accuracy and last_accuracy."""
        right = ((values(outputs) > 0) == (targets > 0.5)).double()
        return {
            "loss": self.loss(outputs, targets, weights),
            "accuracy": mean_where(right.mean(-1), weights),
            "last_accuracy": mean_where(right[..., -1], weights),
        }


class ClassAnswers(Generated):
    """Targets are classes, [T, B] or [B], and outputs their logits.

    The loss is the cross entropy of a class in nats, the mean over the steps that are due; `accuracy` is the
    share of right classes.
    """

    lazy: ClassVar[bool] = True

    def loss(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        over = targets[..., 0, :].numel() if weights is None else 1
        return cross_entropy(outputs, targets, over, weights)

    def metrics(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> dict[str, Tensor]:
        """loss and accuracy."""
        right = values(outputs).argmax(-1) == targets
        return {"loss": self.loss(outputs, targets, weights), "accuracy": mean_where(right, weights)}
