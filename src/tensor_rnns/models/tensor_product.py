"""A bilinear product alone, learnt as a function of two vectors: mathews2016 sections 3.4.2 and 3.4.3."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns import bilinear
from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.engine import Params
from tensor_rnns.models.feedforward import Feedforward


@dataclass(frozen=True)
class TensorProduct(Feedforward):
    """z = x^T W y for inputs that are x and y of equal size, one after the other; no biases.

    W is in `form` with `rank` (both ranks of a tensor train; none for the full tensor), parameters tensor/...
    All begin with `initialiser`; `factors: equal` lets the factors begin with the same numbers, as in the
    authors' runs (see `bilinear.equal_factors`).
    """

    name: ClassVar[str] = "tensor_product"
    form: Literal["cp", "tensor_train", "full"] = "cp"
    rank: int | None = None
    factors: Literal["independent", "equal"] = "independent"
    initialiser: Scheme = "normal(0.1)"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inputs % 2:
            raise ValueError(
                f"model {self.name}: {self.inputs} inputs given; allowed: an even number of them"
            )

    @property
    def tensor(self) -> bilinear.Form:
        """The form of W."""
        half = self.inputs // 2
        return bilinear.form(self.form, half, self.outputs, half, self.rank, prefix="tensor/")

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.tensor.shapes()

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        if self.factors == "equal":
            return bilinear.equal_factors(self.tensor, rng, self.initialiser)
        return self.tensor.initialise(rng, self.initialiser)

    def outputs_of(self, params: Params, x: Tensor) -> Tensor:
        left, right = x.chunk(2, dim=-1)
        return self.tensor.product(params, left, right)
