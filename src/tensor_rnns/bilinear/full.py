"""The bilinear product z = x^T W y with the tensor W written out."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from tensor_rnns.bilinear.base import Form


@dataclass(frozen=True)
class Full(Form):
    """W [left, out, right] itself, mathews2016 section 3.1; with `append_one` [left + 1, out, right + 1].

    With appended ones this is equation 4.1: W_ijk, a matrix for x, one for y and a vector, all free.
    """

    kind: ClassVar[str] = "full"
    append_one: bool = False
    prefix: str = ""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        more = int(self.append_one)
        return {self.prefix + "W": (self.left + more, self.out, self.right + more)}

    def product(self, params: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """z_j = sum_k (sum_i W_ijk x_i) y_k: a product of x with one matrix, then one matrix a row for y."""
        w = params[self.prefix + "W"]
        if not self.append_one:
            chosen = (x @ w.flatten(-2)).unflatten(-1, w.shape[-2:])
            return (chosen * y.unsqueeze(-2)).sum(-1)
        chosen = x @ w[..., :-1, :, :].flatten(-2) + w[..., -1:, :, :].flatten(-2)
        chosen = chosen.unflatten(-1, w.shape[-2:])
        return (chosen[..., :-1] * y.unsqueeze(-2)).sum(-1) + chosen[..., -1]

    def reconstruct(self, params: Mapping[str, Tensor]) -> Tensor:
        return params[self.prefix + "W"]
