"""Layers within a step, chapter10 sections 2.1 and 5: no link between steps, and several layers in it."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import ACTIVATIONS, Cell


@dataclass(frozen=True)
class Dense(Cell):
    """h_t = f(W x_t + b): a layer at each step by itself, without the link from h_{t-1}.

    With the right answers to the step before among x_t it is the net with recurrence from its outputs alone
    (section 2.1); other models take it for a hidden layer below or above a cell.
    """

    name: ClassVar[str] = "dense"
    inputs: int
    hidden: int
    activation: Literal["tanh", "relu", "linear"] = "tanh"
    weights: Scheme = "glorot"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        return {"W": ((self.inputs, self.hidden), self.weights), "b": ((1, self.hidden), "zeros")}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (ACTIVATIONS[self.activation](x @ p["W"] + p["b"]),)


@dataclass(frozen=True)
class DeepTransition(Cell):
    """A transition of `depth` D layers: z_1 = tanh(W x_t + U h_{t-1} + b), z_k = tanh(U_k z_{k-1} + b_k),
    h_t = z_D; section 5.

    With `skip` the last layer also sees the old state, h_t = tanh(U_D z_{D-1} + K h_{t-1} + b_D), with K
    orthogonal at the start. Depth 1 is the vanilla cell, where a skip has no place.
    """

    name: ClassVar[str] = "deep_transition"
    inputs: int
    hidden: int
    depth: int = 2
    skip: bool = False
    weights: Scheme = "glorot"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.skip and self.depth == 1:
            raise ValueError(f"cell {self.name}: skip is true and depth 1; allowed: a depth of at least 2")

    @property
    def upper(self) -> range:
        """The numbers of the layers above the first."""
        return range(2, self.depth + 1)

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        square, row = (self.hidden, self.hidden), (1, self.hidden)
        found = {
            "W": ((self.inputs, self.hidden), self.weights),
            "U": (square, self.weights),
            "b": (row, "zeros"),
        }
        for k in self.upper:
            found |= {f"U_{k}": (square, self.weights), f"b_{k}": (row, "zeros")}
        return found | ({"K": (square, "orthonormal")} if self.skip else {})

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        z = torch.tanh(x @ p["W"] + h @ p["U"] + p["b"])
        for k in self.upper:
            past = h @ p["K"] if self.skip and k == self.depth else 0.0
            z = torch.tanh(z @ p[f"U_{k}"] + past + p[f"b_{k}"])
        return (z,)
