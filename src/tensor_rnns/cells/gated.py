"""LSTM and GRU, mathews2016 section 2.3; here W acts on the input and U on the state, there W on the
state."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.base import ACTIVATIONS, Cell


class Gated(Cell):
    """A cell of gates g with parameters W_g [I, H], U_g [H, H] and b_g [1, H] each.

    `biases` are the gates and the candidate in their order, with the value that b_g begins at; [W_g; U_g] is
    drawn as one [I + H, H] matrix from `weights` (for unit_scaling U(+-sqrt(3 / (I + H)))).
    """

    biases: dict[str, float]

    def shapes(self) -> dict[str, tuple[int, ...]]:
        sizes = {"W": (self.inputs, self.hidden), "U": (self.hidden, self.hidden), "b": (1, self.hidden)}
        return {f"{name}_{gate}": size for gate in self.biases for name, size in sizes.items()}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Weights drawn gate by gate, biases constant."""
        values = {}
        for gate, bias in self.biases.items():
            both = draw(self.weights, (self.inputs + self.hidden, self.hidden), rng)
            values |= {f"W_{gate}": both[: self.inputs], f"U_{gate}": both[self.inputs :]}
            values[f"b_{gate}"] = np.full((1, self.hidden), float(bias))
        return values


@dataclass(frozen=True)
class LSTM(Gated):
    """Long short-term memory without peepholes.

    i, f, o = sigma(W x_t + U h_{t-1} + b), g = tanh(W_g x_t + U_g h_{t-1} + b_g),
    c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t); `forget_bias` is added to the pre-activation of f.
    Deviation: section 2.3 prints c_{t-1} where the standard, and the authors' code, have h_{t-1}; the
    standard is built. `candidate` replaces the tanh of g; without `input_gate` i is 1 and has no parameters.
    State (h, c). All biases begin at zero.
    """

    name: ClassVar[str] = "lstm"
    states: ClassVar[tuple[str, ...]] = ("h", "c")
    inputs: int
    hidden: int
    candidate: Literal["tanh", "relu"] = "tanh"
    forget_bias: float = 1.0
    input_gate: bool = True
    weights: Scheme = "unit_scaling"

    @property
    def biases(self) -> dict[str, float]:
        return dict.fromkeys("ifgo" if self.input_gate else "fgo", 0.0)

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, c = state
        i = torch.sigmoid(x @ p["W_i"] + h @ p["U_i"] + p["b_i"]) if self.input_gate else 1.0
        f = torch.sigmoid(x @ p["W_f"] + h @ p["U_f"] + p["b_f"] + self.forget_bias)
        g = ACTIVATIONS[self.candidate](x @ p["W_g"] + h @ p["U_g"] + p["b_g"])
        o = torch.sigmoid(x @ p["W_o"] + h @ p["U_o"] + p["b_o"])
        c = f * c + i * g
        return o * torch.tanh(c), c


@dataclass(frozen=True)
class GRU(Gated):
    """Gated recurrent unit.

    f, r = sigma(W x_t + U h_{t-1} + b), z = tanh(W_z x_t + U_z (r * h_{t-1}) + b_z),
    h_t = f * h_{t-1} + (1 - f) * z.
    `reset: after` multiplies the recurrent product instead: z = tanh(W_z x_t + r * (U_z h_{t-1}) + b_z).
    `candidate` replaces the tanh of z. Initial values of the authors' cell: the biases of both gates
    `gate_bias` = 1, that of the candidate zero.
    """

    name: ClassVar[str] = "gru"
    inputs: int
    hidden: int
    reset: Literal["before", "after"] = "before"
    candidate: Literal["tanh", "relu"] = "tanh"
    gate_bias: float = 1.0
    weights: Scheme = "unit_scaling"

    @property
    def biases(self) -> dict[str, float]:
        return {"f": self.gate_bias, "r": self.gate_bias, "z": 0.0}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        f = torch.sigmoid(x @ p["W_f"] + h @ p["U_f"] + p["b_f"])
        r = torch.sigmoid(x @ p["W_r"] + h @ p["U_r"] + p["b_r"])
        u = (r * h) @ p["U_z"] if self.reset == "before" else r * (h @ p["U_z"])
        z = ACTIVATIONS[self.candidate](x @ p["W_z"] + u + p["b_z"])
        return (f * h + (1 - f) * z,)
