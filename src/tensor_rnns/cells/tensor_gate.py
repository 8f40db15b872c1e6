"""Tensor gate unit, mathews2016 section 4.3.2, with its biases separate or inside the decomposition."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.cp import CP
from tensor_rnns.bilinear.initialisers import draw
from tensor_rnns.cells.base import ACTIVATIONS, Cell


@dataclass(frozen=True)
class TGU(Cell):
    """Tensor gate unit with separate biases.

    p_t = sigma(B^T (A x_t * C h_{t-1}) + U h_{t-1} + V x_t + b)   (4.6, CP form of section 4.3.2)
    z_t = f(W_in x_t + b_in)                                        (4.7), f = ReLU or the identity
    h_t = p_t * h_{t-1} + (1 - p_t) * z_t                           (4.5)
    `gate: forget` takes h_t = p_t * h_{t-1} + z_t instead (section 4.2.2). Parameters A [R, I], B [R, H], C
    [R, H], U [H, H], V [I, H], b [1, H], W_in [I, H], b_in [1, H]. Initial values of the authors' code:
    factors from U(+-sqrt(3 / R)), matrices from U(+-sqrt(3 / rows)), biases zero.
    """

    name: ClassVar[str] = "tgu"
    inputs: int
    hidden: int
    rank: int
    candidate: Literal["relu", "linear"] = "relu"
    gate: Literal["convex", "forget"] = "convex"
    factors: str | dict = "unit_scaling"
    weights: str | dict = "unit_scaling"
    gate_bias: str | dict = "zeros"
    candidate_bias: str | dict = "zeros"

    @property
    def tensor(self) -> CP:
        """The three-way tensor of input, gate and old state."""
        return CP(self.inputs, self.hidden, self.hidden, self.rank)

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Factors, then U, V, b of the gate, then W_in, b_in of the candidate."""
        i, h = self.inputs, self.hidden
        return self.tensor.shapes() | {"U": (h, h), "V": (i, h), "b": (1, h), "W_in": (i, h), "b_in": (1, h)}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Factors first, then the matrices and biases in the order of `shapes`."""
        gate = {"U": self.weights, "V": self.weights, "b": self.gate_bias}
        schemes = gate | {"W_in": self.weights, "b_in": self.candidate_bias}
        shapes = self.shapes()
        factors = self.tensor.initialise(rng, self.factors)
        return factors | {name: draw(scheme, shapes[name], rng) for name, scheme in schemes.items()}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        gate, z = self.gate_and_candidate(p, x, h)
        return (gated(self.gate, gate, h, z),)

    def gate_and_candidate(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """(p_t, z_t), equations 4.6 and 4.7; probes look at them."""
        gate = torch.sigmoid(self.tensor.product(p, x, h) + h @ p["U"] + x @ p["V"] + p["b"])
        z = ACTIVATIONS[self.candidate](x @ p["W_in"] + p["b_in"])
        return gate, z


@dataclass(frozen=True)
class TGUC(Cell):
    """Tensor gate unit with the biases of its gate inside the decomposition.

    p_t = sigma(B^T ((A x_t + b_x) * (C h_{t-1} + b_h))), section 4.3.2; candidate and state as in the TGU
    (4.7, 4.5). Parameters A [R, I + 1], B [R, H], C [R, H + 1], W_in [I, H], b_in [1, H]; b_x and b_h are the
    last columns of A and C. Initial values as in the TGU.
    """

    name: ClassVar[str] = "tgu_c"
    inputs: int
    hidden: int
    rank: int
    candidate: Literal["relu", "linear"] = "relu"
    gate: Literal["convex", "forget"] = "convex"
    factors: str | dict = "unit_scaling"
    weights: str | dict = "unit_scaling"
    candidate_bias: str | dict = "zeros"

    @property
    def tensor(self) -> CP:
        """The tensor of (x, 1), gate and (h, 1)."""
        return CP(self.inputs, self.hidden, self.hidden, self.rank, append_one=True)

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Factors, then W_in, b_in of the candidate."""
        return self.tensor.shapes() | {"W_in": (self.inputs, self.hidden), "b_in": (1, self.hidden)}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Factors first, then W_in, b_in."""
        schemes = {"W_in": self.weights, "b_in": self.candidate_bias}
        shapes = self.shapes()
        factors = self.tensor.initialise(rng, self.factors)
        return factors | {name: draw(scheme, shapes[name], rng) for name, scheme in schemes.items()}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        gate, z = self.gate_and_candidate(p, x, h)
        return (gated(self.gate, gate, h, z),)

    def gate_and_candidate(self, p: dict[str, Tensor], x: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
        """(p_t, z_t), section 4.3.2 and equation 4.7; probes look at them."""
        gate = torch.sigmoid(self.tensor.product(p, x, h))
        z = ACTIVATIONS[self.candidate](x @ p["W_in"] + p["b_in"])
        return gate, z


def gated(kind: str, p: Tensor, h: Tensor, z: Tensor) -> Tensor:
    """p h + (1 - p) z for the convex gate, p h + z for the forget gate; mathews2016 section 4.2.2."""
    return p * h + (1 - p) * z if kind == "convex" else p * h + z
