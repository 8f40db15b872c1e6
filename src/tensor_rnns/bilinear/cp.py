"""The bilinear product z = x^T W y with the tensor W as a sum of rank-one terms (CANDECOMP/PARAFAC)."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw


@dataclass(frozen=True)
class CP:
    """W_ijk = sum_r A_ri B_rj C_rk, mathews2016 section 3.3.1; factors are stored [rank, dimension] as there.

    `left`, `out` and `right` are the sizes of x, z and y. With `append_one` a constant 1 is appended to x and
    to y (section 4.1.1), so that A and C have one column more; it is their last. `prefix` stands before the
    names A, B, C.
    """

    left: int
    out: int
    right: int
    rank: int
    append_one: bool = False
    prefix: str = ""

    def __post_init__(self) -> None:
        for name in ("left", "out", "right", "rank"):
            size = getattr(self, name)
            if not isinstance(size, int) or isinstance(size, bool) or size < 1:
                raise ValueError(f"CP form: {name} = {size!r} given; allowed: a whole number of at least 1")

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Name and shape of each factor."""
        more = int(self.append_one)
        sizes = {"A": self.left + more, "B": self.out, "C": self.right + more}
        return {self.prefix + name: (self.rank, size) for name, size in sizes.items()}

    def parameter_count(self) -> int:
        """rank (left + out + right), with one more for x and for y when a 1 is appended."""
        return sum(math.prod(shape) for shape in self.shapes().values())

    def initialise(self, rng: np.random.Generator, scheme: Scheme = "unit_scaling") -> dict[str, np.ndarray]:
        """Factors drawn one after another; unit_scaling gives U(+-sqrt(3 / rank)) for all three."""
        return {name: draw(scheme, shape, rng) for name, shape in self.shapes().items()}

    def product(self, params: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """z = B^T (A x * C y) [..., out], proposition 3.3.1, for rows x [..., left] and y [..., right].

        Factors may have leading replica axes, which x and y then have too. With appended ones
        z = B^T ((A x + b_x) * (C y + b_y)), section 4.1.1, where b_x and b_y are the last columns of A and C.
        """
        a, b, c = (params[self.prefix + name] for name in "ABC")
        if self.append_one:
            return ((x @ a[..., :-1].mT + a[..., -1:].mT) * (y @ c[..., :-1].mT + c[..., -1:].mT)) @ b
        return ((x @ a.mT) * (y @ c.mT)) @ b

    def reconstruct(self, params: Mapping[str, Tensor]) -> Tensor:
        """The full tensor W [..., left, out, right], sizes with the appended ones."""
        a, b, c = (params[self.prefix + name] for name in "ABC")
        return torch.einsum("...ri,...rj,...rk->...ijk", a, b, c)
