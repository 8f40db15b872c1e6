"""The triton engine: one kernel over time and one back for a GPU, made from the readable step of a cell.

The package triton is optional and imported only when a kernel is made; see docs/engine.md.
"""

import importlib.metadata

import torch

from tensor_rnns.engine import build
from tensor_rnns.engine.generated import Generated
from tensor_rnns.engine.ir.trace import Program
from tensor_rnns.engine.triton.emit import Emitted, emit
from tensor_rnns.engine.triton.kernel import Kernel

MEMORY = 227 * 1024
"""Bytes of shared memory of a program where there is no device to ask: those of an H100."""


class Triton(Generated):
    """Kernels in Triton for CUDA; by its interpreter, for tests, on the CPU."""

    name = "triton"

    def missing_tool(self) -> str | None:
        return None if build.is_installed() else build.ABSENT

    def tool(self) -> str:
        return f"triton {importlib.metadata.version('triton')}"

    @property
    def device_type(self) -> str:
        return "cpu" if build.is_interpreted() else "cuda"

    def mode(self) -> tuple:
        """Who runs the code, and the precision of its products."""
        return build.is_interpreted(), precision()

    def emit(self, program: Program, dtype: torch.dtype, device: torch.device) -> Emitted:
        memory = MEMORY
        if device.type == "cuda":
            memory = torch.cuda.get_device_properties(device).shared_memory_per_block_optin
        return emit(program, dtype, precision(), memory)

    def build(self, program: Program, dtype: torch.dtype, emitted: Emitted) -> Kernel:
        """The file as a module; Triton compiles it when it first runs."""
        return Kernel(build.module(emitted.code, program.name), emitted)


def precision() -> str:
    """Of products in float32: "ieee", or "tf32" where torch.set_float32_matmul_precision asks for it."""
    return "ieee" if torch.get_float32_matmul_precision() == "highest" else "tf32"
