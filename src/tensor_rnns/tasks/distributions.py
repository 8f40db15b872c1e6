"""Distributions over short sequences that are known whole, chapter10 section 2.3, so that what a net says can
be held against them by enumeration."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.declared import Invalid
from tensor_rnns.engine import Affine
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.answers import BitAnswers, ClassAnswers, signs
from tensor_rnns.tasks.base import Batch

RUN = -2
"""Position in a replica's data stream from which its distribution is drawn."""

NOISES = 50
"""How often each sequence stands in a split where the input is noise."""


def entropy(p: Tensor) -> Tensor:
    """-p ln p - (1 - p) ln(1 - p), element by element."""
    return -torch.xlogy(p, p) - torch.xlogy(1 - p, 1 - p)


def shifted(y: np.ndarray) -> np.ndarray:
    """Bits y [T, ..] one step later as -1 and 1, 0 at the first."""
    return np.concatenate([np.zeros_like(y[:1]), 2 * y[:-1] - 1])


@dataclass(frozen=True)
class Joint(BitAnswers):
    """n = `bits` bits y drawn together: `law: dirichlet` from a distribution over all 2^n drawn for the run
    from Dirichlet(1/2), `repeated` one fair bit n times.

    The input is 1 at each step, with `noise` a fair bit, -1 or 1, and with `feedback` y_{t-1} beside it. The
    loss is that of a whole sequence, in nats. The splits hold every sequence, weighted by its
    probability, so `kl` is the divergence of the net from the law, and `total_correlation` what a net whose
    bits are independent cannot fall below; without noise both are exact.
    """

    name: ClassVar[str] = "joint"
    own_evaluation: ClassVar[bool] = True
    bits: int
    batch_size: int
    law: Literal["dirichlet", "repeated"] = "dirichlet"
    noise: bool = False
    feedback: bool = False

    @property
    def inputs(self) -> int:
        return 1 + self.feedback

    @property
    def baseline(self) -> float:
        return self.bits * math.log(2)

    def law_of(self, seed: int) -> np.ndarray:
        """The probability of each sequence, numbered as in binary, for the run `seed`."""
        if self.law == "dirichlet":
            return rng(seed, RUN, self.bits).dirichlet(np.full(2**self.bits, 0.5))
        law = np.zeros(2**self.bits)
        law[[0, -1]] = 0.5
        return law

    def of_numbers(self, generator: np.random.Generator, numbers: np.ndarray, weights: np.ndarray) -> Batch:
        """The sequences `numbers` [B] with `weights` [B]."""
        y = (numbers >> np.arange(self.bits)[::-1, None] & 1).astype(np.float32)[..., None]
        x = signs(generator, *y.shape) if self.noise else np.ones_like(y)
        inputs = np.concatenate([x, shifted(y)], -1) if self.feedback else x
        every = np.broadcast_to(weights, y.shape[:2]).astype(np.float32)
        return Batch(inputs, y, float(weights.sum()), every)

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences of the run `seed`."""
        return self.of_numbers(
            generator, generator.choice(2**self.bits, items, p=self.law_of(seed)), np.ones(items)
        )

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        self.check_split(split, ("valid", "test"))
        for part in range(NOISES if self.noise else 1):
            yield self.of_numbers(rng(0, split == "test", part), np.arange(2**self.bits), self.law_of(seed))

    def metrics(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """loss, and on a split kl and total_correlation."""
        loss = self.loss(outputs, targets, weights)
        p = weights[0].double()
        whole = -torch.xlogy(p, p).sum(-1)
        singly = entropy((targets[..., 0].double() * p).sum(-1)).sum(0)
        return {"loss": loss, "kl": loss - whole, "total_correlation": singly - whole}


@dataclass(frozen=True)
class Source(BitAnswers):
    """Say the next bit of a Markov source of order m = `order`: after each of the 2^m settings of the last m
    bits the next is 1 with a probability from U[0.1, 0.9), drawn for the run; due from step m on.

    The input is y_{t-1}, -1 or 1. In the splits the targets are these probabilities themselves: `excess` is
    the loss above the entropy rate, in nats.
    """

    name: ClassVar[str] = "source"
    own_evaluation: ClassVar[bool] = True
    order: int
    length: int
    batch_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.order >= self.length:
            raise Invalid("order", f"order is {self.order}; allowed is less than length = {self.length}")

    def generate(
        self, generator: np.random.Generator, items: int, seed: int = 0, exact: bool = False
    ) -> Batch:
        """`items` fresh sequences of the run `seed`; with `exact` the targets are probabilities."""
        chances = rng(seed, RUN, self.order).uniform(0.1, 0.9, 2**self.order)
        y = generator.integers(0, 2, (self.length, items)).astype(np.float32)
        place, chance = 2 ** np.arange(self.order), y.copy()
        for t in range(self.order, self.length):
            chance[t] = chances[(y[t - self.order : t] * place[:, None]).sum(0).astype(int)]
            y[t] = generator.random(items) < chance[t]
        weights = np.ones_like(y)
        weights[: self.order] = 0
        targets = chance if exact else y
        return Batch(shifted(y)[..., None], targets[..., None], float(weights.sum()), weights)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        self.check_split(split, ("valid", "test"))
        for part in range(self.parts):
            yield self.generate(rng(0, split == "test", part), self.part_size, seed, exact=True)

    def metrics(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """loss, accuracies, excess."""
        found = super().metrics(outputs, targets, weights)
        rate = (entropy(targets[..., 0].double()) * weights).sum((0, 2))
        return found | {"excess": found["loss"] - rate}


@dataclass(frozen=True)
class Missing(ClassAnswers):
    """A Markov chain of `kinds` k symbols with `missing` m of its `length` steps left out in the middle: say
    them.

    Inputs are one-hot vectors of k + 1 numbers, the last for what is missing. The first symbol is uniform;
    the rows of the transition matrix are softmax of N(0, 2^2), the same for every run. The loss is that of
    all m symbols together, in nats; `exact` is that of their posterior given all other symbols, their
    conditional entropy.
    """

    name: ClassVar[str] = "missing"
    length: int
    missing: int
    batch_size: int
    kinds: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.missing > self.length - 2:
            most = f"length - 2 = {self.length - 2}"
            raise Invalid("missing", f"missing is {self.missing}; allowed is at most {most}")

    @property
    def inputs(self) -> int:
        return self.kinds + 1

    @property
    def outputs(self) -> int:
        return self.kinds

    @property
    def baseline(self) -> float:
        return self.missing * math.log(self.kinds)

    @property
    def gap(self) -> slice:
        """The steps left out."""
        first = (self.length - self.missing) // 2
        return slice(first, first + self.missing)

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh chains."""
        steps = transitions(self.kinds).cumsum(1)
        y = generator.integers(0, self.kinds, (self.length, items))
        for t in range(1, self.length):
            y[t] = (generator.random(items)[:, None] > steps[y[t - 1], :-1]).sum(1)
        seen, weights = y.copy(), np.zeros(y.shape, np.float32)
        seen[self.gap], weights[self.gap] = self.kinds, 1
        return Batch(np.eye(self.inputs, dtype=np.float32)[seen], y, items, weights)

    def exact(self) -> float:
        """H(gap | symbols before and after) = sum of the m + 1 steps' entropies - H(after | before), nats."""
        step, last = transitions(self.kinds), self.gap.start - 1
        p = np.full(self.kinds, 1 / self.kinds) @ np.linalg.matrix_power(step, last)
        through = np.linalg.matrix_power(step, self.missing + 1)

        def rows(matrix: np.ndarray) -> np.ndarray:
            return -(matrix * np.log(matrix)).sum(1)

        along = sum(p @ np.linalg.matrix_power(step, gone) @ rows(step) for gone in range(self.missing + 1))
        return float(along - p @ rows(through))

    def metrics(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """loss, accuracy and exact."""
        found = super().metrics(outputs, targets, weights)
        accuracy, exact = found["accuracy"] / self.missing, torch.full_like(found["loss"], self.exact())
        return found | {"accuracy": accuracy, "exact": exact}


@lru_cache
def transitions(kinds: int) -> np.ndarray:
    """The transition matrix of `Missing`, rows summing to 1."""
    drawn = np.exp(2 * rng(0, RUN, kinds).standard_normal((kinds, kinds)))
    return drawn / drawn.sum(1, keepdims=True)
