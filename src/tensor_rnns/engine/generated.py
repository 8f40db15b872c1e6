"""What the engines have in common whose kernels are made from the step of a cell."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import eager
from tensor_rnns.engine.ir.hoist import Hoisted


class Symbols(Protocol):
    """One-hot vectors [T, S, B, size] of `indices` that are never built; `@` looks up rows of a matrix."""

    indices: Tensor
    size: int
    shape: tuple[int, ...]
    device: torch.device

    def __matmul__(self, matrix: Tensor) -> Tensor: ...


@dataclasses.dataclass(frozen=True)
class Ready:
    """A cell's kernel, and what torch does before it: parameter-only expressions, and looking up rows of the
    last `tables` of them.

    `kernel(inputs, states, leaves, every)` gives the states [T, S, B, width] of every step where `every` says
    so, and all after the last step.
    """

    cell: Cell
    kernel: Callable
    hoisted: Hoisted
    tables: int


Prepare = Callable[[Cell, torch.dtype, torch.device, bool], Ready | None]


def run(
    prepare: Prepare,
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """As `eager.run`, by the kernel that `prepare` gives; by the eager loop where it gives None."""
    ready = ready_for(prepare, cell, params, inputs)
    if ready is None:
        return eager.run(cell, params, inputs, state, last_only)
    every = [not last_only] + [False] * (len(state) - 1)
    found, final = scan(ready, params, inputs, state, every)
    return (final[0] if last_only else found[0]), final


def trajectory(
    prepare: Prepare,
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
) -> dict[str, Tensor]:
    """As `eager.trajectory`, by the kernel that `prepare` gives; by the eager loop where it gives None."""
    ready = ready_for(prepare, cell, params, inputs)
    if ready is None:
        return eager.trajectory(cell, params, inputs, state)
    found, _ = scan(ready, params, inputs, state, [True] * len(state))
    return dict(zip(cell.states, found, strict=True))


def ready_for(
    prepare: Prepare, cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols
) -> Ready | None:
    """The kernel of `cell` for such inputs; None where the eager loop must do it."""
    one_hot = not isinstance(inputs, Tensor)
    like = next(iter(params.values()))
    return prepare(cell, like.dtype, inputs.device, one_hot) if math.prod(inputs.shape) else None


def identity(cell: Cell) -> tuple:
    """Equal for cells with the same step and sizes."""
    return type(cell), repr(cell) if dataclasses.is_dataclass(cell) else id(cell)


def scan(
    ready: Ready,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
    every: Sequence[bool],
) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """The states of every step where `every` says so, and all after the last."""
    one_hot = not isinstance(inputs, Tensor)
    check(ready.cell, params, inputs, state)
    stacked = len(inputs.shape) == 4
    if not stacked:
        state = tuple(part.unsqueeze(0) for part in state)
        params = {name: value.unsqueeze(0) for name, value in params.items()}
        inputs = replace(inputs, indices=inputs.indices.unsqueeze(1)) if one_hot else inputs.unsqueeze(1)
    leaves = ready.hoisted(params, inputs.shape[1])
    read = len(leaves) - ready.tables
    entering = [inputs @ table for table in leaves[read:]] if one_hot else [inputs]
    found, final = ready.kernel(entering, state, leaves[:read], every)
    if stacked:
        return found, final
    return tuple(part.squeeze(1) for part in found), tuple(part.squeeze(0) for part in final)


def check(
    cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols, state: tuple[Tensor, ...]
) -> None:
    """ValueError unless every tensor has the shape, dtype and device that the kernel will read."""
    lead = inputs.shape[1:-2]
    dtype = next(iter(params.values())).dtype
    given = {name: (params[name], (*lead, *shape)) for name, shape in cell.shapes().items()}
    given |= {
        f"state {name}": (part, (*lead, inputs.shape[-2], cell.hidden))
        for name, part in zip(cell.states, state, strict=True)
    }
    if isinstance(inputs, Tensor):
        given["inputs"] = (inputs, (*inputs.shape[:-1], cell.inputs))
    for name, (tensor, shape) in given.items():
        if tensor.shape != shape or tensor.dtype != dtype or tensor.device != inputs.device:
            raise ValueError(
                f"cell {cell.name}: {name} {tuple(tensor.shape)} {tensor.dtype} on {tensor.device} given; "
                f"allowed: {tuple(shape)} {dtype} on {inputs.device}"
            )
