"""Copy memory, addition and pixels as barone2016 trains them (sections 3.0.1 to 3.0.3 and the author's code):
a training set that is taken in order, over and over."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, cross_entropy, values
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.addition import Addition
from tensor_rnns.tasks.base import SPLITS, Batch, Generated
from tensor_rnns.tasks.pixels import Pixels

SYMBOLS = 8
"""The data symbols of copy memory; the two numbers after theirs are the blank and the run symbol."""
BLANK, RUN = SYMBOLS, SYMBOLS + 1
PIXEL_SEED = 1234
"""The seed of the author's orders of images and of pixels."""


@dataclass(frozen=True, kw_only=True)
class Repeated(Generated):
    """A task of made data with a training set: the first `sequences` items of a data stream, in order and
    over again; null for data without end.

    The splits valid and test are one set of `held_out` items, the same for every stream. The split train is
    as many items from the start of the training set.
    """

    own_evaluation: ClassVar[bool] = True
    batch_size: int
    sequences: int | None = 100_000
    held_out: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sequences is not None and self.sequences % self.batch_size:
            given = f"sequences = {self.sequences:,} given with batches of {self.batch_size}"
            raise ValueError(f"task {self.name}: {given}; allowed: a multiple of the batch, or null")

    @property
    def updates_per_epoch(self) -> int | None:
        return self.sequences and self.sequences // self.batch_size

    @property
    def held(self) -> "Repeated":
        """The task that makes the held-out items; here the same."""
        return self

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update` of the stream, modulo the batches of the training set."""
        return super().batch(seed, update % self.updates_per_epoch if self.updates_per_epoch else update)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """The batches of `split`: those of training, or 100 held-out items each; the last may be smaller."""
        self.check_split(split, SPLITS)
        if split == "train":
            wanted = min(self.held_out, self.sequences or self.held_out)
            for update in range(-(-wanted // self.batch_size)):
                yield self.batch(seed, update)
            return
        for start in range(0, self.held_out, self.part_size):
            items = min(self.part_size, self.held_out - start)
            yield self.held.generate(rng(0, start // self.part_size), items)


@dataclass(frozen=True, kw_only=True)
class CopyMemory(Repeated):
    """Give a string of symbols back after a gap of blanks, in sequences of T = N + 2 K steps.

    The alphabet are 8 data symbols, a blank and a run symbol. L data symbols, each with chance 1/8, are
    followed by M - 1 blanks, the run symbol, and blanks to the end; due are L + M blanks, the data symbols,
    and blanks to the end. N is `gap` and K `longest`. `vary: nothing` has L = K and M = N (Hochreiter and
    Schmidhuber 1997, as the unitary nets did it), `length` L = U{1, K} (Danihelka et al. 2016), `lag`
    M = U{1, N} (Henaff et al. 2016).

    The loss is the cross entropy in nats, the mean over all T steps. The baseline is that of an answer that
    knows the timing but no symbol, E[L] ln 8 / T. `accuracy` is the share of right steps of all T;
    `data_accuracy` and `data_loss` are means over the steps of a sequence at which a data symbol is due, then
    over sequences. `corrected` is the author's number of right symbols, of 8: for K = 10 and the accuracy a
    0.8 (T (a - 1) + 20 a - 10), 8 where all is right; errors count (T + 20) / T times, as T stands for N.
    """

    name: ClassVar[str] = "copy_memory"
    symbols: ClassVar[bool] = True
    lazy: ClassVar[bool] = True
    gap: int
    longest: int = 10
    vary: Literal["nothing", "length", "lag"] = "nothing"

    inputs = SYMBOLS + 2
    outputs = SYMBOLS + 2

    @property
    def steps(self) -> int:
        """T."""
        return self.gap + 2 * self.longest

    @property
    def baseline(self) -> float:
        due = (1 + self.longest) / 2 if self.vary == "length" else self.longest
        return due * math.log(SYMBOLS) / self.steps

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences: inputs and targets [T, items]."""

        def drawn(most: int, varies: bool) -> np.ndarray:
            return generator.integers(1, most + 1, items) if varies else np.full(items, most)

        length, lag = drawn(self.longest, self.vary == "length"), drawn(self.gap, self.vary == "lag")
        data = generator.integers(0, SYMBOLS, (self.longest, items))
        inputs, targets = np.full((2, self.steps, items), BLANK)
        everyone = np.arange(items)
        for place in range(self.longest):
            there = everyone[place < length]
            inputs[place, there] = targets[length[there] + lag[there] + place, there] = data[place, there]
        inputs[length + lag - 1, everyone] = RUN
        return Batch(inputs, targets, items)

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Cross entropy of logits [T, S, B, 10] in nats, mean over steps and rows, [S]."""
        return cross_entropy(outputs, targets, targets[:, 0].numel())

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """loss and accuracy over all steps, data_loss and data_accuracy over those where data are due."""
        computed = values(outputs)
        right = (computed.argmax(-1) == targets).double()
        due = (targets != BLANK).to(computed.dtype)
        symbols = due.sum(0)
        return {
            "loss": self.loss(outputs, targets),
            "accuracy": right.mean((0, 2)),
            "data_loss": cross_entropy(outputs, targets, targets.shape[-1], due / symbols),
            "data_accuracy": ((right * due).sum(0) / symbols).mean(-1),
        }

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """corrected."""
        a, share = means["accuracy"], SYMBOLS / self.longest
        return {"corrected": share * (self.steps * (a - 1) + 2 * self.longest * a - self.longest)}


@dataclass(frozen=True, kw_only=True)
class AdditionSet(Repeated, Addition):
    """Addition with a training set; `held_out_markers` are the markers of valid and test.

    In the text these are in halves too, in the author's code anywhere, any two different steps.
    """

    name: ClassVar[str] = "addition_set"
    held_out_markers: Literal["halves", "printed", "anywhere"] = "halves"

    @property
    def held(self) -> "AdditionSet":
        return replace(self, markers=self.held_out_markers)


@dataclass(frozen=True, kw_only=True)
class PixelsSet(Pixels):
    """Pixels with the author's permutation, images in one order over and over, and levels p / 256.

    Numpy's legacy generator of seed 1234 shuffles the training images, then those of validation, whose order
    changes nothing else, and draws the permutation of the pixels. Training images that fill no batch are left
    out. `pool` averages squares of so many rows and columns first.
    """

    name: ClassVar[str] = "pixels_set"
    pool: int = 1

    @cached_property
    def orders(self) -> tuple[np.ndarray, np.ndarray]:
        """The order of the training images, and that of the pixels of an image."""
        train, valid = (self.dataset.arrays[f"{split}_images"] for split in ("train", "valid"))
        return legacy_orders(len(train), len(valid), train[0].size // self.pool**2)

    @cached_property
    def sequences(self) -> dict[str, np.ndarray]:
        """The grey levels of each split in the order of the steps: [images, T], uint8, or float32 if pooled.

        ValueError where squares do not fill the images.
        """
        return {split: self.levels(self.dataset.arrays[f"{split}_images"]) for split in SPLITS}

    def levels(self, images: np.ndarray) -> np.ndarray:
        """Images [n, rows, columns] as sequences [n, T]."""
        n, rows, columns = images.shape
        if rows % self.pool or columns % self.pool:
            told = f"pool = {self.pool} given; allowed: a divisor of {rows} rows and {columns} columns"
            raise ValueError(f"task pixels_set: {told}")
        if self.pool > 1:
            squares = images.reshape(n, rows // self.pool, self.pool, columns // self.pool, self.pool)
            images = squares.mean((2, 4), dtype=np.float32)
        flat = images.reshape(n, -1)
        return flat[:, self.orders[1]] if self.order == "permuted" else flat

    def items(self, split: str, chosen: np.ndarray | slice) -> Batch:
        """The chosen images of a split: inputs [T, items, 1], targets [items]."""
        levels = self.sequences[split][chosen].T[..., None].astype(np.float32)
        targets = self.classes[split][chosen]
        return Batch(levels / np.float32(256), targets, len(targets))

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update` modulo the batches of the training set; the seed plays no part."""
        index = update % self.updates_per_epoch
        chosen = self.orders[0][index * self.batch_size : (index + 1) * self.batch_size]
        return self.items("train", chosen)


def legacy_orders(train: int, valid: int, pixels: int) -> tuple[np.ndarray, np.ndarray]:
    """The order of `train` images and of `pixels` pixels, drawn one after another as in `PixelsSet`."""
    legacy, images = np.random.RandomState(PIXEL_SEED), np.arange(train)
    legacy.shuffle(images)
    legacy.shuffle(np.arange(valid))
    return images, legacy.permutation(pixels)
