"""The compiled engine: one fused C++ scan over time and one back, made from the readable step of a cell.

step -> `ir` -> `emit` -> `build` -> `kernel`; see docs/engine.md.
"""

import functools
import json
import logging
from collections.abc import Mapping

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import generated
from tensor_rnns.engine.compiled import build, parts
from tensor_rnns.engine.compiled.buffers import keep_pages
from tensor_rnns.engine.compiled.emit import REALS, source
from tensor_rnns.engine.compiled.kernel import Kernel
from tensor_rnns.engine.generated import Ready
from tensor_rnns.engine.given import Symbols, identity
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.trace import trace

log = logging.getLogger(__name__)
INPUTS = 3
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
    return generated.run(prepare, cell, params, inputs, state, last_only)


def trajectory(
    cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols, state: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """Every state of `cell` by name after each step, [T, S, B, H], as `eager.trajectory` gives."""
    return generated.trajectory(prepare, cell, params, inputs, state)


def prepare(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> Ready | None:
    """The kernel of `cell` for vectors or one-hot vectors, made on first use; None after a warning where
    there can be none."""
    key = (*identity(cell), dtype, device.type, one_hot)
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
    keep_pages()
    library = build.library(source(program, dtype), cell.name)
    parts.join_team(library, parts.library(dtype))
    kernel = Kernel(library, len(program.inputs), len(program.states))
    return Ready(cell, kernel, program.hoisted, len(program.tables))


def warn(name: str, reason: Exception | str) -> None:
    """Say that a cell runs in the eager loop, and why."""
    log.warning("cell %s runs eager, not compiled: %s", name, reason)


def obstacle(block: Mapping) -> str | None:
    """Why the cell of a `cell` block has no kernel here, an operation or the compiler; None where it has."""
    return missing(json.dumps(dict(block), sort_keys=True), build.compiler())


@functools.cache
def missing(block: str, compiler: str | None) -> str | None:
    """`obstacle`, once for each block and compiler."""
    if compiler is None:
        return f"no {build.COMPILER} in PATH"
    try:
        source(trace(cells.build(json.loads(block), INPUTS)), torch.float32)
    except Unsupported as error:
        return str(error)
    return None
