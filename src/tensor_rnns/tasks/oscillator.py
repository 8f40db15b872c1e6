"""Continue the curve of a van der Pol oscillator, chapter10 section 2.1."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.declared import Natural
from tensor_rnns.engine import Affine, squared_error
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.base import SPLITS, Batch, Task

FINER = 20
"""Steps of the integration in one of a curve."""
HELD_OUT = 300
"""Curves in each of the splits valid and test."""


@dataclass(frozen=True)
class Oscillator(Task):
    """VDP: y_{t+1} of x'' = mu (1 - x^2) x' - x, mu = `damping`, from y_t = x, `step` time units a step.

    T = `warm_up` + `steps` inputs. Due are the last `steps` in evaluation, and in training all of them or,
    with `due: after_warm_up`, these too. Curves start uniformly in [-2, 2]^2, in x and x', `settled` steps
    before the first input: after many they all run along the limit cycle. `curves` are those of training,
    drawn for the run, of which each batch takes some at random. The loss is the mean squared error.
    """

    name: ClassVar[str] = "oscillator"
    lazy: ClassVar[bool] = True
    batch_size: int
    curves: int = 512
    warm_up: int = 20
    steps: int = 40
    damping: float = 2.0
    step: float = 0.2
    settled: Natural = 0
    due: Literal["all", "after_warm_up"] = "all"

    inputs = 1
    outputs = 1
    baseline = None
    updates_per_epoch = None

    def batch(self, seed: int, update: int) -> Batch:
        curves = drawn(self, self.curves, seed)
        chosen = curves[:, rng(seed, update).integers(0, self.curves, self.batch_size)]
        return self.of_curves(chosen, 0 if self.due == "all" else self.warm_up)

    def evaluation(self, split: str) -> Iterator[Batch]:
        self.check_split(split, SPLITS[1:])
        yield self.of_curves(drawn(self, HELD_OUT, -SPLITS.index(split)), self.warm_up)

    def of_curves(self, curves: np.ndarray, first: int) -> Batch:
        """The batch of `curves` [T + 1, B, 1], due from step `first` on."""
        weights = np.zeros((len(curves) - 1, curves.shape[1]), np.float32)
        weights[first:] = 1
        return Batch(curves[:-1], curves[1:], float(weights.sum()), weights)

    def loss(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        return squared_error(outputs, targets, 1, weights)


@lru_cache(maxsize=64)
def drawn(task: Oscillator, count: int, seed: int) -> np.ndarray:
    """`count` curves [T + 1, count, 1] of the stream `seed`, by the classical Runge-Kutta method."""
    x, v = rng(seed, -1, count).uniform(-2, 2, (2, count))
    h = task.step / FINER

    def slope(x: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.stack([v, task.damping * (1 - x**2) * v - x])

    curve = [x]
    for _ in range(task.settled + task.warm_up + task.steps):
        for _ in range(FINER):
            k1 = slope(x, v)
            k2 = slope(*(np.stack([x, v]) + h / 2 * k1))
            k3 = slope(*(np.stack([x, v]) + h / 2 * k2))
            k4 = slope(*(np.stack([x, v]) + h * k3))
            x, v = np.stack([x, v]) + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        curve.append(x)
    return np.stack(curve[task.settled :])[..., None].astype(np.float32)
