"""Cells that add to their state, CP+ and CP-Delta of mathews2016 section 5.1.3."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import ACTIVATIONS, TensorCell


@dataclass(frozen=True)
class CPPlus(TensorCell):
    """CP+: h_t = h_{t-1} + rho(x_t^T W h_{t-1} + U x_t + b) with rho = ReLU, section 5.1.3.

    With ReLU the state never decreases; `activation: tanh` makes the candidates of equation 4.2 bounded
    (section 4.2.1). Parameters: W in CP form A [R, I], B [R, H], C [R, H], then U [I, H], b [1, H].
    Initial values of the authors' code: factors of spectral norm 1 / 1.5, U from U(+-1.4 sqrt(3 / I)), b
    zero.
    """

    name: ClassVar[str] = "cp_plus"
    activation: Literal["relu", "tanh"] = "relu"
    factors: Scheme = "spectral_norm(0.6666666666666666)"
    input_weights: Scheme = "scaled_unit(1.4)"
    bias: Scheme = "zeros"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        return {
            "U": ((self.inputs, self.hidden), self.input_weights),
            "b": ((1, self.hidden), self.bias),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        return (h + ACTIVATIONS[self.activation](self.tensor.product(p, x, h) + x @ p["U"] + p["b"]),)


@dataclass(frozen=True)
class CPDelta(TensorCell):
    """CP-Delta: h_t = h_{t-1} + a_t - b_t, a_t = rho(x~_t^T W_a h~_{t-1}), b_t = rho(x~_t^T W_b h~_{t-1}).

    Section 5.1.3, which prints y~ for h~_{t-1}; rho = ReLU, x~ = (x, 1), h~ = (h, 1). Before use every
    parameter is divided by its Frobenius norm, or each of its rows (last axis) by its norm (`normalise`); the
    gradient passes through the division. Parameters in CP form: a_A [R, I + 1], a_B [R, H], a_C [R, H + 1] of
    W_a, b_A, b_B, b_C of W_b. Initial values of the authors' code: spectral norm 1 / 1.1.
    """

    name: ClassVar[str] = "cp_delta"
    append_one: ClassVar[bool] = True
    prefixes: ClassVar[tuple[str, ...]] = ("a_", "b_")
    normalise: Literal["frobenius", "none", "rows"] = "frobenius"
    factors: Scheme = "spectral_norm(0.9090909090909091)"

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        w = self.normalised(p)
        a, b = (torch.relu(tensor.product(w, x, h)) for tensor in self.forms)
        return (h + a - b,)

    def normalised(self, p: dict[str, Tensor]) -> dict[str, Tensor]:
        """The parameters as the products see them."""
        if self.normalise == "none":
            return p
        values = {}
        for name, shape in self.shapes().items():
            axes = (-1,) if self.normalise == "rows" else tuple(range(-len(shape), 0))
            values[name] = p[name] / torch.linalg.vector_norm(p[name], dim=axes, keepdim=True)
        return values
