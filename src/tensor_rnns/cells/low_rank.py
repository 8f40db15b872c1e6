"""Passthrough cells whose recurrent matrices are full, of low rank, or of low rank plus a diagonal;
barone2016 section 2."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Invalid

Kind = Literal["full", "low_rank", "low_rank_diagonal"]
Matrices = dict[str, tuple[tuple[int, int], Scheme]]
GAIN = "g_"


@dataclass(frozen=True)
class Map:
    """x W with a square W [n, n] for each of several `names`: full, L R (equation 4), or L R + diag(D)
    (equation 5).

    A row x is multiplied from the right here, so R_g [n, d] stands before L_g [d, n]; D_g is [1, n]. `tied`
    maps share one R [n, d] and have L_g and D_g of their own. ValueError for a rank of a full matrix, or
    none of another.
    """

    kind: Kind
    size: int
    rank: int | None
    tied: bool
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if (self.rank is None) != (self.kind == "full"):
            raise Invalid("rank", f"rank is {self.rank}; allowed is a number for low rank, none for full")
        if self.tied and self.kind == "full":
            raise Invalid("tied", "tied is True; allowed for low rank, since a full matrix has no factor R")

    def projection(self, name: str) -> str:
        """The parameter R of a map."""
        return "R" if self.tied else f"R_{name}"

    def matrices(self, weights: Scheme, diagonal: Scheme) -> Matrices:
        """Shape and initialiser of each parameter."""
        if self.kind == "full":
            return {f"W_{name}": ((self.size, self.size), weights) for name in self.names}
        found: Matrices = {}
        for name in self.names:
            found[self.projection(name)] = ((self.size, self.rank), weights)
            found[f"L_{name}"] = ((self.rank, self.size), weights)
            if self.kind == "low_rank_diagonal":
                found[f"D_{name}"] = ((1, self.size), diagonal)
        return found

    def __call__(self, p: dict[str, Tensor], name: str, x: Tensor) -> Tensor:
        """x [.., B, n] through the map `name`."""
        if self.kind == "full":
            return x @ p[f"W_{name}"]
        y = x @ p[self.projection(name)] @ p[f"L_{name}"]
        return y + x * p[f"D_{name}"] if self.kind == "low_rank_diagonal" else y


def normalised(p: dict[str, Tensor]) -> dict[str, Tensor]:
    """The matrices as a step sees them with weight normalisation: v g / |v|.

    v are the weights into one unit, a column here, and g [1, columns] the gain of each, which a factor R does
    not have.
    """
    found = dict(p)
    for name, v in p.items():
        if name[0] in "UWLR":
            unit = v / torch.linalg.vector_norm(v, dim=-2, keepdim=True)
            found[name] = unit * p[GAIN + name] if GAIN + name in p else unit
    return found


@dataclass(frozen=True)
class Passthrough(Cell):
    """A cell with a matrix of the input U_g [I, H], a bias b_g [1, H] and a map of the state for each gate g.

    The bias of the gate `carry`, which keeps the old state, begins at `gate_bias` above the others. With
    `weight_norm` U, W, L and R are normalised (section A.2): gains g_U_g, g_W_g, g_L_g [1, columns] begin at
    the norms that were drawn. Initial values are those of the authors' code.
    """

    gates: ClassVar[tuple[str, ...]]
    carry: ClassVar[str]
    inputs: int
    hidden: int
    map: Kind = "full"
    rank: int | None = None
    tied: bool = False
    weight_norm: bool = False
    gate_bias: float = 0.0
    trained_start: bool = False
    input_weights: Scheme = "glorot"
    recurrent_weights: Scheme = "glorot"
    diagonal: Scheme = "uniform(0.01)"
    bias: Scheme = "zeros"

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.recurrent

    @property
    def recurrent(self) -> Map:
        """The maps of the state."""
        return Map(self.map, self.hidden, self.rank, self.tied, self.gates)

    def matrices(self) -> Matrices:
        inputs: Matrices = {f"U_{g}": ((self.inputs, self.hidden), self.input_weights) for g in self.gates}
        found = inputs | self.recurrent.matrices(self.recurrent_weights, self.diagonal)
        gained = [name for name in found if self.weight_norm and name[0] in "UWL"]
        found |= {f"b_{gate}": ((1, self.hidden), self.bias) for gate in self.gates}
        return found | {GAIN + name: ((1, found[name][0][1]), "zeros") for name in gained}

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        values = super().initialise(rng)
        values[f"b_{self.carry}"] = values[f"b_{self.carry}"] + self.gate_bias
        for gain in [name for name in values if name.startswith(GAIN)]:
            values[gain] = np.linalg.norm(values[gain.removeprefix(GAIN)], axis=0, keepdims=True)
        return values


@dataclass(frozen=True)
class LowRankGRU(Passthrough):
    """Gated recurrent unit, equation 6; z keeps the old state (the paper's omega, gamma and pi are r, z, c).

    r, z = sigma(U x_t + W h_{t-1} + b), c = tanh(U_c x_t + W_c (r * h_{t-1}) + b_c),
    h_t = (1 - z) * c + z * h_{t-1}, each W by its `map`.
    `reset: after` is equation 7, of the language models: c = tanh(U_c x_t + r * (W_c h_{t-1}) + b_c).
    """

    name: ClassVar[str] = "lr_gru"
    gates: ClassVar[tuple[str, ...]] = ("r", "z", "c")
    carry: ClassVar[str] = "z"
    reset: Literal["before", "after"] = "before"

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        (h,) = state
        w = normalised(p) if self.weight_norm else p
        maps = self.recurrent
        r = torch.sigmoid(x @ w["U_r"] + maps(w, "r", h) + p["b_r"])
        z = torch.sigmoid(x @ w["U_z"] + maps(w, "z", h) + p["b_z"])
        u = maps(w, "c", r * h) if self.reset == "before" else r * maps(w, "c", h)
        c = torch.tanh(x @ w["U_c"] + u + p["b_c"])
        return ((1 - z) * c + z * h,)


@dataclass(frozen=True)
class LowRankLSTM(Passthrough):
    """Long short-term memory, equations 8 and 9.

    o, f, i = sigma(U x_t + W h_{t-1} + b), g = tanh(U_g x_t + W_g h_{t-1} + b_g),
    c_t = f * c_{t-1} + i * g, h_t = o * tanh(c_t), each W by its `map`.
    With `peepholes`, p_i, p_f, p_o [1, H] from zero, i and f see p * c_{t-1} and o sees p_o * c_t too.
    State (h, c).
    """

    name: ClassVar[str] = "lr_lstm"
    states: ClassVar[tuple[str, ...]] = ("h", "c")
    gates: ClassVar[tuple[str, ...]] = ("o", "f", "i", "g")
    carry: ClassVar[str] = "f"
    peepholes: bool = False

    def matrices(self) -> Matrices:
        more: Matrices = {f"p_{gate}": ((1, self.hidden), "zeros") for gate in "ifo" if self.peepholes}
        return super().matrices() | more

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, c = state
        return self.after(normalised(p) if self.weight_norm else p, x, dict.fromkeys(self.gates, h), c)

    def after(
        self, p: dict[str, Tensor], x: Tensor, seen: dict[str, Tensor], c: Tensor
    ) -> tuple[Tensor, Tensor]:
        """(h_t, c_t) where each map has `seen` an old state of its own."""
        maps = self.recurrent
        o, f, i, g = (x @ p[f"U_{gate}"] + maps(p, gate, seen[gate]) + p[f"b_{gate}"] for gate in self.gates)
        i, f = (i + p["p_i"] * c, f + p["p_f"] * c) if self.peepholes else (i, f)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        o = o + p["p_o"] * c if self.peepholes else o
        return torch.sigmoid(o) * torch.tanh(c), c
