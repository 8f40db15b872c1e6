"""A guest cell: the example of docs/guest-cells.md."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from tensor_rnns.cells.base import Cell


@dataclass(frozen=True)
class Leaky(Cell):
    """h_t = a h_{t-1} + (1 - a) tanh(W x_t + U h_{t-1} + b)."""

    name: ClassVar[str] = "my_leaky"
    inputs: int
    hidden: int
    keep: float = 0.9
    weights: str | dict = "unit_scaling"

    def matrices(self):
        return {
            "W": ((self.inputs, self.hidden), self.weights),
            "U": ((self.hidden, self.hidden), self.weights),
            "b": ((1, self.hidden), "zeros"),
        }

    def step(self, p, x, state):
        (h,) = state
        return (self.keep * h + (1 - self.keep) * torch.tanh(x @ p["W"] + h @ p["U"] + p["b"]),)
