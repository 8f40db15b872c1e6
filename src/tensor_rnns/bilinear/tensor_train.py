"""The bilinear product z = x^T W y with the tensor W as a train of a matrix, a small tensor and a matrix."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.base import Form


@dataclass(frozen=True)
class TensorTrain(Form):
    """W_ijk = sum_pq A_ip B_pjq C_qk, mathews2016 section 3.3.2, with its order of indices and its shapes.

    A is [left, left_rank], B [left_rank, out, right_rank], C [right_rank, right]; the ranks are r_1 and r_2
    there. With `append_one` A has one row and C one column more, their last. There are left_rank left +
    left_rank out right_rank + right_rank right numbers: 28,800 for 100 x 100 x 100 and ranks 16, 16.
    """

    kind: ClassVar[str] = "tensor_train"
    left_rank: int
    right_rank: int
    append_one: bool = False
    prefix: str = ""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        more = int(self.append_one)
        shapes = {
            "A": (self.left + more, self.left_rank),
            "B": (self.left_rank, self.out, self.right_rank),
            "C": (self.right_rank, self.right + more),
        }
        return {self.prefix + name: shape for name, shape in shapes.items()}

    def product(self, params: Mapping[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        """z_j = (x^T A) B_.j. (C y), equation 3.7.

        The small product is one with a matrix, lemma 3.2.2: its columns are all products of an entry of x^T A
        with one of C y, and it is faster than a product for each row of the batch.
        """
        a, b, c = (params[self.prefix + name] for name in "ABC")
        if self.append_one:
            u, v = x @ a[..., :-1, :] + a[..., -1:, :], y @ c[..., :-1].mT + c[..., -1:].mT
        else:
            u, v = x @ a, y @ c.mT
        pairs = (u.unsqueeze(-1) * v.unsqueeze(-2)).flatten(-2)
        return pairs @ b.mT.flatten(-3, -2)

    def reconstruct(self, params: Mapping[str, Tensor]) -> Tensor:
        """sum_pq A_ip B_pjq C_qk."""
        a, b, c = (params[self.prefix + name] for name in "ABC")
        return torch.einsum("...ip,...pjq,...qk->...ijk", a, b, c)
