"""Generalised multiplicative RNN, mathews2016 section 4.1.2, biases separate or inside the tensor."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import TensorCell


@dataclass(frozen=True)
class GMR(TensorCell):
    """h_t = tanh(x_t^T W h_{t-1} + U h_{t-1} + V x_t + b), section 4.1.2.

    Parameters: W in CP form (proposition 3.3.1) A [R, I], B [R, H], C [R, H], or in another form (see
    `bilinear`); U [H, H], V [I, H], b [1, H]. Initial values of the authors' code: factors of spectral norm
    2, U the identity, V from U(+-sqrt(3 / I)), b zero.
    """

    name: ClassVar[str] = "gmr"
    factors: Scheme = "spectral_norm(2)"
    recurrent_weights: Scheme = "identity"
    input_weights: Scheme = "unit_scaling"
    bias: Scheme = "zeros"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        return {
            "U": ((self.hidden, self.hidden), self.recurrent_weights),
            "V": ((self.inputs, self.hidden), self.input_weights),
            "b": ((1, self.hidden), self.bias),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h) + h @ p["U"] + x @ p["V"] + p["b"]),)


@dataclass(frozen=True)
class GMRC(TensorCell):
    """GMR with its biases inside the tensor: h_t = tanh(x~_t^T W~ h~_{t-1}), x~ = (x, 1), h~ = (h, 1).

    Sections 4.1.1 and 4.1.2. In CP form h_t = tanh(B^T ((A x_t + b_x) * (C h_{t-1} + b_h))) with parameters
    A [R, I + 1], B [R, H], C [R, H + 1]; b_x and b_h are the last columns of A and C, and there is no other
    bias. Initial values: factors of spectral norm 2.
    """

    name: ClassVar[str] = "gmr_c"
    append_one: ClassVar[bool] = True
    factors: Scheme = "spectral_norm(2)"

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h)),)
