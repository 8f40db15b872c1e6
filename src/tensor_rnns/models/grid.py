"""Nets that answer at every pixel of a square, chapter10 section 3: recurrent four ways, and convolutions."""

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.engine import values as computed
from tensor_rnns.models.base import Model, Result, linear, linear_shapes
from tensor_rnns.models.composite import Composite
from tensor_rnns.models.unread import refuse_around


def patches(x: Tensor, size: int) -> Tensor:
    """The `size` x `size` pixels around each of a square x [side^2, S, B, I], zeros beyond its edges:
    [side^2, S, B, size^2 I]. ValueError for another number of pixels."""
    side = math.isqrt(len(x))
    if side**2 != len(x):
        raise ValueError(f"pixels of a square: {len(x)} given; allowed: a square number")
    half = size // 2
    wide = pad(x.view(side, side, *x.shape[1:]), (0,) * 6 + (half, size - 1 - half) * 2)
    shifted = [wide[i : i + side, j : j + side] for i in range(size) for j in range(size)]
    return torch.cat(shifted, -1).flatten(0, 1)


@dataclass(frozen=True)
class FourWay(Composite):
    """h_ij = cell(conv(x)_ij, h of the pixel before) in four directions, down, up, right and left; o_ij reads
    all four. conv is a matrix conv/W, without a bias, from the `kernel` x `kernel` pixels around one to
    `channels` numbers. One layer that starts at zero, without dropout: else Invalid.

    Inputs [side^2, S, B, I], row by row. Parameters conv/W, down/..., up/..., right/..., left/..., read_out/.
    """

    name: ClassVar[str] = "four_way"
    kernel: int = 3
    channels: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_around(self, self.cell)

    @property
    def stack(self) -> list[dict[str, Cell]]:
        cell = replace(self.cell, inputs=self.channels)
        return [dict.fromkeys(("down", "up", "right", "left"), cell)]

    @property
    def width(self) -> int:
        return 4 * super().width

    def declared(self) -> dict[str, tuple[int, ...]]:
        return {"conv/W": (self.kernel**2 * self.inputs, self.channels)} | super().declared()

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"conv/W": draw("glorot", self.declared()["conv/W"], rng)} | super().initialise(rng)

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        x = computed(self.engine.linear(patches(batch.inputs, self.kernel), values["conv/W"], None))
        side = math.isqrt(len(x))
        grid = x.view(side, side, *x.shape[1:])
        found = []
        for name in self.cells:
            turned = grid if name in ("down", "up") else grid.transpose(0, 1)
            turned = turned.flip(0) if name in ("up", "left") else turned
            # The lines across the direction are rows of the batch.
            lines = turned.movedim(1, 2).flatten(2, 3)
            h = self.run(name, values, lines)[0].unflatten(2, (side, -1)).movedim(2, 1)
            h = h.flip(0) if name in ("up", "left") else h
            found.append(h if name in ("down", "up") else h.transpose(0, 1))
        hidden = torch.cat(found, -1).flatten(0, 1)
        return Result(
            self.engine.linear(hidden, values["read_out/W"], values["read_out/b"]), states=(hidden,)
        )


@dataclass(frozen=True)
class Convolutions(Model):
    """`layers` convolutions of `kernel` x `kernel` pixels with `channels` tanh units, and a linear map of
    each pixel; inputs and outputs as those of `four_way`. Parameters conv1/W, conv1/b, ..., read_out/."""

    name: ClassVar[str] = "convolutions"
    inputs: int
    outputs: int
    channels: int
    layers: int = 2
    kernel: int = 3
    initialiser: Scheme = "glorot"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        found, width = {}, self.inputs
        for layer in range(1, self.layers + 1):
            found |= linear_shapes(f"conv{layer}", self.kernel**2 * width, self.channels)
            width = self.channels
        return found | linear_shapes("read_out", width, self.outputs)

    def outputs_of(self, params: Params, x: Tensor) -> Tensor:
        for layer in range(1, self.layers + 1):
            x = torch.tanh(linear(params, f"conv{layer}", patches(x, self.kernel)))
        return linear(params, "read_out", x)
