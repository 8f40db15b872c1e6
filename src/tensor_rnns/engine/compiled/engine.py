"""The compiled engine: step -> `ir` -> `emit` -> `build` -> `kernel`; see docs/engine.md."""

import ctypes
from typing import Any

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build
from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.direct import Direct, direct
from tensor_rnns.engine.compiled.emit import source
from tensor_rnns.engine.compiled.kernel import Kernel
from tensor_rnns.engine.generated import Generated
from tensor_rnns.engine.ir.trace import Program


class Compiled(Generated):
    """Kernels in C++ for the CPU, built by g++; losses and optimisers are fused too."""

    name = "compiled"
    device_type = "cpu"
    looks_up = True
    update = staticmethod(parts.update)

    def missing_tool(self) -> str | None:
        return None if build.compiler() else f"no {build.COMPILER} in PATH"

    def tool(self) -> str:
        return build.version(build.compiler() or build.COMPILER)

    def emit(self, program: Program, dtype: torch.dtype, device: torch.device) -> str:
        return source(program, dtype)

    def build(self, program: Program, dtype: torch.dtype, emitted: str) -> Kernel:
        """The file as a library that shares the threads and the code of the parts."""
        library = build.library(emitted, program.name)
        parts.join(library, parts.library(dtype))
        library.exceeded.restype = ctypes.c_long
        return Kernel(library, len(program.tables))

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Affine:
        """x W + b, not computed yet."""
        return Affine(x, weight, bias)

    def direct(
        self, cell: Cell, dtype: torch.dtype, one_hot: bool, *layout: Any, **names: str
    ) -> Direct | None:
        ready = self.prepare(cell, dtype, torch.device("cpu"), one_hot)
        if ready is None or one_hot != bool(ready.tables):
            return None
        return direct(ready, *layout, **names)
