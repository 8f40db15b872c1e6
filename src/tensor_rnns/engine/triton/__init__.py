"""The triton engine: one kernel over time and one back for a GPU, made from the readable step of a cell.

The package triton is optional and imported only when a kernel is made; see docs/engine.md.
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
from tensor_rnns.engine.generated import Ready
from tensor_rnns.engine.given import Symbols, identity
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.trace import trace
from tensor_rnns.engine.triton import build
from tensor_rnns.engine.triton.emit import REALS, emit
from tensor_rnns.engine.triton.kernel import Kernel

log = logging.getLogger(__name__)
INPUTS = 3
MEMORY = 227 * 1024
"""Shared memory where there is no device to ask: that of an H100."""
READY: dict[tuple, Ready | None] = {}


def run(
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step, as `eager.run` gives.

    Where there is no kernel (another device or dtype, an unknown operation, no package triton), `eager.run`
    does it, after one warning that names the cell and the reason.
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
    key = (*identity(cell), dtype, device.type, one_hot, build.is_interpreted(), precision())
    if key not in READY:
        try:
            READY[key] = make(cell, dtype, device, one_hot)
        except (Unsupported, build.Missing) as error:
            warn(cell.name, error)
            READY[key] = None
    return READY[key]


def precision() -> str:
    """Of products in float32: "ieee", or "tf32" where torch.set_float32_matmul_precision asks for it."""
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"


def memory(device: torch.device) -> int:
    """Bytes of shared memory of a program on a device."""
    if device.type != "cuda":
        return MEMORY
    return torch.cuda.get_device_properties(device).shared_memory_per_block_optin


def make(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool) -> Ready:
    """The kernel of `cell`; Unsupported or Missing where there can be none."""
    expected = "cpu" if build.is_interpreted() else "cuda"
    if device.type != expected or dtype not in REALS:
        raise Unsupported(f"{dtype} on {device.type}")
    program = trace(cell, one_hot)
    emitted = emit(program, dtype, precision(), memory(device))
    kernel = Kernel(build.module(emitted.code, cell.name), emitted)
    return Ready(cell, kernel, program.hoisted, len(program.tables))


def warn(name: str, reason: Exception | str) -> None:
    """Say that a cell runs in the eager loop, and why."""
    log.warning("cell %s runs eager, not in triton: %s", name, reason)


def obstacle(block: Mapping) -> str | None:
    """Why the cell of a `cell` block has no kernel here, an operation or the package triton; None where it
    has."""
    return missing(json.dumps(dict(block), sort_keys=True), build.is_installed())


@functools.cache
def missing(block: str, installed: bool) -> str | None:
    """`obstacle`, once for each block."""
    if not installed:
        return build.ABSENT
    try:
        emit(trace(cells.build(json.loads(block), INPUTS)), torch.float32, "ieee", MEMORY)
    except Unsupported as error:
        return str(error)
    return None
