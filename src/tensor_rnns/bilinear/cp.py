"""The bilinear product z = x^T W y with the tensor W as a sum of rank-one terms (CANDECOMP/PARAFAC)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.base import Form


@dataclass(frozen=True)
class CP(Form):
    """W_ijk = sum_r A_ri B_rj C_rk, mathews2016 section 3.3.1; factors are stored [rank, dimension] as there.

    With `append_one` A and C have one column more, their last: the biases b_x and b_y of section 4.1.1. There
    are rank (left + out + right) numbers, with 1 more for x and for y when a 1 is appended. The default
    initial values are U(+-sqrt(3 / rank)) for all three factors.
    """

    kind: ClassVar[str] = "cp"
    rank: int
    append_one: bool = False
    prefix: str = ""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        more = int(self.append_one)
        sizes = {"A": self.left + more, "B": self.out, "C": self.right + more}
        return {self.prefix + name: (self.rank, size) for name, size in sizes.items()}

    def product(self, params: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """z = B^T (A x * C y), proposition 3.3.1; with appended ones z = B^T ((A x + b_x) * (C y + b_y))."""
        a, b, c = (params[self.prefix + name] for name in "ABC")
        if self.append_one:
            return ((x @ a[..., :-1].mT + a[..., -1:].mT) * (y @ c[..., :-1].mT + c[..., -1:].mT)) @ b
        return ((x @ a.mT) * (y @ c.mT)) @ b

    def reconstruct(self, params: Mapping[str, Tensor]) -> Tensor:
        """sum_r A_ri B_rj C_rk."""
        a, b, c = (params[self.prefix + name] for name in "ABC")
        return torch.einsum("...ri,...rj,...rk->...ijk", a, b, c)
