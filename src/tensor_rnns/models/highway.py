"""Highway networks with full matrices, of low rank, or of low rank plus a diagonal, dropout and batch
normalisation; barone2016 sections 2.1 to 2.3 and A.1."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.low_rank import Kind, Map
from tensor_rnns.declared import AtLeastZero, BelowOne, Positive
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.models.base import LinearSchemes, Result, initialise_linear, linear, linear_shapes
from tensor_rnns.models.feedforward import Feedforward

FUNCTIONS = {"h": torch.relu, "t": torch.sigmoid}
"""The proposal and the transform gate of a layer."""
BUFFERS = {"mean": 0.0, "deviation": 1.0}
"""What batch normalisation remembers, and where it begins."""


@dataclass(frozen=True)
class Highway(Feedforward):
    """x <- h * t + x * (1 - t), `layers` times, h = relu(N(x W_h)), t = sigma(N(x W_t)), equation 3.

    Before that x = relu(N(u W)) for the inputs u, and then y = x W + b. Each W of a layer is by its `map` W,
    R L (equation 4) or R L + diag(D) (equation 5), for rows from the right; between R and L numbers are
    normalised and dropped once more. N(v) = g (v - m) / (s + epsilon) + b, between factors without g and b:
    in training m and s are mean and deviation over the batch, in evaluation their running means, of which
    each update replaces the share `renewed`. Both maps of a layer see the same masks. What is dropped is
    zero, with probability `input_dropout` before the first matrix, `dropout` before each map and between its
    factors, and `output_dropout` before the last matrix; in evaluation all is multiplied by the share that
    stays (Srivastava et al. 2014).

    The transform gates begin at the bias `gate_bias`. `start: truncated` begins a map of low rank plus
    diagonal as the authors' code did: R and L from the first of the singular vectors of a random orthogonal
    matrix Q, D so that R L + diag(D) does to one random vector what Q does. The last matrix costs
    `weight_penalty` times its squared norm in training, or with `penalty_form: mean_norm` times its norm over
    its size.
    """

    name: ClassVar[str] = "highway"
    hidden: int
    layers: int
    map: Kind = "full"
    rank: int | None = None
    gate_bias: float = -1.0
    input_dropout: BelowOne = 0.0
    dropout: BelowOne = 0.0
    output_dropout: BelowOne = 0.0
    epsilon: Positive = 1e-4
    renewed: Positive = 0.1
    weight_penalty: AtLeastZero = 0.0
    penalty_form: Literal["squared", "mean_norm"] = "squared"
    weights: Scheme = "glorot"
    diagonal: Scheme = "constant(0.01)"
    start: Literal["drawn", "truncated"] = "drawn"
    read_out: LinearSchemes = field(default_factory=lambda: {"weight": "glorot", "bias": "zeros"})

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.start == "truncated" and self.map != "low_rank_diagonal":
            allowed = "drawn, or a map of low rank plus diagonal"
            raise ValueError(f"model {self.name}: start = {self.start!r} given; allowed: {allowed}")
        _ = self.maps

    @cached_property
    def maps(self) -> Map:
        """The two maps of a layer."""
        return Map(self.map, self.hidden, self.rank, False, tuple(FUNCTIONS))

    @property
    def places(self) -> list[str]:
        """The names of the layers."""
        return [f"layer{number}" for number in range(1, self.layers + 1)]

    @property
    def normalised(self) -> dict[str, int]:
        """The name and the width of everything that is normalised."""
        found = {"input": self.hidden}
        for place in self.places:
            for name in FUNCTIONS:
                found |= {f"{place}/R_{name}": self.rank} if self.rank else {}
                found[f"{place}/{name}"] = self.hidden
        return found

    def shapes(self) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = {"input/W": (self.inputs, self.hidden)}
        for place in self.places:
            matrices = self.maps.matrices(self.weights, self.diagonal)
            found |= {f"{place}/{name}": shape for name, (shape, _) in matrices.items()}
        for name in self.affine():
            found |= {f"{name}/g": (1, self.hidden), f"{name}/b": (1, self.hidden)}
        return found | linear_shapes("read_out", self.hidden, self.outputs)

    def affine(self) -> Iterator[str]:
        """What is normalised with a gain and a bias."""
        return (name for name in self.normalised if "R_" not in name)

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Matrices drawn one after another, gains 1, biases 0 or `gate_bias`, and the buffers."""
        found = {"input/W": draw(self.weights, (self.inputs, self.hidden), rng)}
        for place in self.places:
            matrices = self.maps.matrices(self.weights, self.diagonal)
            drawn = {name: draw(scheme, shape, rng) for name, (shape, scheme) in matrices.items()}
            drawn |= self.truncated(rng) if self.start == "truncated" else {}
            found |= {f"{place}/{name}": value for name, value in drawn.items()}
        for name in self.affine():
            bias = self.gate_bias if name.endswith("/t") else 0.0
            found |= {f"{name}/g": np.ones((1, self.hidden)), f"{name}/b": np.full((1, self.hidden), bias)}
        found |= initialise_linear("read_out", self.hidden, self.outputs, self.read_out, rng)
        for name, width in self.normalised.items():
            found |= {f"{name}/{key}": np.full((1, width), value) for key, value in BUFFERS.items()}
        return found

    def truncated(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The factors and diagonals of a layer as the authors' code began them, divided by the shares of
        dropout that stay."""
        found, size, kept = {}, (self.hidden, self.hidden), 1 - self.dropout
        for name in FUNCTIONS:
            left, right = draw("orthonormal", size, rng), draw("orthonormal", size, rng)
            test = rng.standard_normal(self.hidden)
            missing = test @ left[:, self.rank :] @ right[self.rank :]
            found[f"R_{name}"] = left[:, : self.rank] / kept
            found[f"L_{name}"] = right[: self.rank] / kept
            found[f"D_{name}"] = (missing / (test + self.epsilon) / kept)[None]
        return found

    def draws(self, rng: np.random.Generator, batch: Any, update: int) -> dict[str, np.ndarray]:
        """What stays, bools [B, width], of inputs, outputs, and in each layer before and between factors."""
        wanted = {"input": (self.inputs, self.input_dropout), "output": (self.hidden, self.output_dropout)}
        for place in self.places:
            wanted[f"{place}/before"] = self.hidden, self.dropout
            wanted |= {f"{place}/between": (self.rank, self.dropout)} if self.rank else {}
        items = len(batch.targets)
        return {
            name: rng.random((items, width), np.float32) >= share
            for name, (width, share) in wanted.items()
            if share
        }

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        """Outputs [S, B, O] for inputs [S, B, I]; in training, also the running means after it."""
        step = Pass(self, values, draws)
        x = torch.relu(
            step.scaled("input", step.dropped("input", batch.inputs, self.input_dropout) @ values["input/W"])
        )
        for place in self.places:
            h, t = (function(step.mapped(place, name, x)) for name, function in FUNCTIONS.items())
            x = h * t + x * (1 - t)
        x = step.dropped("output", x, self.output_dropout)
        return Result(linear(values, "read_out", x), buffers=step.buffers)

    @property
    def has_penalty(self) -> bool:
        return self.weight_penalty > 0

    def penalty(self, values: Params, result: Result, loss: Tensor) -> Tensor:
        """The cost of the last matrix, [S]."""
        last = values["read_out/W"]
        squared = last.square().sum((-2, -1))
        if self.penalty_form == "squared":
            return self.weight_penalty * squared
        return self.weight_penalty * squared.sqrt() / last[0].numel()


@dataclass
class Pass:
    """One pass through a highway network, in training where there are `draws`, and the buffers it changes."""

    model: Highway
    values: Params
    draws: Draws
    buffers: dict[str, Tensor] = field(default_factory=dict)

    def dropped(self, name: str, x: Tensor, share: float) -> Tensor:
        """`x` with its mask in training, else times the share that stays."""
        if self.draws is None:
            return x * (1 - share)
        return x * self.draws[name] if share else x

    def normalised(self, name: str, x: Tensor) -> Tensor:
        """(x - m) / (s + epsilon) for x [S, B, width]."""
        if self.draws is None:
            now = {key: self.values[f"{name}/{key}"] for key in BUFFERS}
        else:
            mean = x.mean(-2, keepdim=True)
            # Clamped, so that what is the same for a whole batch has the gradient zero.
            variance = (x - mean).square().mean(-2, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny)
            now = {"mean": mean, "deviation": variance.sqrt()}
            share = self.model.renewed
            for key, value in now.items():
                self.buffers[f"{name}/{key}"] = share * value + (1 - share) * self.values[f"{name}/{key}"]
        return (x - now["mean"]) / (now["deviation"] + self.model.epsilon)

    def scaled(self, name: str, x: Tensor) -> Tensor:
        """The same with its gain and bias."""
        return self.normalised(name, x) * self.values[f"{name}/g"] + self.values[f"{name}/b"]

    def mapped(self, place: str, name: str, x: Tensor) -> Tensor:
        """The map `name` of a layer, normalised."""
        p, share = self.values, self.model.dropout
        x = self.dropped(f"{place}/before", x, share)
        if self.model.map == "full":
            return self.scaled(f"{place}/{name}", x @ p[f"{place}/W_{name}"])
        inner = self.normalised(f"{place}/R_{name}", x @ p[f"{place}/R_{name}"])
        y = self.dropped(f"{place}/between", inner, share) @ p[f"{place}/L_{name}"]
        y = y + x * p[f"{place}/D_{name}"] if self.model.map == "low_rank_diagonal" else y
        return self.scaled(f"{place}/{name}", y)
