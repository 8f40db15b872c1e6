"""Cells of the package on random numbers, step by step in float64."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from tensor_rnns.cells import Cell, build
from tensor_rnns.engine import Params, State


def random_cell(
    draw: np.random.Generator, name: str, inputs: int, hidden: int, **options: Any
) -> tuple[Cell, dict[str, Tensor]]:
    """A cell of the package and standard normal parameters over sqrt(hidden), float64, without gradients."""
    cell = build({"name": name, "hidden": hidden, **options}, inputs)
    shapes = cell.shapes().items()
    return cell, {key: torch.tensor(draw.standard_normal(shape) / hidden**0.5) for key, shape in shapes}


def outputs(cell: Cell, p: Params, inputs: Tensor, state: State | None = None) -> Tensor:
    """The outputs [T, H] of a cell over `inputs` [T, I], from `state` with rows [1, H] or the cell's own."""
    state, states = state or cell.initial_state(1, dtype=torch.float64), []
    for x in inputs:
        state = cell.step(dict(p), x[None], state)
        states.append(state[0][0])
    return torch.stack(states)


class Squashed(TorchFunctionMode):
    """Collects (function, what enters, what leaves) of each sigmoid and tanh within its block."""

    def __init__(self):
        super().__init__()
        self.calls: list[tuple[Any, Tensor, Tensor]] = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        if function in (torch.sigmoid, torch.tanh):
            self.calls.append((function, args[0], result))
        return result
