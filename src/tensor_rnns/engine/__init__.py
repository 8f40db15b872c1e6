"""Engines that run a step over time."""

from collections.abc import Callable, Mapping

import torch

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import compiled, eager

RUNS = {"eager": eager.run, "compiled": compiled.run}


def choose(name: str, cell: Mapping | None, device: str = "cpu") -> str:
    """The engine that `name` means for a cell block and a device.

    "auto" is a pure function of the two and of whether there is a compiler: compiled on the CPU where the
    step of the cell has C++, else eager.
    """
    if name == "auto":
        return "compiled" if cell is not None and device == "cpu" and compiled.supports(cell) else "eager"
    if name not in RUNS:
        raise ValueError(f"engine {name!r} asked for; allowed: auto, {', '.join(RUNS)}")
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


def runner(name: str) -> Callable:
    """`run(cell, params, inputs, state, last_only=False) -> (outputs, final state)` of an engine."""
    if name not in RUNS:
        raise ValueError(f"engine {name!r} asked for; allowed: {', '.join(RUNS)}")
    return RUNS[name]
