"""Next-symbol prediction in text, each sentence by itself: barone2016 section 3.0.4."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.engine import Affine, cross_entropy
from tensor_rnns.tasks.base import SPLITS, Batch, Task

END = "\n"


@dataclass(frozen=True)
class Sentences(Task):
    """Each symbol of a sentence, and its end, from those before it; the state is zero before each sentence.

    A line of the data set is a sentence. The first input is the end of a line, the last target too. There is
    one symbol more than the data set has, for unknown ones, which never occurs. Training takes `batch`
    sentences in the order of the file, in each epoch the same; the last batch may be smaller. With `window`
    the sentences of so many batches in a row are sorted by length before they are cut into batches, which
    saves padding. A training sentence of more than `longest` symbols is left out; in another split it is
    refused. `most` sentences of a split are read, or all.

    The loss is the mean over sentences of the mean cross entropy of a symbol, in nats. Metrics: `perplexity`
    is exp of that; `nats_per_symbol` is the mean over all symbols, ends among them, `symbol_perplexity` exp
    of it and `bpc` its bits.
    """

    name: ClassVar[str] = "sentences"
    symbols: ClassVar[bool] = True
    lazy: ClassVar[bool] = True
    data_kind: ClassVar[str] = "text"
    dataset: Any
    batch_size: int
    longest: int = 500
    window: int = 1
    most: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for split in SPLITS:
            if not self.sentences(split):
                raise ValueError(f"task {self.name}: split {split} has no sentence; allowed: at least one")

    @property
    def inputs(self) -> int:
        return len(self.dataset.arrays["vocabulary"]) + 1

    @property
    def outputs(self) -> int:
        return self.inputs

    @cached_property
    def end(self) -> int:
        """The number of the end of a line; ValueError where the data set has none."""
        found = np.flatnonzero(self.dataset.arrays["vocabulary"] == END)
        if len(found) != 1:
            told = f"the data set {self.dataset.name} has no symbol for the end of a line"
            raise ValueError(f"task {self.name}: {told}; allowed are texts that have one")
        return int(found[0])

    @cached_property
    def cut(self) -> dict[str, list[np.ndarray]]:
        """The sentences of each split that are read, in order, without their ends."""
        found = {}
        for split in SPLITS:
            tokens = self.dataset.arrays[f"{split}_tokens"]
            ends = np.flatnonzero(tokens == self.end)[: self.most]
            starts = np.concatenate([[0], ends[:-1] + 1]).astype(int)
            all_ = [tokens[start:end] for start, end in zip(starts, ends, strict=True) if end > start]
            long = [number for number, one in enumerate(all_, 1) if len(one) > self.longest]
            if long and split != "train":
                size = len(all_[long[0] - 1])
                told = f"sentence {long[0]:,} of {split} has {size} symbols"
                raise ValueError(f"task {self.name}: {told}; allowed are at most longest = {self.longest}")
            found[split] = [one for one in all_ if len(one) <= self.longest]
        return found

    def sentences(self, split: str) -> list[np.ndarray]:
        """The sentences of a split."""
        return self.cut[split]

    @cached_property
    def order(self) -> dict[str, np.ndarray]:
        """The sentences of each split by number, as batches take them."""
        found = {}
        for split in SPLITS:
            lengths = np.array([len(one) for one in self.sentences(split)])
            span = self.window * self.batch_size
            pieces = [
                np.arange(first, min(first + span, len(lengths))) for first in range(0, len(lengths), span)
            ]
            if self.window > 1:
                pieces = [piece[np.argsort(lengths[piece], kind="stable")] for piece in pieces]
            found[split] = np.concatenate(pieces)
        return found

    @cached_property
    def baseline(self) -> float:
        """The loss in training of the best constant answer: the share of a symbol is that of its weights."""
        weight = np.zeros(self.inputs)
        for sentence in self.sentences("train"):
            weight += np.bincount([*sentence, self.end], minlength=self.inputs) / (len(sentence) + 1)
        shares = weight[weight > 0] / weight.sum()
        return float(-(shares * np.log(shares)).sum())

    @property
    def updates_per_epoch(self) -> int:
        return math.ceil(len(self.sentences("train")) / self.batch_size)

    def made(self, split: str, index: int) -> Batch:
        """Batch `index` of a split: inputs and targets [T, B], padded with ends to the longest of its
        sentences; the weight of a target is one over the symbols of its sentence."""
        numbers = self.order[split][index * self.batch_size : (index + 1) * self.batch_size]
        chosen = [self.sentences(split)[number] for number in numbers]
        lengths = np.array([len(one) + 1 for one in chosen])
        targets = np.full((int(lengths.max()), len(chosen)), self.end, dtype=np.int64)
        for column, one in enumerate(chosen):
            targets[: len(one), column] = one
        inputs = np.vstack([np.full((1, len(chosen)), self.end), targets[:-1]])
        weights = (np.arange(len(targets))[:, None] < lengths) / lengths
        return Batch(inputs, targets, len(chosen), weights, lengths)

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update` modulo the batches of an epoch; the seed plays no part."""
        return self.made("train", update % self.updates_per_epoch)

    def evaluation(self, split: str) -> Iterator[Batch]:
        self.check_split(split, SPLITS)
        for index in range(math.ceil(len(self.sentences(split)) / self.batch_size)):
            yield self.made(split, index)

    def loss(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> Tensor:
        """The mean over sentences of the mean cross entropy of their symbols, [S]; `weights` [T, S, B]."""
        return cross_entropy(outputs, targets, 1, weights)

    def metrics(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """The loss, also as nll; nats and symbols of a sentence in the mean."""
        loss, items = self.loss(outputs, targets, weights), targets.shape[-1]
        counted = (weights > 0).to(weights.dtype)
        nats = cross_entropy(outputs, targets, items, counted)
        return {"loss": loss, "nll": loss, "nats": nats, "symbols": counted.sum((0, 2)) / items}

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        per_symbol = means["nats"] / means["symbols"]
        return {
            "perplexity": means["nll"].exp(),
            "nats_per_symbol": per_symbol,
            "symbol_perplexity": torch.exp(per_symbol),
            "bpc": per_symbol / math.log(2),
        }
