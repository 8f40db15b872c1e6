"""What the engines have in common that generate their kernels from the step of a cell."""

import functools
import json
import logging
import math
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.cache import BuildError
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Inputs, Params, State, identity
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.trace import Program, trace
from tensor_rnns.engine.ready import Ready, ScanKernel

log = logging.getLogger(__name__)
INPUTS = 3
DTYPES = (torch.float32, torch.float64)


class Generated(Engine):
    """An engine with a kernel of its own per cell, dtype and kind of input.

    A subclass names its tool and its device, emits code from a traced step and builds it. Where there is no
    kernel (another device or dtype, an unknown operation, no tool), the eager loop runs, after one warning
    that names the cell and the reason.
    """

    def __init__(self) -> None:
        self.ready: dict[tuple, Ready | None] = {}

    def missing_tool(self) -> str | None:
        """What is not installed that builds kernels; None where all is."""
        raise NotImplementedError

    def device_type(self) -> str:
        """The type of the device that kernels run on."""
        raise NotImplementedError

    def mode(self) -> tuple:
        """What besides cell, dtype and device the code depends on."""
        return ()

    def emit(self, program: Program, dtype: torch.dtype, device: torch.device) -> Any:
        """The code of a kernel; Unsupported where a step has none."""
        raise NotImplementedError

    def build(self, program: Program, dtype: torch.dtype, emitted: Any) -> ScanKernel:
        """The kernel of what was emitted; BuildError where it cannot be built."""
        raise NotImplementedError

    def run(
        self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False
    ) -> tuple[Tensor, State]:
        ready = self.ready_for(cell, params, inputs)
        if ready is None:
            return super().run(cell, params, inputs, state, last_only)
        every = [not last_only] + [False] * (len(state) - 1)
        steps, final = ready.scan(params, inputs, state, every)
        return (final[0] if last_only else steps[0]), final

    def trajectory(self, cell: Cell, params: Params, inputs: Inputs, state: State) -> dict[str, Tensor]:
        ready = self.ready_for(cell, params, inputs)
        if ready is None:
            return super().trajectory(cell, params, inputs, state)
        steps, _ = ready.scan(params, inputs, state, [True] * len(state))
        return dict(zip(cell.states, steps, strict=True))

    def ready_for(self, cell: Cell, params: Params, inputs: Inputs) -> Ready | None:
        """The kernel of `cell` for such inputs; None where the eager loop must do it."""
        if not math.prod(inputs.shape):
            return None
        dtype = next(iter(params.values())).dtype
        return self.prepare(cell, dtype, inputs.device, not isinstance(inputs, Tensor))

    def prepare(
        self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False
    ) -> Ready | None:
        """As `Engine.prepare`: the kernel of `cell`, made on first use."""
        key = (*identity(cell), dtype, device.type, one_hot, *self.mode())
        if key not in self.ready:
            try:
                self.ready[key] = self.make(cell, dtype, device, one_hot)
            except (Unsupported, BuildError) as error:
                self.warn(cell.name, error)
                self.ready[key] = None
        return self.ready[key]

    def warn(self, name: str, reason: Exception) -> None:
        """Say that a cell runs in the eager loop, and why."""
        log.warning("cell %s runs eager, not %s: %s", name, self.name, reason)

    def make(self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool) -> Ready:
        """The kernel of `cell`; Unsupported or BuildError where there can be none."""
        if device.type != self.device_type() or dtype not in DTYPES:
            raise Unsupported(f"{dtype} on {device.type}")
        program = trace(cell, one_hot)
        kernel = self.build(program, dtype, self.emit(program, dtype, device))
        return Ready(cell, kernel, program.hoisted, len(program.tables))

    def unsupported_reason(self, block: Mapping) -> str | None:
        """As `Engine.unsupported_reason`: a tool that is missing, or an operation without code."""
        return self.missing_tool() or without_code(self, json.dumps(dict(block), sort_keys=True))


@functools.cache
def without_code(engine: Generated, block: str) -> str | None:
    """The operation of the cell of a `cell` block that `engine` has no code for; None where it has all."""
    try:
        engine.emit(trace(cells.build(json.loads(block), INPUTS)), torch.float32, torch.device("cpu"))
    except Unsupported as error:
        return str(error)
    return None
