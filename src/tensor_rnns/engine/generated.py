"""What the engines have in common that generate their kernels from the step of a cell: when there is a
kernel, its gradient, and what torch does around it."""

import functools
import json
import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import trial
from tensor_rnns.engine.build import BuildError
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Inputs, Params, State, Steps, check, identity, is_of_the_step, vectors
from tensor_rnns.engine.ir.hoist import Hoisted
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.trace import Program, trace
from tensor_rnns.messages import fault

log = logging.getLogger(__name__)
INPUTS = 3
DTYPES = (torch.float32, torch.float64)

Tensors = Sequence[Tensor]
Gradients = Sequence[Tensor | None]
Parts = tuple[Sequence, Sequence, Sequence]
"""What belongs to inputs [T, S, B, width], to states [S, B, width] and to leaves [S, rows, columns]."""


class ScanKernel(Protocol):
    """A built kernel; its tensors are all of one floating dtype on one device. That of an engine that
    `looks_up` has symbols [T, S, B] as the only input where there are some, and the tables as its last
    leaves."""

    def scan(self, parts: Parts, last_only: bool, keep: bool) -> tuple[Tensor | None, Tensors, Parts, Any]:
        """The outputs of every step unless `last_only`, the states after the last, and what `scan_back` reads
        if `keep` says that there will be one: tensors, and memory of the kernel's own."""

    def scan_back(
        self, parts: Parts, kept: Any, output: Tensor | None, final: Gradients, wanted: Parts
    ) -> Gradients:
        """The gradients of inputs, states and leaves, as far as `wanted`, from those of what `scan` gave."""


class Scan(torch.autograd.Function):
    """The scans of a kernel there and back; its gradient has none of its own."""

    @staticmethod
    def forward(
        ctx, kernel: ScanKernel, cuts: tuple[int, int], last_only: bool, keep: bool, *tensors: Tensor
    ):
        """The outputs of every step unless `last_only`, then all states after the last."""
        outputs, final, parts, kept = kernel.scan(parted(tensors, cuts), last_only, keep)
        if keep:
            ctx.kernel, ctx.cuts, ctx.last_only, ctx.kept = kernel, cuts, last_only, kept
            ctx.save_for_backward(*chain(*parts))
            ctx.set_materialize_grads(False)
        return (*final,) if last_only else (outputs, *final)

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients: Tensor | None):
        """Gradients of inputs, initial states and leaves."""
        final = [None if g is None else g.contiguous() for g in gradients]
        output = None if ctx.last_only else final.pop(0)
        saved, wanted = ctx.saved_tensors, ctx.needs_input_grad[4:]
        parts, wants = parted(saved, ctx.cuts), parted(wanted, ctx.cuts)
        made = ctx.kernel.scan_back(parts, ctx.kept, output, final, wants)
        return None, None, None, None, *(g if want else None for g, want in zip(made, wanted, strict=True))


def parted(things: Sequence, cuts: tuple[int, int]) -> Parts:
    """Things in a row, cut before the first of the states and before that of the leaves."""
    return things[: cuts[0]], things[cuts[0] : cuts[1]], things[cuts[1] :]


@dataclass(frozen=True)
class Ready:
    """A cell's kernel, and what torch does before it: parameter-only expressions, and looking up rows of the
    last `tables` of them, unless the kernel `looks_up` itself."""

    cell: Cell
    kernel: ScanKernel
    hoisted: Hoisted
    tables: int
    looks_up: bool = False

    def run(self, params: Params, inputs: Inputs, state: State, last_only: bool = False) -> Steps:
        """As `Engine.run`."""
        check(self.cell, params, inputs, state)
        leaves = self.hoisted(params, inputs.shape[1])
        read = len(leaves) if self.looks_up else len(leaves) - self.tables
        if isinstance(inputs, Tensor):
            entering = [inputs]
        elif self.looks_up:
            entering = [inputs.indices.to(torch.int64)]
        else:
            entering = [inputs @ table for table in leaves[read:]]
        tensors = (*entering, *state, *leaves[:read])
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        cuts = len(entering), len(entering) + len(state)
        results = Scan.apply(self.kernel, cuts, last_only, keep, *tensors)
        return results[0], results[-len(state) :]


class Generated(Engine):
    """An engine with a kernel of its own per cell, dtype and kind of input.

    A subclass names its tool and its device, emits code from a traced step and builds it. Where there is no
    kernel (another device or dtype, an unknown operation, no tool), the eager loop runs, after one warning
    that names the cell and the reason.
    """

    device_type: str
    """The type of the device that kernels run on."""
    looks_up: ClassVar[bool] = False
    """Whether its kernels look symbols up in tables, multiply by the matrices that they pick there, and read
    windows of blocks where they lie."""

    def __init__(self) -> None:
        self.ready: dict[tuple, Ready | None] = {}

    def missing_tool(self) -> str | None:
        """What is not installed that builds kernels; None where all is."""
        raise NotImplementedError

    def tool(self) -> str:
        """What builds kernels, with its version."""
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

    def run(self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False) -> Steps:
        dtype, ready = next(iter(params.values())).dtype, None
        if not isinstance(inputs, Tensor) and inputs.scale is not None:
            inputs = vectors(inputs, dtype)
        if math.prod(inputs.shape):
            ready = self.prepare(cell, dtype, inputs.device, not isinstance(inputs, Tensor))
        if ready is None:
            return super().run(cell, params, inputs, state, last_only)
        return ready.run(params, inputs, state, last_only)

    def prepare(
        self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False
    ) -> Ready | None:
        """As `Engine.prepare`: the kernel of `cell`, made on first use."""
        key = (*identity(cell), dtype, device.type, one_hot, *self.mode())
        if key not in self.ready:
            try:
                self.ready[key] = self.made(cell, dtype, device, one_hot, repr(key))
            except Exception as error:  # a step is anyone's code
                known = isinstance(error, Unsupported | BuildError)
                self.warn(cell.name, error if known else fault(error, is_of_the_step))
                self.ready[key] = None
        return self.ready[key]

    # A trial compares gradients, also where the first use asks for none: this turns them on as well.
    @torch.inference_mode(False)
    def made(self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool, key: str) -> Ready:
        """The kernel of `cell`, traced, built and tried; Unsupported or BuildError where there is none."""
        if device.type != self.device_type or dtype not in DTYPES:
            raise Unsupported(f"{dtype} on {device.type}")
        program = trace(cell, one_hot, dtype, self.looks_up)
        emitted = self.emit(program, dtype, device)
        kernel = self.build(program, dtype, emitted)
        ready = Ready(cell, kernel, program.hoisted, len(program.tables), self.looks_up)
        place = torch.cuda.get_device_name(device) if device.type == "cuda" else device.type
        parts = self.name, key, getattr(emitted, "code", emitted), self.tool(), place
        find = functools.partial(trial.failure, ready.run, cell, dtype, device, one_hot)
        if found := trial.found_once(cell, parts, find):
            raise Unsupported(found)
        return ready

    def warn(self, name: str, reason: Exception | str) -> None:
        """Say that a cell runs in the eager loop, and why."""
        log.warning("cell %s runs eager, not %s: %s", name, self.name, reason)

    def unsupported_reason(self, block: Mapping) -> str | None:
        """As `Engine.unsupported_reason`: a tool that is missing, or an operation without code."""
        return self.missing_tool() or without_code(self, json.dumps(dict(block), sort_keys=True))


@functools.cache
def without_code(engine: Generated, block: str) -> str | None:
    """The operation of the cell of a `cell` block that `engine` has no code for; None where it has all, which
    is found once for this code of the package."""
    cell = cells.build(json.loads(block), INPUTS)

    def find() -> str | None:
        try:
            engine.emit(trace(cell, in_place=engine.looks_up), torch.float32, torch.device("cpu"))
        except Unsupported as error:
            return str(error)
        return None

    try:
        # A module that the step calls may have changed since: what was missing then is looked for again.
        return trial.found_once(cell, ("operations", engine.name, block), find) and find()
    except BuildError as error:
        return str(error)
    except Exception as error:  # a step is anyone's code
        return fault(error, is_of_the_step)
