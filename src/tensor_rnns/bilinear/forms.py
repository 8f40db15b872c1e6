"""Bilinear forms z = x^T W y: the tensor W written out, as a sum of rank-one terms, or as a tensor train."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.declared import is_whole


@dataclass(frozen=True)
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
        for field in fields(self):
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
