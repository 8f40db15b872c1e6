"""Engines that run a step over time."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import compiled, eager
from tensor_rnns.engine.affine import Affine


@dataclass(frozen=True)
class Engine:
    """What an engine does for a training.

    `run(cell, params, inputs, state, last_only=False)` gives (outputs, final state); `linear(x, W, b)` gives
    x W + b or an `Affine` of them. `fused` says whether losses and optimisers are made by its own C++ too,
    so that the bits of a whole update depend on the replica alone.
    """

    name: str
    run: Callable
    linear: Callable[[Tensor, Tensor, Tensor | None], Tensor | Affine]
    fused: bool


ENGINES = {
    "eager": Engine("eager", eager.run, eager.linear, fused=False),
    "compiled": Engine("compiled", compiled.run, Affine, fused=True),
}


def choose(name: str, cell: Mapping | None, device: str = "cpu") -> str:
    """The engine that `name` means for a cell block and a device.

    "auto" is a pure function of the two and of whether there is a compiler: compiled on the CPU where the
    step of the cell has C++, else eager.
    """
    if name == "auto":
        return "compiled" if cell is not None and device == "cpu" and compiled.supports(cell) else "eager"
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} asked for; allowed: auto, {', '.join(ENGINES)}")
    return name


def settle(
    name: str, cell: Cell | None, dtype: torch.dtype, device: torch.device, one_hot: bool = False
) -> str:
    """The engine that will really run: `name`, or eager where a kernel was chosen and cannot be built here.

    `one_hot` says that one-hot vectors enter the cell. Asked once, at the start of a replica, so that the run
    record and the name of the result tell the truth.
    """
    if name == "compiled" and (cell is None or compiled.prepare(cell, dtype, device, one_hot) is None):
        return "eager"
    return name


def find(name: str) -> Engine:
    """The engine of that name."""
    if name not in ENGINES:
        raise ValueError(f"engine {name!r} asked for; allowed: {', '.join(ENGINES)}")
    return ENGINES[name]
