"""Tasks of several time scales, chapter10 sections 9 and 10: running averages, and a count that is reset."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.declared import BelowOne, Share
from tensor_rnns.engine import Affine, squared_error
from tensor_rnns.tasks.base import Batch, Generated


class Tracking(Generated):
    """A task with a number to say at every step, targets [T, items, O]; every training batch is new, and the
    splits valid and test have 1,000 fixed items each."""

    lazy: ClassVar[bool] = True

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Mean squared error over steps, rows and outputs, [S]."""
        return squared_error(outputs, targets, targets[:, 0].numel())


@dataclass(frozen=True)
class RunningAverages(Tracking):
    """Standard normal noise x in; out for each of the `factors` a its average y_t = a y_{t-1} + (1 - a) x_t.

    y_0 = 0. Targets are in units of the standard deviation that y has after a long time, sqrt((1 - a) / (1 +
    a)), so that the loss is an error over a variance. The baseline answers 0.
    """

    name: ClassVar[str] = "running_averages"
    length: int
    batch_size: int
    factors: tuple[BelowOne, ...] = (0.5, 0.97)

    inputs = 1

    @property
    def outputs(self) -> int:
        return len(self.factors)

    @property
    def baseline(self) -> float:
        """The mean of 1 - a^(2 t) over steps t = 1 .. T and factors."""
        steps = np.arange(1, self.length + 1)[:, None]
        return float(1 - np.mean(np.array(self.factors) ** (2 * steps)))

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences: inputs [T, items, 1], targets [T, items, factors]."""
        noise, a = generator.standard_normal((self.length, items, 1)), np.array(self.factors)
        averages = np.zeros((self.length + 1, items, self.outputs))
        for t, x in enumerate(noise):
            averages[t + 1] = a * averages[t] + (1 - a) * x
        targets = averages[1:] / np.sqrt((1 - a) / (1 + a))
        return Batch(noise.astype(np.float32), targets.astype(np.float32), items)


@dataclass(frozen=True)
class ResetCount(Tracking):
    """How many ones came since the last reset, at every step of T.

    Inputs [T, items, 2] are x_t, one with probability `ones`, and the marker of a reset; the count is 0 at a
    reset, else one more than before where x_t is one. A step is a reset with probability `resets`; with
    `every` k instead each k-th is, and the marker is always 0: when to reset must be known.
    """

    name: ClassVar[str] = "reset_count"
    length: int
    batch_size: int
    ones: Share = 0.3
    resets: Share = 0.07
    every: int | None = None

    inputs = 2
    outputs = 1
    baseline = None

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences: inputs [T, items, 2], targets [T, items, 1]."""
        draws = generator.random((2, self.length, items))
        one, reset = draws[0] < self.ones, draws[1] < self.resets
        if self.every is not None:
            reset[:] = (np.arange(1, self.length + 1) % self.every == 0)[:, None]
        counts = np.zeros((self.length + 1, items), np.float32)
        for t in range(self.length):
            counts[t + 1] = np.where(reset[t], 0, counts[t] + one[t])
        marker = reset if self.every is None else np.zeros_like(reset)
        return Batch(np.stack([one, marker], -1).astype(np.float32), counts[1:, :, None], items)
