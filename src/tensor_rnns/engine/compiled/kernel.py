"""A library with the scans of a cell as functions of torch tensors."""

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tensor_rnns.engine.compiled import calls
from tensor_rnns.engine.compiled.calls import POOL, Lease, Long, dense, fill, pointers, strides, struct
from tensor_rnns.engine.generated import Gradients, Parts, Tensors

Arrays = dict[str, ctypes.Array]
Call = struct("Call", "call.h")
SIZES = ("tape", "states", "packed", "arena", "sums", "operands")
STRIDES = {
    "inputs": ("input_strides", 3), "leaves": ("strides", 3), "leaf_gradients": ("gradient_strides", 3),
    "symbols": ("symbol_strides", 3), "tables": ("table_strides", 2),
    "table_gradients": ("table_gradient_strides", 2),
}  # fmt: skip
"""Of tensors that a call has: the name of their strides, and along how many axes."""


@dataclass(frozen=True)
class Kernel:
    """A library with the scans of a cell, a `generated.ScanKernel`; its input are symbols [T, S, B], which it
    looks up in the last `tables` of the leaves itself, where there are some."""

    library: ctypes.CDLL
    tables: int

    def scan(
        self, parts: Parts, last_only: bool, keep: bool
    ) -> tuple[Tensor | None, Tensors, Parts, list[Lease]]:
        inputs, states = [dense(part) for part in parts[0]], [part.contiguous() for part in parts[1]]
        leaves = [*self.read(parts[2]), *map(dense, self.looked_up(parts[2]))]
        read = self.described(inputs, leaves)
        outputs, final, kept = self.forward(len(inputs[0]), read, states, last_only, keep)
        return outputs, final, (inputs, states, leaves), kept

    def read(self, leaves: Tensors) -> Tensors:
        """The leaves that the scan itself reads."""
        return leaves[: len(leaves) - self.tables]

    def looked_up(self, leaves: Tensors) -> Tensors:
        """The tables among the leaves."""
        return leaves[len(leaves) - self.tables :]

    def scan_back(
        self, parts: Parts, kept: Sequence[Lease], output: Tensor | None, final: Gradients, wanted: Parts
    ) -> Gradients:
        first = parts[1][0]
        states, leaves = ([calls.empty(part.shape, first) for part in kind] for kind in parts[1:])
        for table in self.looked_up(leaves):
            table.zero_()
        inputs = [
            calls.empty(part.shape, first) if want else None
            for part, want in zip(parts[0], wanted[0], strict=True)
        ]
        read = self.described(parts[0], parts[2]) | {
            "output_gradients": pointers([output, *[None] * (len(final) - 1)]),
            "final_gradients": pointers(final),
            "initial_gradients": pointers(states),
            **arrays("leaf_gradients", self.read(leaves)),
            **arrays("table_gradients", self.looked_up(leaves)),
        }
        if any(wanted[0]):
            read["input_gradients"] = pointers(inputs)
        self.backward(parts[0][0].shape[:3], first.dtype, read, kept)
        return *inputs, *states, *leaves

    def forward(
        self, steps: int, read: Arrays, states: Tensors, last_only: bool, keep: bool
    ) -> tuple[Tensor | None, Tensors, list[Lease]]:
        """The outputs of every step unless `last_only`, the states after the last, and the memory that
        `backward` reads.

        `read` has inputs and leaves as `described` gives them; states are [S, B, width] without gaps.
        ValueError for a symbol that no table has.
        """
        outputs = None if last_only else calls.empty((steps, *states[0].shape), states[0])
        final = [torch.empty_like(part) for part in states]
        call = Call(steps, *states[0].shape[:2], torch.get_num_threads(), int(keep))
        *kept, _packed, _arena = self.lease(call, states[0].dtype, "tape", "states", "packed", "arena")
        every = pointers([outputs, *[None] * (len(states) - 1)])
        fill(call, **read, initial=pointers(states), outputs=every, final=pointers(final))
        if "symbols" in read and (known := self.library.exceeded(ctypes.byref(call))):
            raise ValueError(f"a symbol given that is no row of a table; allowed: 0 to {known - 1}")
        self.library.run_forward(ctypes.byref(call))
        return outputs, final, kept

    def backward(self, shape: Sequence[int], dtype: torch.dtype, read: Arrays, kept: Sequence[Lease]) -> None:
        """Run back over T steps, S replicas and B rows, the `shape`; `read` has the arrays of `forward` and
        those of all gradients."""
        call = Call(*shape, torch.get_num_threads(), 1)
        call.tape, call.states = (lease.tensor.data_ptr() for lease in kept)
        _passing = self.lease(call, dtype, "packed", "arena", "sums", "operands")
        fill(call, **read)
        self.library.run_backward(ctypes.byref(call))

    def lease(self, call: Call, dtype: torch.dtype, *names: str) -> list[Lease]:
        """Memory for these pieces of a call."""
        sizes = sizes_of(self.library, call.steps, call.replicas, call.batch, call.threads, call.keep)
        leases = [Lease(POOL, sizes[name], dtype) for name in names]
        for name, lease in zip(names, leases, strict=True):
            setattr(call, name, lease.tensor.data_ptr())
        return leases

    def described(self, inputs: Tensors, leaves: Tensors) -> Arrays:
        """What both directions read: inputs or symbols, and the leaves."""
        entering = arrays("symbols" if self.tables else "inputs", inputs)
        return entering | arrays("leaves", self.read(leaves)) | arrays("tables", self.looked_up(leaves))


@functools.lru_cache(16)
def sizes_of(library: ctypes.CDLL, *given: int) -> dict[str, int]:
    """How many numbers each piece of memory takes in a call of so many steps, replicas, rows and threads."""
    counts = (Long * len(SIZES))()
    library.sizes(*map(Long, given), counts)
    return dict(zip(SIZES, counts, strict=True))


def arrays(name: str, tensors: Tensors) -> Arrays:
    """The addresses of tensors under the name of a call, and their strides."""
    of_strides, axes = STRIDES[name]
    return {name: pointers(tensors), of_strides: strides(tensors, axes)}
