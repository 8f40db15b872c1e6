"""Generalised multiplicative RNN, mathews2016 section 4.1.2, biases separate or inside the tensor."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns import bilinear
from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell


@dataclass(frozen=True)
class Multiplicative(Cell):
    """A cell whose new state is a bilinear form of input and old state.

    `form` is that of the tensor and `rank` its rank: both ranks of a tensor train, none for the full tensor.
    """

    inputs: int
    hidden: int
    rank: int | None = None
    form: Literal["cp", "tensor_train", "full"] = "cp"
    factors: Scheme = "spectral_norm(2)"

    def tensors(self) -> tuple[bilinear.Form, ...]:
        """The tensor alone."""
        return (self.tensor,)


@dataclass(frozen=True)
class GMR(Multiplicative):
    """h_t = tanh(x_t^T W h_{t-1} + U h_{t-1} + V x_t + b), section 4.1.2.

    Parameters: W in CP form (proposition 3.3.1) A [R, I], B [R, H], C [R, H], or in another form (see
    `bilinear`); U [H, H], V [I, H], b [1, H]. Initial values of the authors' code: factors of spectral norm
    2, U the identity, V from U(+-sqrt(3 / I)), b zero.
    """

    name: ClassVar[str] = "gmr"
    recurrent_weights: Scheme = "identity"
    input_weights: Scheme = "unit_scaling"
    bias: Scheme = "zeros"

    @cached_property
    def tensor(self) -> bilinear.Form:
        """The three-way tensor of input, new state and old state."""
        return bilinear.form(self.form, self.inputs, self.hidden, self.hidden, self.rank)

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        """U, V, b."""
        return {
            "U": ((self.hidden, self.hidden), self.recurrent_weights),
            "V": ((self.inputs, self.hidden), self.input_weights),
            "b": ((1, self.hidden), self.bias),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h) + h @ p["U"] + x @ p["V"] + p["b"]),)


@dataclass(frozen=True)
class GMRC(Multiplicative):
    """GMR with its biases inside the tensor: h_t = tanh(x~_t^T W~ h~_{t-1}), x~ = (x, 1), h~ = (h, 1).

    Sections 4.1.1 and 4.1.2. In CP form h_t = tanh(B^T ((A x_t + b_x) * (C h_{t-1} + b_h))) with parameters
    A [R, I + 1], B [R, H], C [R, H + 1]; b_x and b_h are the last columns of A and C, and there is no other
    bias. Initial values: factors of spectral norm 2.
    """

    name: ClassVar[str] = "gmr_c"

    @cached_property
    def tensor(self) -> bilinear.Form:
        """The tensor of (x, 1), new state and (h, 1)."""
        return bilinear.form(self.form, self.inputs, self.hidden, self.hidden, self.rank, append_one=True)

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h)),)
