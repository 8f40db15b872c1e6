"""A memory that is addressed by what its cells hold, chapter10 section 12."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Positive

TINY = 1e-6
"""Beside the square of a norm."""


@dataclass(frozen=True)
class ContentMemory(Cell):
    """`cells` N vectors c_n of `width` D, written and read where they are like a query.

    x_t W + h_{t-1} U + b has the parts q, k, e and v of D numbers and z of H. w = softmax_n(s cos(k, c_n))
    says which cells change: c_n <- (1 - w_n sigma(e)) c_n + w_n sigma(e) tanh(v), `write_bias` added to e.
    Then r_t = sum_n u_n c_n is read with u = softmax_n(s cos(q, c_n)), and h_t = tanh(z + r_t V). Cells begin
    at C, which is trained; the state m is what they are beyond it. Parameters W [I, 4 D + H],
    U [H, 4 D + H], b [1, 4 D + H], V [D, H], C [N, D], s [1, 1]. States h [H], m [N, D].
    """

    name: ClassVar[str] = "content_memory"
    states: ClassVar[tuple[str, ...]] = ("h", "m")
    inputs: int
    hidden: int
    cells: int = 4
    width: int = 8
    sharpness: Positive = 5.0
    write_bias: float = -4.0
    weights: Scheme = "scaled_unit(0.5773502691896258)"

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.hidden,), "m": (self.cells, self.width)}

    def matrices(self) -> dict:
        wide = 4 * self.width + self.hidden
        return {
            "W": ((self.inputs, wide), self.weights),
            "U": ((self.hidden, wide), self.weights),
            "b": ((1, wide), "zeros"),
            "V": ((self.width, self.hidden), self.weights),
            "C": ((self.cells, self.width), "normal(1)"),
            "s": ((1, 1), f"constant({self.sharpness})"),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, m = state
        sizes = [self.width] * 4 + [self.hidden]
        q, k, e, v, z = (x @ p["W"] + h @ p["U"] + p["b"]).split(sizes, -1)
        start = p["C"].unsqueeze(-3)
        c = m + start
        share = like(p["s"], k, c) * torch.sigmoid(e + self.write_bias).unsqueeze(-2)
        c = c * (1 - share) + torch.tanh(v).unsqueeze(-2) * share
        r = (like(p["s"], q, c) * c).sum(-2)
        return torch.tanh(z + r @ p["V"]), c - start


def like(sharpness: Tensor, query: Tensor, cells: Tensor) -> Tensor:
    """softmax_n(s cos(query, c_n)) [.., N, 1] of a query [.., D] and cells [.., N, D]."""
    query = query.unsqueeze(-2)
    inner = (query * cells).sum(-1, keepdim=True)
    norms = (query.square().sum(-1, keepdim=True) + TINY) * (cells.square().sum(-1, keepdim=True) + TINY)
    return torch.softmax(sharpness.unsqueeze(-1) * inner * torch.rsqrt(norms), -2)
