"""Addition of two marked numbers: mathews2016 section 5.1.1 and algorithm 1."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, squared_error
from tensor_rnns.tasks.base import Batch, Generated


@dataclass(frozen=True)
class Addition(Generated):
    """T steps of (value, marker); the target at the end is the sum of the two marked values.

    Values are U[0, 1) at every step. `markers: halves` marks one step of the first T // 2 and one of the last
    T // 2, each uniformly; `printed`, as algorithm 1, one of the first T // 2 - 1 and one of the rest;
    `anywhere` two different steps of all T. The loss is the squared error,
    averaged over the batch. The best constant answer, 1, scores the variance of the sum of two uniform
    numbers, 1/6; the thesis prints 0.1767. Each of the splits valid and test has 1,000 fixed items.
    """

    name: ClassVar[str] = "addition"
    lazy: ClassVar[bool] = True
    length: int
    batch_size: int
    markers: Literal["halves", "printed", "anywhere"] = "halves"

    inputs = 2
    outputs = 1
    baseline = 1 / 6

    def __post_init__(self) -> None:
        super().__post_init__()
        fewest = 4 if self.markers == "printed" else 2
        if self.length < fewest:
            raise ValueError(f"task addition: length = {self.length} given; allowed: at least {fewest}")

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh sequences: inputs [T, items, 2], targets [items, 1]."""
        values = generator.random((self.length, items), dtype=np.float32)
        half, everyone = self.length // 2, np.arange(items)
        if self.markers == "halves":
            first = generator.integers(0, half, items)
            second = generator.integers(self.length - half, self.length, items)
        elif self.markers == "printed":
            first = generator.integers(0, half - 1, items)
            second = generator.integers(half - 1, self.length, items)
        else:
            first = generator.integers(0, self.length, items)
            second = (first + generator.integers(1, self.length, items)) % self.length
        marks = np.zeros_like(values)
        marks[first, everyone] = 1
        marks[second, everyone] = 1
        targets = values[first, everyone] + values[second, everyone]
        return Batch(np.stack([values, marks], axis=-1), targets[:, None], items)

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Mean squared error over the batch, [S]; outputs and targets [S, B, 1]."""
        return squared_error(outputs, targets, targets[..., 0, :, :].numel())
