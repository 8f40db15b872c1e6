"""Images as a function of style and content: mathews2016 section 3.4.5, with the authors' code on pixels."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.base import Batch, Task, shuffled

SPLIT, ORDER = -1, -2
"""Positions in a replica's data stream from which the split and the order of the epochs are drawn."""
SPLITS = ("train", "valid")
WHITE = 127.0


@dataclass(frozen=True)
class StyleContent(Task):
    """The image of a letter (content) in a font (style), from the two numbers alone.

    Inputs are pairs of symbols [2, B], style and letter. Targets are the pixels in scan-line order, p / 127 -
    1 for the grey level p, about -1 for black to 1 for white. Some pairs are held out, the split valid; they
    belong to the data stream of the replica. `held_out: random` is a tenth of all pairs, without regard to
    what they are; `each_letter` is one style for each letter, no style much more often than another. Training
    takes the other pairs in an order that is drawn anew for each epoch; what does not fill a batch is left
    out of that epoch.

    The loss is the squared error, its mean over batch and pixels; with `reduction: sum` it is summed over
    both. The metric `error` is always the mean, and the metric `loss` the loss of as many pairs as a training
    batch has, so that splits, training and `baseline` compare. The best constant answer is the mean image of
    all pairs; it scores the variance over pairs, in the mean over pixels.
    """

    name: ClassVar[str] = "style_content"
    symbols: ClassVar[bool] = True
    own_evaluation: ClassVar[bool] = True
    data_kind: ClassVar[str] = "fonts"
    dataset: Any
    batch_size: int
    held_out: Literal["random", "each_letter"] = "random"
    reduction: Literal["mean", "sum"] = "mean"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.updates_per_epoch < 1:
            most = len(self.pairs(0, "train"))
            raise ValueError(
                f"task {self.name}: batch = {self.batch_size} given; allowed: at most {most} pairs"
            )

    @cached_property
    def images(self) -> np.ndarray:
        """Every image in scan-line order: float32 [styles, letters, pixels]."""
        stored = self.dataset.arrays["images"]
        return (stored.reshape(*stored.shape[:2], -1) / WHITE - 1).astype(np.float32)

    @property
    def inputs(self) -> tuple[int, int]:
        styles, letters, _ = self.images.shape
        return styles, letters

    @property
    def outputs(self) -> int:
        return self.images.shape[2]

    @cached_property
    def baseline(self) -> float:
        error = float(self.images.var((0, 1), dtype=np.float64).mean())
        return error * self.summed

    @property
    def summed(self) -> int:
        """How many means the loss of a training batch is: 1, or one for each of its pixels."""
        return 1 if self.reduction == "mean" else self.batch_size * self.outputs

    @property
    def updates_per_epoch(self) -> int:
        return len(self.pairs(0, "train")) // self.batch_size

    def pairs(self, seed: int, split: str) -> np.ndarray:
        """The pairs (style, letter) of a split for this seed, int64 [pairs, 2], in the order of all pairs."""
        self.check_split(split, SPLITS)
        held = held_out(*self.inputs, self.held_out, seed)
        return np.argwhere(held if split == "valid" else ~held)

    def chosen(self, pairs: np.ndarray) -> Batch:
        return Batch(np.ascontiguousarray(pairs.T), self.images[pairs[:, 0], pairs[:, 1]], len(pairs))

    def batch(self, seed: int, update: int) -> Batch:
        """The next pairs of the epoch's order."""
        pairs, size = self.pairs(seed, "train"), self.batch_size
        epoch, index = divmod(update, len(pairs) // size)
        order = shuffled(len(pairs), seed, ORDER, epoch)
        return self.chosen(pairs[order[index * size : (index + 1) * size]])

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """All pairs of the split at once."""
        yield self.chosen(self.pairs(seed, split))

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Squared error, [S]; outputs and targets [S, B, pixels]."""
        errors = (outputs - targets).square()
        return errors.mean((-2, -1)) if self.reduction == "mean" else errors.sum((-2, -1))

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """error: the squared error in the mean over pairs and pixels; loss: that of a training batch with
        this error."""
        error = (outputs - targets).square().mean((-2, -1))
        return {"loss": error * self.summed, "error": error}


@lru_cache(maxsize=64)
def held_out(styles: int, letters: int, rule: str, seed: int) -> np.ndarray:
    """Which pairs are held out, bool [styles, letters], by the rule `random` or `each_letter`."""
    generator = rng(seed, SPLIT)
    held = np.zeros((styles, letters), dtype=bool)
    if rule == "random":
        held.flat[generator.permutation(held.size)[: round(held.size / 10)]] = True
    else:
        held[generator.permutation(np.arange(letters) % styles), np.arange(letters)] = True
    return held
