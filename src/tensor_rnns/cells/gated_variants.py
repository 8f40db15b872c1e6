"""Variants of the LSTM and the GRU that chapter10 section 10 names or prints."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.base import ACTIVATIONS, Cell


@dataclass(frozen=True)
class Variant(Cell):
    """Gates with parameters W_g [I, n], U_g [H, n] and b_g [1, n] each, n = H or 1; `gates` gives each its n
    and the start of its bias.

    [W_g; U_g] is drawn as one [I + H, n] matrix from `weights`.
    """

    inputs: int
    hidden: int
    weights: Scheme = "unit_scaling"

    @property
    def gates(self) -> dict[str, tuple[int, float]]:
        """(n, start of the bias) of each gate."""
        raise NotImplementedError

    def shapes(self) -> dict[str, tuple[int, ...]]:
        rows = {"W": self.inputs, "U": self.hidden, "b": 1}
        return {
            f"{name}_{gate}": (n, width)
            for gate, (width, _) in self.gates.items()
            for name, n in rows.items()
        }

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Weights drawn gate by gate, biases constant."""
        values = {}
        for gate, (width, bias) in self.gates.items():
            both = draw(self.weights, (self.inputs + self.hidden, width), rng)
            values |= {f"W_{gate}": both[: self.inputs], f"U_{gate}": both[self.inputs :]}
            values[f"b_{gate}"] = np.full((1, width), bias)
        return {name: values[name] for name in self.shapes()}

    def affine(self, p: dict[str, Tensor], gate: str, x: Tensor, h: Tensor) -> Tensor:
        """W_g x + U_g h + b_g."""
        return x @ p[f"W_{gate}"] + h @ p[f"U_{gate}"] + p[f"b_{gate}"]


@dataclass(frozen=True)
class LSTMVariant(Variant):
    """f, i, o = sigma(W x_t + U h_{t-1} + b), c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t).

    g = tanh(W_g x_t + U_g h_{t-1} + b_g), or with `candidate: sigmoid` sigma of that, as the notes print it.
    `forget: constant` makes f = sigma(b_f), one learned number a unit that sees nothing. b_f begins at
    `forget_bias`. State (h, c).
    """

    name: ClassVar[str] = "lstm_variant"
    states: ClassVar[tuple[str, ...]] = ("h", "c")
    candidate: Literal["tanh", "sigmoid"] = "tanh"
    forget: Literal["gate", "constant"] = "gate"
    forget_bias: float = 1.0

    @property
    def gates(self) -> dict[str, tuple[int, float]]:
        return {gate: (self.hidden, self.forget_bias if gate == "f" else 0.0) for gate in "ifgo"}

    def shapes(self) -> dict[str, tuple[int, ...]]:
        blind = ("W_f", "U_f") if self.forget == "constant" else ()
        return {name: shape for name, shape in super().shapes().items() if name not in blind}

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, c = state
        i = torch.sigmoid(self.affine(p, "i", x, h))
        f = torch.sigmoid(p["b_f"] if self.forget == "constant" else self.affine(p, "f", x, h))
        g = ACTIVATIONS[self.candidate](self.affine(p, "g", x, h))
        o = torch.sigmoid(self.affine(p, "o", x, h))
        c = f * c + i * g
        return o * torch.tanh(c), c


@dataclass(frozen=True)
class GRUVariant(Variant):
    """h_t = u * h_{t-1} + (1 - u) * z, z = tanh(W_z x_t + U_z (r * h_{t-1}) + b_z),
    u, r = sigma(W x_t + U h_{t-1} + b).

    `reset: shared` makes r one number for all units. With `global_gate` u is multiplied by s = sigma(W_s x_t
    + U_s h_{t-1} + b_s), one number for all units, b_s beginning at 3. `candidate` replaces the tanh of z.
    `delayed` puts x_{t-1} in place of x_t, with x_0 = 0: the notes print every index one step earlier.
    b_u begins at `update_bias`, other biases at zero. State h, and with `delayed` the input before, x.
    """

    name: ClassVar[str] = "gru_variant"
    candidate: Literal["tanh", "sigmoid"] = "tanh"
    reset: Literal["unit", "shared"] = "unit"
    global_gate: bool = False
    delayed: bool = False
    update_bias: float = 1.0

    @property
    def gates(self) -> dict[str, tuple[int, float]]:
        found = {"u": (self.hidden, self.update_bias), "z": (self.hidden, 0.0)}
        found["r"] = (self.hidden if self.reset == "unit" else 1, 0.0)
        return found | ({"s": (1, 3.0)} if self.global_gate else {})

    @property
    def states(self) -> tuple[str, ...]:
        """h, and the input before where it is needed."""
        return tuple(self.state_shapes())

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.hidden,)} | ({"x": (self.inputs,)} if self.delayed else {})

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, *before = state
        seen = before[0] if self.delayed else x
        u = torch.sigmoid(self.affine(p, "u", seen, h))
        r = torch.sigmoid(self.affine(p, "r", seen, h))
        z = ACTIVATIONS[self.candidate](self.affine(p, "z", seen, r * h))
        u = u * torch.sigmoid(self.affine(p, "s", seen, h)) if self.global_gate else u
        h = u * h + (1 - u) * z
        return (h, x) if self.delayed else (h,)
