"""Cells that replace their whole state at each step: vanilla and IRNN."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.bilinear.initialisers import draw
from tensor_rnns.cells.base import ACTIVATIONS, Cell


class Simple(Cell):
    """h_t = f(W x_t + U h_{t-1} + b), mathews2016 equation 2.2 (W and U have changed places).

    Parameters W [I, H], U [H, H], b [1, H].
    """

    def shapes(self) -> dict[str, tuple[int, int]]:
        """W, U, b."""
        return {"W": (self.inputs, self.hidden), "U": (self.hidden, self.hidden), "b": (1, self.hidden)}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Each parameter from its own scheme."""
        schemes = {"W": self.input_weights, "U": self.recurrent_weights, "b": self.bias}
        return {name: draw(schemes[name], shape, rng) for name, shape in self.shapes().items()}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """(h_t,)."""
        (h,) = state
        return (ACTIVATIONS[self.activation](x @ p["W"] + h @ p["U"] + p["b"]),)


@dataclass(frozen=True)
class Vanilla(Simple):
    """Equation 2.2 with f = tanh.

    Initial values of the authors' code: U from U(+-sqrt(3 / H)), W normal with standard deviation 0.15, b
    zero.
    """

    name: ClassVar[str] = "vanilla"
    inputs: int
    hidden: int
    activation: Literal["tanh", "relu"] = "tanh"
    input_weights: str | dict = "normal(0.15)"
    recurrent_weights: str | dict = "unit_scaling"
    bias: str | dict = "zeros"


@dataclass(frozen=True)
class IRNN(Simple):
    """Equation 2.2 with f = ReLU and U started as the identity; mathews2016 section 5.1, Le et al. 2015."""

    name: ClassVar[str] = "irnn"
    inputs: int
    hidden: int
    activation: Literal["tanh", "relu"] = "relu"
    input_weights: str | dict = "normal(0.15)"
    recurrent_weights: str | dict = "identity"
    bias: str | dict = "zeros"
