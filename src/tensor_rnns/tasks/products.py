"""Learning products of two vectors: a random bilinear one, mathews2016 section 3.4.2, and the one element by
element, section 3.4.3."""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import bilinear
from tensor_rnns.declared import Positive
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.base import Batch, Generated

RUN = -1
"""Position in a replica's data stream from which all that is fixed for its run is drawn."""


class Product(Generated):
    """x and y with `size` numbers each, one after the other; the target has `size` numbers.

    Every training batch is new. The splits valid and test have 16,384 items each, the same x and y for every
    seed, with the answers of its run. The loss is the squared error, averaged over batch and elements.
    """

    own_evaluation: ClassVar[bool] = True
    parts = 16
    part_size = 1024

    @property
    def inputs(self) -> int:
        return 2 * self.size

    @property
    def outputs(self) -> int:
        return self.size

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Mean squared error over batch and elements, [S]; outputs and targets [S, B, size]."""
        return (outputs - targets).square().mean((-2, -1))


@dataclass(frozen=True)
class RandomProduct(Product):
    """x and y with `size` numbers each from U[-1, 1); the target is x^T T y, with T fixed for the run.

    The tensor T is `size` x `size` x `size`, in the form `target` with the rank `target_rank` (both ranks of
    a tensor train), and has factors from N(0, `deviation`^2): `factors: independent`, or `equal` as in the
    authors' runs (see `bilinear.equal_factors`). The best constant answer is 0; `baseline` is what it scores
    in the mean over all targets. T belongs to the data stream of the replica, and so do its splits; their
    metric `zero` is what 0 scores for this very T.
    """

    name: ClassVar[str] = "random_product"
    batch_size: int
    target_rank: int
    target: Literal["cp", "tensor_train"] = "cp"
    size: int = 100
    deviation: Positive = 0.1
    factors: Literal["independent", "equal"] = "independent"

    @property
    def form(self) -> bilinear.Form:
        return bilinear.form(self.target, self.size, self.size, self.size, self.target_rank)

    @property
    def baseline(self) -> float:
        """The mean square of an element of the target, over inputs and tensors.

        An element of x has the mean square 1/3, so this is a ninth of the mean of sum_ik T_ijk^2. With N =
        `size`, R = `target_rank`, s = `deviation` and independent factors it is R N^2 s^6 / 9 in CP form and
        R^2 N^2 s^6 / 9 for a tensor train. Equal factors have higher moments: R (N + 2) (N + 4) s^6 / 9 in CP
        form, and for a tensor train, whose core shares N R of its R^2 N numbers with the matrices, the sum
        below.
        """
        n, r = self.size, self.target_rank
        if self.factors == "independent":
            count: float = r * n**2 if self.target == "cp" else r**2 * n**2
        elif self.target == "cp":
            count = r * (n + 2) * (n + 4)
        else:
            shared = (n + 2) * (n + 4) + (r - 1) * (n * (n + 2) + 2 * (n + 2) + (r - 2) * n)
            count = shared + (r - 1) * n * (n + 2) + (r - 1) ** 2 * n**2
        return count * self.deviation**6 / 9

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh pairs for the target of `seed`: inputs [items, 2 size], targets [items, size]."""
        inputs = 2 * generator.random((items, 2 * self.size), np.float32) - 1
        x, y = torch.from_numpy(inputs).chunk(2, dim=-1)
        return Batch(inputs, self.form.product(target(self, seed), x, y).numpy(), items)

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """loss, and zero: what always answering 0 scores, the scale on which the loss is judged."""
        return super().metrics(outputs, targets) | {"zero": targets.square().mean((-2, -1))}


@lru_cache(maxsize=64)
def target(task: RandomProduct, seed: int) -> dict[str, Tensor]:
    """The factors of the target of the run `seed`, float32."""
    generator, scheme = rng(seed, RUN, task.target_rank), {"normal": task.deviation}
    if task.factors == "equal":
        drawn = bilinear.equal_factors(task.form, generator, scheme)
    else:
        drawn = task.form.initialise(generator, scheme)
    return {name: torch.from_numpy(value.astype(np.float32)) for name, value in drawn.items()}


@dataclass(frozen=True)
class ElementwiseProduct(Product):
    """x and y of `size` fair bits each; the target is x * y, element by element.

    With `permuted` the elements of the target change places, by one permutation for the whole run. With
    `values` both x and y are copies of that many fair bits: each bit stands at fixed places, as many for each
    as can be, drawn for the run and for x and y apart. The best constant answer, 1/4, scores 3/16 = 0.1875
    with or without structure; the best affine function of the two bits scores 1/16. Places and permutation
    belong to the data stream of the replica, and so do its splits.
    """

    name: ClassVar[str] = "elementwise_product"
    batch_size: int
    size: int = 100
    permuted: bool = False
    values: int | None = None

    baseline = 3 / 16

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.values is not None and self.values > self.size:
            raise ValueError(
                f"task {self.name}: values = {self.values} given; allowed: at most size = {self.size}"
            )

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh pairs of the run `seed`: inputs [items, 2 size], targets [items, size]."""
        left, right, order = fixed(self, seed)
        bits = generator.integers(0, 2, (items, 2 * (self.values or self.size)), np.uint8)
        bits = bits.astype(np.float32)
        inputs = bits if self.values is None else bits[:, np.concatenate([left, right + self.values])]
        product = inputs[:, : self.size] * inputs[:, self.size :]
        return Batch(inputs, product[:, order] if self.permuted else product, items)


@lru_cache(maxsize=64)
def fixed(task: ElementwiseProduct, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is fixed for the run `seed`: which of the `values` stands at each place of x and of y, and which
    element of the product at each place of a permuted target."""
    generator = rng(seed, RUN, task.size)
    order = generator.permutation(task.size)
    spread = np.arange(task.size) % (task.values or task.size)
    return generator.permutation(spread), generator.permutation(spread), order
