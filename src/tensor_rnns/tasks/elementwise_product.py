"""Learning to multiply element by element: mathews2016 section 3.4.3."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.experiments.seeds import rng
from tensor_rnns.tasks.base import Batch, Task

ITEMS = 16_384
ITEMS_PER_BATCH = 1024
SPLITS = {"valid": 1, "test": 2}
RUN = -1
"""Position in a replica's data stream from which all that is fixed for its run is drawn."""


@dataclass(frozen=True)
class ElementwiseProduct(Task):
    """x and y of `size` fair bits each; the target is x * y, element by element.

    Inputs are x and y one after the other. With `permuted` the elements of the target change places, by one
    permutation for the whole run. With `values` both x and y are copies of that many fair bits: each bit
    stands at fixed places, as many for each as can be, drawn for the run and for x and y apart. The loss is
    the squared error, averaged over batch and elements. The best constant answer, 1/4, scores 3/16 = 0.1875
    with or without structure; the best affine function of the two bits scores 1/16. Places and permutation
    belong to the data stream of the replica, and so do its splits valid and test of 16,384 items.
    """

    name: ClassVar[str] = "elementwise_product"
    own_evaluation: ClassVar[bool] = True
    batch_size: int
    size: int = 100
    permuted: bool = False
    values: int | None = None

    baseline = 3 / 16
    updates_per_epoch = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values is not None and self.values > self.size:
            raise ValueError(
                f"task {self.name}: values = {self.values} given; allowed: at most size = {self.size}"
            )

    @property
    def inputs(self) -> int:
        """Both vectors."""
        return 2 * self.size

    @property
    def outputs(self) -> int:
        """One vector."""
        return self.size

    def generate(self, seed: int, generator: np.random.Generator, items: int) -> Batch:
        """`items` fresh pairs of the run `seed`: inputs [items, 2 size], targets [items, size]."""
        left, right, order = fixed(self, seed)
        bits = generator.integers(0, 2, (items, 2 * (self.values or self.size)), np.uint8)
        bits = bits.astype(np.float32)
        inputs = bits if self.values is None else bits[:, np.concatenate([left, right + self.values])]
        product = inputs[:, : self.size] * inputs[:, self.size :]
        return Batch(inputs, product[:, order] if self.permuted else product, items)

    def batch(self, seed: int, update: int) -> Batch:
        """Fresh pairs for this seed and update."""
        return self.generate(seed, rng(seed, update), self.batch_size)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """16,384 pairs with the places and the permutation of this seed."""
        if split not in SPLITS:
            raise ValueError(f"task {self.name}: split {split!r} asked for; allowed: {', '.join(SPLITS)}")
        for part in range(ITEMS // ITEMS_PER_BATCH):
            yield self.generate(seed, rng(0, SPLITS[split], part), ITEMS_PER_BATCH)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Mean squared error over batch and elements, [S]; outputs and targets [S, B, size]."""
        return (outputs - targets).square().mean((-2, -1))

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """loss: the mean squared error."""
        return {"loss": self.loss(outputs, targets)}


@lru_cache(maxsize=64)
def fixed(task: ElementwiseProduct, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is fixed for the run `seed`: which of the `values` stands at each place of x and of y, and which
    element of the product at each place of a permuted target."""
    generator = rng(seed, RUN, task.size)
    order = generator.permutation(task.size)
    spread = np.arange(task.size) % (task.values or task.size)
    return generator.permutation(spread), generator.permutation(spread), order
