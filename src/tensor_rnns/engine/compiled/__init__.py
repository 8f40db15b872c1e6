"""The compiled engine: one fused C++ scan over time and one back, made from the readable step of a cell.

step -> `trace` -> `graph` -> `reverse` -> `plan` and `emit` -> `build` -> `kernel`; see docs/engine.md.
"""

import dataclasses
import functools
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import eager
from tensor_rnns.engine.compiled import build, parts
from tensor_rnns.engine.compiled.emit import REALS, source
from tensor_rnns.engine.compiled.kernel import Kernel
from tensor_rnns.engine.ir.hoist import Hoisted
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.trace import trace

log = logging.getLogger(__name__)
INPUTS = 3


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
    last `tables` of them."""

    cell: Cell
    kernel: Kernel
    hoisted: Hoisted
    tables: int


READY: dict[tuple, Ready | None] = {}


def run(
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step, as `eager.run` gives.

    Where there is no kernel (another device or dtype, an unknown operation, no compiler), `eager.run` does
    it, after one warning that names the cell and the reason.
    """
    ready = ready_for(cell, params, inputs)
    if ready is None:
        return eager.run(cell, params, inputs, state, last_only)
    every = [not last_only] + [False] * (len(state) - 1)
    found, final = scan(ready, params, inputs, state, every)
    return (final[0] if last_only else found[0]), final


def trajectory(
    cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols, state: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """Every state of `cell` by name after each step, [T, S, B, H], as `eager.trajectory` gives."""
    ready = ready_for(cell, params, inputs)
    if ready is None:
        return eager.trajectory(cell, params, inputs, state)
    found, _ = scan(ready, params, inputs, state, [True] * len(state))
    return dict(zip(cell.states, found, strict=True))


def ready_for(cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols) -> Ready | None:
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


def prepare(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> Ready | None:
    """The kernel of `cell` for vectors or one-hot vectors, made on first use; None after a warning where
    there can be none."""
    named = repr(cell) if dataclasses.is_dataclass(cell) else id(cell)
    key = (type(cell), named, dtype, device.type, one_hot)
    if key not in READY:
        try:
            READY[key] = make(cell, dtype, device, one_hot)
        except (Unsupported, build.BuildError) as error:
            warn(cell.name, error)
            READY[key] = None
    return READY[key]


def make(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool) -> Ready:
    """The kernel of `cell`; Unsupported or BuildError where there can be none."""
    if device.type != "cpu" or dtype not in REALS:
        raise Unsupported(f"{dtype} on {device.type}")
    program = trace(cell, one_hot)
    parts.library(dtype)
    library = build.library(source(program, dtype), cell.name)
    kernel = Kernel(library, len(program.inputs), len(program.states))
    return Ready(cell, kernel, program.hoisted, len(program.tables))


def warn(name: str, reason: Exception | str) -> None:
    """Say that a cell runs in the eager loop, and why."""
    log.warning("cell %s runs eager, not compiled: %s", name, reason)


def supports(block: Mapping) -> bool:
    """Whether the cell of a `cell` block has a kernel here: C++ for its step, and a compiler.

    Otherwise one warning says what is missing.
    """
    return supported(json.dumps(dict(block), sort_keys=True), build.compiler())


@functools.cache
def supported(block: str, compiler: str | None) -> bool:
    """`supports`, once for each block and compiler."""
    settings = json.loads(block)
    try:
        if compiler is None:
            raise build.BuildError(f"no {build.COMPILER} in PATH")
        source(trace(cells.build(settings, INPUTS)), torch.float32)
    except (Unsupported, build.BuildError) as error:
        warn(settings["name"], error)
        return False
    return True
