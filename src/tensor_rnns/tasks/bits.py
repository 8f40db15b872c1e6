"""Small tasks of bits, chapter10: each asks for one thing that some kind of recurrent net can do.

The notes describe no task; the sizes and the criteria are ours.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.declared import Invalid, Natural, Positive
from tensor_rnns.engine import Outputs, values
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.answers import BitAnswers, is_one, judged_at, signs
from tensor_rnns.tasks.base import Batch, Generated


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
    """F(T): after `length` T fair bits, -1 or 1, say the first. Later ones are times `distractors`."""

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


@dataclass(frozen=True)
class MarkedBit(BitAnswers):
    """POS: one of `length` T steps holds a fair bit, -1 or 1, the others 0; say it at the end.

    The bit is never at a step of `held_out` in training and in the split valid, and always in the split
    test; without any, test is like valid. With `distractors` every step holds a fair bit, and a second input
    is 1 where the right one is. With `sequences` there are so many training items, the first of the data
    stream, over and over.
    """

    name: ClassVar[str] = "marked_bit"
    own_evaluation: ClassVar[bool] = True
    length: int
    batch_size: int
    held_out: tuple[Natural, ...] = ()
    distractors: bool = False
    sequences: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.held_out) & set(range(self.length))) != len(self.held_out) or not self.seen:
            allowed = f"different steps below length = {self.length}, not all of them"
            raise Invalid("held_out", f"held_out is {self.held_out}; allowed: {allowed}")
        if self.sequences and self.sequences % self.batch_size:
            allowed = f"a multiple of the batch, {self.batch_size}"
            raise Invalid("sequences", f"sequences is {self.sequences}; allowed: {allowed}")

    @property
    def inputs(self) -> int:
        return 1 + self.distractors

    @property
    def seen(self) -> list[int]:
        """The steps at which training has the bit."""
        return [step for step in range(self.length) if step not in self.held_out]

    def batch(self, seed: int, update: int) -> Batch:
        """Batch `update`, modulo the batches of the training set where there is one."""
        return super().batch(seed, update % (self.sequences // self.batch_size) if self.sequences else update)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        other = replace(self, held_out=tuple(self.seen)) if split == "test" and self.held_out else self
        return Generated.evaluation_of(other, seed, split)

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences."""
        mark = np.zeros((self.length, items, 1), np.float32)
        mark[generator.choice(self.seen, items), np.arange(items)] = 1
        x = signs(generator, self.length, items, 1)
        targets = is_one((x * mark).sum(0))
        return Batch(np.concatenate([x, mark], -1) if self.distractors else x * mark, targets, items)


@dataclass(frozen=True)
class Parity(BitAnswers):
    """PAR: whether the number of ones so far is odd, at every step of a sequence of `shortest` to `longest`
    steps; in the splits valid and test of as many as the last of `checked`.

    `accuracy_T` is the share of right answers at step T of `checked`. Bits are fair, 0 or 1.
    """

    name: ClassVar[str] = "parity"
    batch_size: int
    shortest: int = 2
    longest: int = 10
    checked: tuple[int, ...] = (20, 50, 200)

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences of training, padded."""
        lengths = generator.integers(self.shortest, self.longest + 1, items)
        x = generator.integers(0, 2, (self.longest, items, 1)).astype(np.float32)
        return judged_at(x, x.cumsum(0) % 2, np.arange(self.longest)[:, None] < lengths)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        longest = max(self.checked)
        return Generated.evaluation_of(replace(self, shortest=longest, longest=longest), seed, split)

    def metrics(self, outputs: Outputs, targets: Tensor, weights: Tensor | None = None) -> dict[str, Tensor]:
        """loss, accuracy, last_accuracy, and accuracy_T for every T of `checked`."""
        right = ((values(outputs) > 0) == (targets > 0.5)).double()
        at = {f"accuracy_{step}": right[step - 1].mean((-2, -1)) for step in self.checked}
        return super().metrics(outputs, targets, weights) | at


@dataclass(frozen=True)
class SwitchingRule(BitAnswers):
    """Say the bit x_t, or the other one in every second stretch of `every` steps; T = `length`.

    The split test has twice as many steps: `beyond` is its accuracy after step T. With `clock` the inputs
    are (x_t, t / T), with t counted from 1, which goes on to 2. Bits are fair, -1 or 1.
    """

    name: ClassVar[str] = "switching_rule"
    length: int
    batch_size: int
    every: int = 10
    clock: bool = False

    @property
    def inputs(self) -> int:
        return 1 + self.clock

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences of T steps."""
        return self.of_steps(np.arange(self.length), generator, items)

    def of_steps(self, steps: np.ndarray, generator: np.random.Generator, items: int) -> Batch:
        """`items` fresh sequences of the numbered `steps`."""
        x = signs(generator, len(steps), items, 1)
        other = (steps // self.every % 2 == 1)[:, None, None]
        clock = np.broadcast_to((steps[:, None, None] + 1) / self.length, x.shape).astype(np.float32)
        return Batch(
            np.concatenate([x, clock], -1) if self.clock else x, is_one(np.where(other, -x, x)), items
        )

    def evaluation(self, split: str) -> Iterator[Batch]:
        if split == "test":
            steps = np.arange(2 * self.length)
            return (self.of_steps(steps, rng(0, 2, part), self.part_size) for part in range(self.parts))
        return super().evaluation(split)

    def metrics(self, outputs: Outputs, targets: Tensor) -> dict[str, Tensor]:
        """loss, accuracy and last_accuracy, and of a longer sequence `beyond`."""
        right = ((values(outputs) > 0) == (targets > 0.5)).double()
        late = right[self.length :]
        return super().metrics(outputs, targets) | ({"beyond": late.mean((0, 2, 3))} if len(late) else {})


@dataclass(frozen=True)
class Neighbours(BitAnswers):
    """x_{t-1} AND x_{t+1}, or their XOR, at `length` steps but the first and the last; fair bits, -1 or 1."""

    name: ClassVar[str] = "neighbours"
    length: int
    batch_size: int
    rule: Literal["and", "xor"] = "and"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.length < 3:
            raise Invalid("length", f"length is {self.length}; allowed: at least 3")

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences."""
        x = signs(generator, self.length, items, 1)
        before, after = x[:-2] > 0, x[2:] > 0
        targets = np.zeros_like(x)
        targets[1:-1] = before & after if self.rule == "and" else before ^ after
        inside = np.zeros((self.length, 1), bool)
        inside[1:-1] = True
        return judged_at(x, targets, inside)


@dataclass(frozen=True)
class Dots(BitAnswers):
    """A square of `side` x `side` pixels with `dots` ones among zeros, row by row as [side^2, B, 1]: say at
    each pixel whether another dot stands in its row or its column."""

    name: ClassVar[str] = "dots"
    side: int
    dots: int
    batch_size: int

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dots > self.side**2:
            raise Invalid("dots", f"dots is {self.dots}; allowed: at most side^2 = {self.side**2}")

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh squares."""
        places = generator.permuted(np.tile(np.arange(self.side**2), (items, 1)), axis=1)[:, : self.dots]
        flat = np.zeros((self.side**2, items, 1), np.float32)
        flat[places.T, np.arange(items)] = 1
        grid = flat.reshape(self.side, self.side, items, 1)
        others = grid.sum(0) + grid.sum(1)[:, None] - 2 * grid
        return Batch(flat, is_one(others).reshape(flat.shape), items)


@dataclass(frozen=True)
class Dictation(BitAnswers):
    """A vector of `bits` fair bits, -1 or 1, is given at every step; say its bits in order, `times` times,
    after `idle` steps."""

    name: ClassVar[str] = "dictation"
    bits: int
    batch_size: int
    times: int = 2
    idle: Natural = 0

    @property
    def inputs(self) -> int:
        return self.bits

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh vectors."""
        vector = signs(generator, items, self.bits)
        inputs = np.broadcast_to(vector, (self.idle + self.times * self.bits, items, self.bits)).copy()
        said = np.tile(vector.T, (self.times, 1))
        targets = np.concatenate([np.zeros((self.idle, items)), is_one(said)])[..., None]
        return judged_at(inputs, targets.astype(np.float32), np.arange(len(inputs))[:, None] >= self.idle)
