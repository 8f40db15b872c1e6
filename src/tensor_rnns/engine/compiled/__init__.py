"""The compiled engine: one fused C++ scan over time and one back, made from the readable step of a cell.

step -> `trace` -> `graph` -> `reverse` -> `plan` and `emit` -> `build` -> `kernel`; see docs/engine.md.
"""

import dataclasses
import functools
import json
import logging
from collections.abc import Mapping

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import eager
from tensor_rnns.engine.compiled import build
from tensor_rnns.engine.compiled.emit import REALS, source
from tensor_rnns.engine.compiled.hoist import Hoisted
from tensor_rnns.engine.compiled.kernel import Kernel
from tensor_rnns.engine.compiled.operations import Unsupported
from tensor_rnns.engine.compiled.trace import trace

log = logging.getLogger(__name__)
INPUTS = 3


@dataclasses.dataclass(frozen=True)
class Ready:
    """A cell's kernel, and its parameter-only expressions."""

    cell: Cell
    kernel: Kernel
    hoisted: Hoisted


READY: dict[tuple, Ready | None] = {}


def run(
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step, as `eager.run` gives.

    Where there is no kernel (another device or dtype, an unknown operation, no compiler), `eager.run` does
    it, after one warning that names the cell and the reason. It does so too where inputs are no tensor: for
    one-hot vectors, see `engine.settle`.
    """
    if not isinstance(inputs, Tensor):
        return eager.run(cell, params, inputs, state, last_only)
    ready = prepare(cell, inputs.dtype, inputs.device) if inputs.numel() else None
    if ready is None:
        return eager.run(cell, params, inputs, state, last_only)
    check(cell, params, inputs, state)
    stacked = inputs.dim() == 4
    if not stacked:
        inputs, state = inputs.unsqueeze(1), tuple(part.unsqueeze(0) for part in state)
        params = {name: value.unsqueeze(0) for name, value in params.items()}
    leaves = ready.hoisted(params, inputs.shape[1])
    outputs, final = ready.kernel(inputs, state, leaves, not last_only)
    if stacked:
        return outputs, final
    return outputs.squeeze(0 if last_only else 1), tuple(part.squeeze(0) for part in final)


def check(cell: Cell, params: Mapping[str, Tensor], inputs: Tensor, state: tuple[Tensor, ...]) -> None:
    """ValueError unless every tensor has the shape, dtype and device that the kernel will read."""
    lead = inputs.shape[1:-2]
    given = {"inputs": (inputs, (len(inputs), *lead, inputs.shape[-2], cell.inputs))}
    given |= {name: (params[name], (*lead, *shape)) for name, shape in cell.shapes().items()}
    given |= {
        f"state {name}": (part, (*lead, inputs.shape[-2], cell.hidden))
        for name, part in zip(cell.states, state, strict=True)
    }
    for name, (tensor, shape) in given.items():
        if tensor.shape != shape or tensor.dtype != inputs.dtype or tensor.device != inputs.device:
            raise ValueError(
                f"cell {cell.name}: {name} {tuple(tensor.shape)} {tensor.dtype} on {tensor.device} given; "
                f"allowed: {tuple(shape)} {inputs.dtype} on {inputs.device}"
            )


def prepare(cell: Cell, dtype: torch.dtype, device: torch.device) -> Ready | None:
    """The kernel of `cell`, made on first use; None after a warning where there can be none."""
    named = repr(cell) if dataclasses.is_dataclass(cell) else id(cell)
    key = (type(cell), named, dtype, device.type)
    if key not in READY:
        try:
            READY[key] = make(cell, dtype, device)
        except (Unsupported, build.BuildError) as error:
            warn(cell.name, error)
            READY[key] = None
    return READY[key]


def make(cell: Cell, dtype: torch.dtype, device: torch.device) -> Ready:
    """The kernel of `cell`; Unsupported or BuildError where there can be none."""
    if device.type != "cpu" or dtype not in REALS:
        raise Unsupported(f"{dtype} on {device.type}")
    program = trace(cell)
    library = build.library(source(program, dtype), cell.name)
    return Ready(cell, Kernel(library, len(program.states)), program.hoisted)


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
