"""What the engines have in common whose kernels are made from the step of a cell."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import eager
from tensor_rnns.engine.given import Symbols, check
from tensor_rnns.engine.ir.hoist import Hoisted


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
