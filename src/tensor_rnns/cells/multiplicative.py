"""Generalised multiplicative RNN, mathews2016 section 4.1.2, biases separate or inside the decomposition."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.cp import CP
from tensor_rnns.bilinear.initialisers import draw
from tensor_rnns.cells.base import Cell


@dataclass(frozen=True)
class GMR(Cell):
    """h_t = tanh(x_t^T W h_{t-1} + U h_{t-1} + V x_t + b), section 4.1.2; W in CP form (proposition 3.3.1).

    Parameters A [R, I], B [R, H], C [R, H], U [H, H], V [I, H], b [1, H]. Initial values of the authors'
    code: factors of spectral norm 2, U the identity, V from U(+-sqrt(3 / I)), b zero.
    """

    name: ClassVar[str] = "gmr"
    inputs: int
    hidden: int
    rank: int
    factors: str | dict = "spectral_norm(2)"
    recurrent_weights: str | dict = "identity"
    input_weights: str | dict = "unit_scaling"
    bias: str | dict = "zeros"

    @property
    def tensor(self) -> CP:
        """The three-way tensor of input, new state and old state."""
        return CP(self.inputs, self.hidden, self.hidden, self.rank)

    def shapes(self) -> dict[str, tuple[int, int]]:
        """Factors, then U, V, b."""
        h = self.hidden
        return self.tensor.shapes() | {"U": (h, h), "V": (self.inputs, h), "b": (1, h)}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Factors first, then U, V, b, each from its scheme."""
        schemes = {"U": self.recurrent_weights, "V": self.input_weights, "b": self.bias}
        shapes = self.shapes()
        factors = self.tensor.initialise(rng, self.factors)
        return factors | {name: draw(scheme, shapes[name], rng) for name, scheme in schemes.items()}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h) + h @ p["U"] + x @ p["V"] + p["b"]),)


@dataclass(frozen=True)
class GMRC(Cell):
    """GMR with biases inside the decomposition: h_t = tanh(B^T ((A x_t + b_x) * (C h_{t-1} + b_h))).

    Sections 4.1.1 and 4.1.2. Parameters A [R, I + 1], B [R, H], C [R, H + 1]; b_x and b_h are the last
    columns of A and C, and there is no other bias. Initial values: factors of spectral norm 2.
    """

    name: ClassVar[str] = "gmr_c"
    inputs: int
    hidden: int
    rank: int
    factors: str | dict = "spectral_norm(2)"

    @property
    def tensor(self) -> CP:
        """The tensor of (x, 1), new state and (h, 1)."""
        return CP(self.inputs, self.hidden, self.hidden, self.rank, append_one=True)

    def shapes(self) -> dict[str, tuple[int, int]]:
        """The factors."""
        return self.tensor.shapes()

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The factors."""
        return self.tensor.initialise(rng, self.factors)

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        return (torch.tanh(self.tensor.product(p, x, h)),)
