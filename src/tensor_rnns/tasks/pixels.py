"""Images as sequences of single pixels, classified at the last one: mathews2016 section 5.1.3."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, cross_entropy, values
from tensor_rnns.tasks.base import SPLITS, Batch, Task, shuffled

PERMUTATION_SEED = 1001
"""The seed of the authors' permutation."""
ITEMS_PER_BATCH = 100
"""Images of one batch of evaluation; the last batch of a split holds what is left."""


@dataclass(frozen=True)
class Pixels(Task):
    """T = rows x columns steps of one pixel (p - 127.5) / 255, and the class of the image as the target.

    `order: scan` reads row by row from the top left; `permuted` moves every image by one fixed permutation,
    that of the authors for 784 pixels and one of the same recipe for other sizes. The loss is the cross
    entropy in nats, averaged over the batch. The best constant answer gives each class its share of the
    training images; its loss there, `baseline`, is their entropy. Its accuracy on a split, chance, is the
    share of the most frequent class. Training images are shuffled anew in every epoch; those that do not
    fill a batch are left out of that epoch. Evaluation takes every image once.
    """

    name: ClassVar[str] = "pixels"
    lazy: ClassVar[bool] = True
    data_kind: ClassVar[str] = "images"
    dataset: Any
    batch_size: int
    order: Literal["scan", "permuted"] = "permuted"

    inputs = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.updates_per_epoch < 1:
            have = len(self.classes["train"])
            raise ValueError(
                f"task pixels: batch = {self.batch_size} given; allowed: at most {have}, the training images"
            )

    @cached_property
    def sequences(self) -> dict[str, np.ndarray]:
        """The grey levels of each split in the order of the steps: uint8 [images, T]."""
        sequences = {}
        for split in SPLITS:
            images = self.dataset.arrays[f"{split}_images"]
            flat = images.reshape(len(images), -1)
            sequences[split] = flat[:, permutation(flat.shape[1])] if self.order == "permuted" else flat
        return sequences

    @cached_property
    def classes(self) -> dict[str, np.ndarray]:
        """The class of each image of each split: int64 [images]."""
        return {split: self.dataset.arrays[f"{split}_labels"].astype(np.int64) for split in SPLITS}

    @property
    def outputs(self) -> int:
        return self.dataset.facts["classes"]

    @property
    def baseline(self) -> float:
        counts = np.bincount(self.classes["train"])
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    @property
    def updates_per_epoch(self) -> int:
        return len(self.classes["train"]) // self.batch_size

    def items(self, split: str, chosen: np.ndarray | slice) -> Batch:
        """The chosen images of a split: inputs [T, items, 1], targets [items]."""
        levels = self.sequences[split][chosen].T[..., None].astype(np.float32)
        targets = self.classes[split][chosen]
        return Batch((levels - np.float32(127.5)) / np.float32(255), targets, len(targets))

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update` modulo the batches of an epoch, in the order of this seed and epoch."""
        epoch, index = divmod(update, self.updates_per_epoch)
        order = shuffled(len(self.classes["train"]), seed, epoch)
        return self.items("train", order[index * self.batch_size : (index + 1) * self.batch_size])

    def evaluation(self, split: str) -> Iterator[Batch]:
        """Every image of a split in the order of the file, 100 to a batch; the last batch may be smaller."""
        self.check_split(split, SPLITS)
        for start in range(0, len(self.classes[split]), ITEMS_PER_BATCH):
            yield self.items(split, slice(start, start + ITEMS_PER_BATCH))

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Mean cross entropy in nats, [S]; outputs [S, B, classes] are logits, targets [S, B]."""
        return cross_entropy(outputs, targets, targets.shape[-1])

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """loss, and accuracy: the share of images whose largest output is that of their class."""
        right = values(outputs).argmax(-1) == targets
        return {"loss": self.loss(outputs, targets), "accuracy": right.double().mean(-1)}


def permutation(pixels: int) -> np.ndarray:
    """The fixed order of `pixels` pixels: 0 .. pixels - 1 shuffled by numpy's legacy generator, seed 1001."""
    order = np.arange(pixels)
    np.random.RandomState(PERMUTATION_SEED).shuffle(order)
    return order
