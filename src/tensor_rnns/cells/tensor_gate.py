"""Tensor gate unit, mathews2016 section 4.3.2, with the biases of its gate separate or inside the tensor."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import ACTIVATIONS, TensorCell


@dataclass(frozen=True)
class TensorGate(TensorCell):
    """h_t = p_t * h_{t-1} + (1 - p_t) * z_t (4.5), z_t = f(W_in x_t + b_in) (4.7); a cell says its gate p_t.

    `gate: forget` takes h_t = p_t * h_{t-1} + z_t instead (section 4.2.2). Section 4.3.1 found ReLU and the
    identity (`linear`) to be the best f. It takes the state out of the candidate; `candidate_state` puts it
    back, z_t = f(W_in x_t + U_in h_{t-1} + b_in). The tensor, of rank R, is the gate's. Parameters W_in
    [I, H], U_in [H, H], b_in [1, H]. Initial values of the authors' code: factors from U(+-sqrt(3 / R)),
    matrices from U(+-sqrt(3 / rows)), biases zero.
    """

    candidate: Literal["relu", "linear", "tanh", "sigmoid"] = "relu"
    candidate_state: bool = False
    gate: Literal["convex", "forget"] = "convex"
    factors: Scheme = "unit_scaling"
    weights: Scheme = "unit_scaling"
    candidate_bias: Scheme = "zeros"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        state = {"U_in": ((self.hidden, self.hidden), self.weights)} if self.candidate_state else {}
        bias = {"b_in": ((1, self.hidden), self.candidate_bias)}
        return {"W_in": ((self.inputs, self.hidden), self.weights)} | state | bias

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        gate, z = self.gate_and_candidate(p, x, h)
        return (gate * h + (1 - gate) * z if self.gate == "convex" else gate * h + z,)

    def gate_and_candidate(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """(p_t, z_t); probes look at them."""
        gate = self.gate_signal(p, x, h)
        u = h @ p["U_in"] + p["b_in"] if self.candidate_state else p["b_in"]
        return gate, ACTIVATIONS[self.candidate](x @ p["W_in"] + u)

    def gate_signal(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> Tensor:
        """p_t of the tensor alone, as where it holds the biases."""
        return torch.sigmoid(self.tensor.product(p, x, h))


@dataclass(frozen=True)
class TGU(TensorGate):
    """Tensor gate unit with separate biases: p_t = sigma(x_t^T W h_{t-1} + U h_{t-1} + V x_t + b) (4.6).

    In CP form (section 4.3.2) x_t^T W h_{t-1} = B^T (A x_t * C h_{t-1}) with parameters A [R, I], B [R, H], C
    [R, H]; then U [H, H], V [I, H], b [1, H] and those of the candidate.
    """

    name: ClassVar[str] = "tgu"
    gate_bias: Scheme = "zeros"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        gate = {
            "U": ((self.hidden, self.hidden), self.weights),
            "V": ((self.inputs, self.hidden), self.weights),
            "b": ((1, self.hidden), self.gate_bias),
        }
        return gate | super().matrices()

    def gate_signal(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> Tensor:
        return torch.sigmoid(self.tensor.product(p, x, h) + h @ p["U"] + x @ p["V"] + p["b"])


@dataclass(frozen=True)
class TGUC(TensorGate):
    """Tensor gate unit with the biases of its gate inside the tensor: p_t = sigma(x~_t^T W~ h~_{t-1}) (4.6).

    x~ = (x, 1) and h~ = (h, 1). In CP form (section 4.3.2) p_t = sigma(B^T ((A x_t + b_x) * (C h_{t-1} +
    b_h))) with parameters A [R, I + 1], B [R, H], C [R, H + 1]; b_x and b_h are the last columns of A and C.
    Then come those of the candidate.
    """

    name: ClassVar[str] = "tgu_c"
    append_one: ClassVar[bool] = True
