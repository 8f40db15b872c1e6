"""What the Triton compiler makes of generated kernels, for a GPU that need not be there.

    python -m benchmarks.triton_kernels                     # every cell and form at several sizes
    python -m benchmarks.triton_kernels --cell tgu --hidden 100 --inputs 100 --rank 50

Prints for each kernel its warps, the shared memory of a program in bytes, and what the assembler needs of
registers and of stack (registers that did not fit), both a thread. Needs the package triton and no
TRITON_INTERPRET; runs nothing.
"""

import argparse
import re
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import torch

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import build
from tensor_rnns.engine.ir.trace import trace
from tensor_rnns.engine.triton.emit import emit
from tensor_rnns.engine.triton.engine import MEMORY
from tensor_rnns.engine.triton.kernel import OPTIONS, Kernel

CAPABILITY = 90
POINTERS = {torch.float32: "*fp32", torch.float64: "*fp64"}
NUMBERS = ("steps", "batch", "keep")
SIZES = ((9, 2), (20, 20), (64, 64), (100, 1), (100, 100), (259, 3))
FORMS = ({"form": "cp", "rank": 20}, {"form": "tensor_train", "rank": 8}, {"form": "full"})


@dataclass(frozen=True)
class Compiled:
    """A compiled kernel: bytes of shared memory of a program, registers and bytes of stack of a thread."""

    name: str
    warps: int
    shared: int
    registers: int
    stack: int


def compiled(cell: Cell, dtype: torch.dtype, precision: str = "ieee") -> Iterator[Compiled]:
    """Both kernels of a cell as machine code for compute capability 9.0."""
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    emitted = emit(trace(cell), dtype, precision, MEMORY)
    kernel = Kernel(build.module(emitted.code, cell.name), emitted)
    for name in ("forward", "backward"):
        function = getattr(kernel.module, name)
        kinds = {"tables": "*i32", "INWARD": "constexpr"} | dict.fromkeys(NUMBERS, "i32")
        signature = {argument: kinds.get(argument, POINTERS[dtype]) for argument in function.arg_names}
        constants = {"INWARD": True} if "INWARD" in signature else {}
        aligned = {
            (i,): [["tt.divisibility", 16]] for i, kind in enumerate(signature.values()) if "*" in kind
        }
        made = triton.compile(
            ASTSource(function, signature, constants, aligned),
            target=GPUTarget("cuda", CAPABILITY, 32),
            options=OPTIONS | {"num_warps": kernel.warps},
        )
        registers, stack = needs(made.asm["cubin"], Path(triton.__file__).parent)
        yield Compiled(name, kernel.warps, made.metadata.shared, registers, stack)


def needs(code: bytes, package: Path) -> tuple[int, int]:
    """Registers and bytes of stack that machine code takes of a thread."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        tool = package / "backends" / "nvidia" / "bin" / "cuobjdump"
        command = (str(tool), "--dump-resource-usage", file.name)
        answer = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"REG:(\d+) STACK:(\d+)", answer.stdout)
    return int(found[1]), int(found[2])


def blocks(arguments: argparse.Namespace) -> Iterator[tuple[dict, int]]:
    """The `cell` blocks and widths of inputs that are asked for."""
    sizes = [(arguments.hidden, arguments.inputs)] if arguments.hidden else SIZES
    for name, chosen in sorted(cells.families().items()):
        if arguments.cell in (None, name):
            formed = "form" in getattr(chosen, "__dataclass_fields__", {})
            for form in FORMS if formed else ({},):
                rank = {"rank": arguments.rank} if arguments.rank and "rank" in form else {}
                for hidden, inputs in sizes:
                    yield {"name": name, "hidden": hidden, **form, **rank}, inputs


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cell")
    parser.add_argument("--hidden", type=int)
    parser.add_argument("--inputs", type=int, default=2)
    parser.add_argument("--rank", type=int)
    parser.add_argument("--precision", choices=["ieee", "tf32"], default="ieee")
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    arguments = parser.parse_args()
    words = ("kernel", "warps", "shared", "registers", "stack")
    print("{:9}{:14}{:>4}{:>5}  {:9}{:>6}{:>8}{:>10}{:>7}".format("cell", "form", "H", "I", *words))
    for block, inputs in blocks(arguments):
        cell = cells.build(block, inputs)
        for kernel in compiled(cell, getattr(torch, arguments.dtype), arguments.precision):
            size = f"{block['name']:9}{block.get('form', ''):14}{cell.hidden:4}{inputs:5}"
            used = f"{kernel.warps:6}{kernel.shared:8}{kernel.registers:10}{kernel.stack:7}"
            print(f"{size}  {kernel.name:9}{used}", flush=True)


if __name__ == "__main__":
    main()
