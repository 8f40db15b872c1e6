"""Small tasks of bits, chapter10: each asks for one thing that some kind of recurrent net can do.

The notes describe no task; the sizes and the criteria are ours.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tensor_rnns.declared import Invalid, Natural, Positive
from tensor_rnns.tasks.answers import BitAnswers, is_one, judged_at, signs
from tensor_rnns.tasks.base import Batch


@dataclass(frozen=True)
class Recall(BitAnswers):
    """R(tau): at step t of `length` T say the bit x_{t - tau}, tau = `lag`; due from step tau on.

    With `full` the target is the whole state of the task, (x_t, .., x_{t - tau}). With `feedback` the right
    answer to the step before stands beside x_t, as -1 or 1, and 0 where there was none. Bits are fair, -1
    or 1.
    """

    name: ClassVar[str] = "recall"
    length: int
    lag: Natural
    batch_size: int
    full: bool = False
    feedback: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.lag >= self.length:
            raise Invalid("lag", f"lag is {self.lag}; allowed is less than length = {self.length}")

    @property
    def outputs(self) -> int:
        return self.lag + 1 if self.full else 1

    @property
    def inputs(self) -> int:
        return 1 + self.feedback * self.outputs

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh streams."""
        x = signs(generator, self.length, items, 1)
        lags = range(self.lag + 1) if self.full else [self.lag]
        answers = np.concatenate([np.concatenate([x[:lag] * 0, x[: len(x) - lag]]) for lag in lags], -1)
        before = np.concatenate([answers[:1] * 0, answers[:-1]])
        inputs = np.concatenate([x, before], -1) if self.feedback else x
        return judged_at(inputs, is_one(answers), np.arange(self.length)[:, None] >= self.lag)


@dataclass(frozen=True)
class FirstBit(BitAnswers):
    """F(T): after `length` T fair bits, -1 or 1, say the first. Those after it are multiplied by
    `distractors`."""

    name: ClassVar[str] = "first_bit"
    length: int
    batch_size: int
    distractors: Positive = 1.0

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences."""
        x = signs(generator, self.length, items, 1)
        targets = is_one(x[0])
        x[1:] *= self.distractors
        return Batch(x, targets, items)
