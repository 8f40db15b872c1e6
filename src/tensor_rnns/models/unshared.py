"""Nets that share no weights over time, chapter10 section 1, to hold recurrent nets against: a map of the
whole sequence, one for each step, and a table of the last bits."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.engine import Params
from tensor_rnns.models.base import Model, linear, linear_shapes


@dataclass(frozen=True)
class Unshared(Model):
    """An answer from exactly `steps` T inputs; ValueError for a sequence of another length."""

    inputs: int
    outputs: int
    steps: int
    initialiser: Scheme = "glorot"

    def check(self, x: Tensor) -> None:
        """ValueError unless x has T steps."""
        if len(x) != self.steps:
            told = f"{len(x)} steps given; allowed: steps = {self.steps}, which alone have weights"
            raise ValueError(f"model {self.name}: {told}")


@dataclass(frozen=True)
class Flat(Unshared):
    """y = tanh(x W_1 + b_1) W_2 + b_2 for the T steps of x side by side, or without `hidden` units
    y = x W + b; outputs [S, B, O]."""

    name: ClassVar[str] = "flat"
    hidden: int | None = None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        width = self.steps * self.inputs
        below = linear_shapes("hidden", width, self.hidden) if self.hidden else {}
        return below | linear_shapes("read_out", self.hidden or width, self.outputs)

    def outputs_of(self, params: Params, x: Tensor) -> Tensor:
        self.check(x)
        x = x.movedim(0, -2).flatten(-2)
        return linear(params, "read_out", torch.tanh(linear(params, "hidden", x)) if self.hidden else x)


@dataclass(frozen=True)
class PerStep(Unshared):
    """y_t = x_t W_t + b_t: a linear map for each step; outputs [T, S, B, O]."""

    name: ClassVar[str] = "per_step"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"steps/W": (self.steps, self.inputs, self.outputs), "steps/b": (self.steps, 1, self.outputs)}

    def outputs_of(self, params: Params, x: Tensor) -> Tensor:
        self.check(x)
        return x @ params["steps/W"].movedim(1, 0) + params["steps/b"].movedim(1, 0)


@dataclass(frozen=True)
class Table(Model):
    """The logits of an answer for each of the 2^m settings of the last m = `order` bits, zeros before the
    first; bits are 1 where an input is above 0. Outputs at every step, or with `last` [S, B, O]."""

    name: ClassVar[str] = "table"
    inputs: int
    outputs: int
    order: int
    last: bool = False
    initialiser: Scheme = "zeros"

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"table/W": (2**self.order, self.outputs)}

    def outputs_of(self, params: Params, x: Tensor) -> Tensor:
        bits = (x[..., 0] > 0).long()
        bits = torch.cat([bits.new_zeros(self.order - 1, *bits.shape[1:]), bits])
        row = sum(bits[self.order - 1 - back : len(bits) - back] << back for back in range(self.order))
        table, row = params["table/W"], row[-1:] if self.last else row
        found = torch.stack([one[at] for one, at in zip(table, row.unbind(-2), strict=True)], -3)
        return found[0] if self.last else found
