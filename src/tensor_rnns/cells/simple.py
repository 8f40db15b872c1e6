"""Cells that replace their whole state at each step: vanilla and IRNN."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import ACTIVATIONS, Cell


@dataclass(frozen=True)
class Simple(Cell):
    """h_t = f(W x_t + U h_{t-1} + b), mathews2016 equation 2.2 (W and U have changed places).

    `activation: linear` is the linear network of its section 2.2.3, f the identity.
    Parameters W [I, H], U [H, H], b [1, H].
    """

    inputs: int
    hidden: int
    activation: Literal["tanh", "relu", "linear"] = "tanh"
    input_weights: Scheme = "normal(0.15)"
    recurrent_weights: Scheme = "unit_scaling"
    bias: Scheme = "zeros"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        return {
            "W": ((self.inputs, self.hidden), self.input_weights),
            "U": ((self.hidden, self.hidden), self.recurrent_weights),
            "b": ((1, self.hidden), self.bias),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        return (ACTIVATIONS[self.activation](x @ p["W"] + h @ p["U"] + p["b"]),)


@dataclass(frozen=True)
class Vanilla(Simple):
    """Equation 2.2 with f = tanh.

    Initial values of the authors' code: U from U(+-sqrt(3 / H)), W normal with standard deviation 0.15, b
    zero.
    """

    name: ClassVar[str] = "vanilla"


@dataclass(frozen=True)
class IRNN(Simple):
    """Equation 2.2 with f = ReLU and U started as the identity; mathews2016 section 5.1, Le et al. 2015.

    W and b begin as in the vanilla cell.
    """

    name: ClassVar[str] = "irnn"
    activation: Literal["tanh", "relu", "linear"] = "relu"
    recurrent_weights: Scheme = "identity"
