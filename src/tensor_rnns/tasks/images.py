"""Images as vectors, classified: permutation-invariant MNIST, barone2016 section A.1."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.pixels import Pixels


@dataclass(frozen=True)
class Images(Pixels):
    """All pixels p / 255 of an image at once, and its class as the target.

    The loss is the squared hinge max(0, 1 - y s)^2 of each output y, where s is 1 for the class of the image
    and -1 for the others (Tang 2013), summed over classes, or with `classes_by: mean` averaged, in the mean
    over the batch. `baseline` is that of the best constant answer. Order and evaluation are as in `Pixels`;
    without `reshuffle` every epoch has the same batches, in the order of the file.
    """

    name: ClassVar[str] = "images"
    lazy: ClassVar[bool] = False
    order: Literal["scan"] = "scan"
    classes_by: Literal["sum", "mean"] = "sum"
    reshuffle: bool = True

    @property
    def inputs(self) -> int:
        return self.sequences["train"].shape[1]

    @property
    def baseline(self) -> float:
        """The best constant for a class with the share q is 2 q - 1, and costs 4 q (1 - q)."""
        counts = np.bincount(self.classes["train"], minlength=self.outputs)
        shares = counts / counts.sum()
        cost = 4 * shares * (1 - shares)
        return float(cost.sum() if self.classes_by == "sum" else cost.mean())

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update` modulo the batches of an epoch."""
        if self.reshuffle:
            return super().batch(seed, update)
        start = update % self.updates_per_epoch * self.batch_size
        return self.items("train", slice(start, start + self.batch_size))

    def items(self, split: str, chosen: np.ndarray | slice) -> Batch:
        levels = self.sequences[split][chosen].astype(np.float32)
        targets = self.classes[split][chosen]
        return Batch(levels / np.float32(255), targets, len(targets))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Squared hinge, [S]; outputs [S, B, classes], targets [S, B]."""
        signs = 2 * one_hot(targets, outputs.shape[-1]).to(outputs.dtype) - 1
        cost = torch.relu(1 - outputs * signs).square()
        return (cost.sum(-1) if self.classes_by == "sum" else cost.mean(-1)).mean(-1)
