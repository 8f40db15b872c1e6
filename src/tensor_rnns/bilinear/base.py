"""What all bilinear forms share: checked sizes, counts and initial values."""

import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.declared import is_whole


@dataclasses.dataclass(frozen=True)
class Form:
    """z = x^T W y (mathews2016 equation 3.2), z_j = sum_ik W_ijk x_i y_k (section 3.2.1), W in some form.

    `left`, `out` and `right` are the sizes of x, z and y. A form has its rank or ranks beside them. With
    `append_one` a constant 1 is appended to x and to y (section 4.1.1), so that W is (left + 1) x out x
    (right + 1). `prefix` stands before the names of the parameters. Parameters may have leading replica axes,
    which x and y then have too.
    """

    kind: ClassVar[str]
    left: int
    out: int
    right: int

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            size = getattr(self, field.name)
            if field.type is int and not is_whole(size, 1):
                raise ValueError(
                    f"{self.kind} form: {field.name} = {size!r} given; allowed: a whole number of at least 1"
                )

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of each parameter, without the replica axis."""
        raise NotImplementedError

    def product(self, params: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """z [..., out] for rows x [..., left] and y [..., right]."""
        raise NotImplementedError

    def reconstruct(self, params: Mapping[str, Tensor]) -> Tensor:
        """The full tensor W [..., left, out, right], sizes with the appended ones."""
        raise NotImplementedError

    def parameter_count(self) -> int:
        """Numbers in all parameters of one replica."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def initialise(self, rng: np.random.Generator, scheme: Scheme = "unit_scaling") -> dict[str, np.ndarray]:
        """Every parameter from `scheme`, one after another, in the order of `shapes`."""
        return {name: draw(scheme, shape, rng) for name, shape in self.shapes().items()}
