"""A library with the scans of a cell as functions of torch tensors."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from tensor_rnns.engine.compiled.calls import POOL, Lease, Long, Pointer, dense, fill, pointers, strides
from tensor_rnns.engine.generated import Gradients, Parts, Tensors

Arrays = dict[str, ctypes.Array]
SIZES = ("tape", "states", "packed", "arena", "sums")
POINTERS = (
    "inputs", "input_strides", "leaves", "strides", "initial", *SIZES, "outputs", "final",
    "output_gradients", "final_gradients", "input_gradients", "initial_gradients", "leaf_gradients",
    "gradient_strides",
)  # fmt: skip


class Call(ctypes.Structure):
    """The struct of the same name in call.h."""

    _fields_ = [
        *((name, Long) for name in ("steps", "replicas", "batch", "threads", "keep")),
        *((name, Pointer) for name in POINTERS),
    ]


@dataclass(frozen=True)
class Kernel:
    """A library with the scans of a cell, a `generated.ScanKernel`."""

    library: ctypes.CDLL

    def scan(
        self, parts: Parts, last_only: bool, keep: bool
    ) -> tuple[Tensor | None, Tensors, Parts, list[Lease]]:
        inputs, states = [dense(part) for part in parts[0]], [part.contiguous() for part in parts[1]]
        outputs, final, kept = self.forward(
            len(inputs[0]), described(inputs, parts[2]), states, last_only, keep
        )
        return outputs, final, (inputs, states, parts[2]), kept

    def scan_back(
        self, parts: Parts, kept: Sequence[Lease], output: Tensor | None, final: Gradients, wanted: Parts
    ) -> Gradients:
        first = parts[0][0]
        states, leaves = ([first.new_empty(part.shape) for part in kind] for kind in parts[1:])
        inputs = [
            first.new_empty(part.shape) if want else None
            for part, want in zip(parts[0], wanted[0], strict=True)
        ]
        read = described(parts[0], parts[2]) | {
            "output_gradients": pointers([output, *[None] * (len(final) - 1)]),
            "final_gradients": pointers(final),
            "initial_gradients": pointers(states),
            "leaf_gradients": pointers(leaves),
            "gradient_strides": strides(leaves, 3),
        }
        if any(wanted[0]):
            read["input_gradients"] = pointers(inputs)
        self.backward(first.shape[:3], first.dtype, read, kept)
        return *inputs, *states, *leaves

    def forward(
        self, steps: int, read: Arrays, states: Tensors, last_only: bool, keep: bool
    ) -> tuple[Tensor | None, Tensors, list[Lease]]:
        """The outputs of every step unless `last_only`, the states after the last, and the memory that
        `backward` reads.

        `read` has inputs and leaves as `described` gives them; states are [S, B, width] without gaps.
        """
        outputs = None if last_only else states[0].new_empty(steps, *states[0].shape)
        final = [torch.empty_like(part) for part in states]
        call = Call(steps, *states[0].shape[:2], torch.get_num_threads(), int(keep))
        *kept, _packed, _arena = self.lease(call, states[0].dtype, "tape", "states", "packed", "arena")
        every = pointers([outputs, *[None] * (len(states) - 1)])
        fill(call, **read, initial=pointers(states), outputs=every, final=pointers(final))
        self.library.run_forward(ctypes.byref(call))
        return outputs, final, kept

    def backward(self, shape: Sequence[int], dtype: torch.dtype, read: Arrays, kept: Sequence[Lease]) -> None:
        """Run back over T steps, S replicas and B rows, the `shape`; `read` has the arrays of `forward` and
        those of all gradients."""
        call = Call(*shape, torch.get_num_threads(), 1)
        call.tape, call.states = (lease.tensor.data_ptr() for lease in kept)
        _passing = self.lease(call, dtype, "packed", "arena", "sums")
        fill(call, **read)
        self.library.run_backward(ctypes.byref(call))

    def lease(self, call: Call, dtype: torch.dtype, *names: str) -> list[Lease]:
        """Memory for these pieces of a call."""
        counts = (Long * len(SIZES))()
        given = (call.steps, call.replicas, call.batch, call.threads, call.keep)
        self.library.sizes(*map(Long, given), counts)
        sizes = dict(zip(SIZES, counts, strict=True))
        leases = [Lease(POOL, sizes[name], dtype) for name in names]
        for name, lease in zip(names, leases, strict=True):
            setattr(call, name, lease.tensor.data_ptr())
        return leases


def described(inputs: Tensors, leaves: Tensors) -> Arrays:
    """The addresses and strides that both directions read."""
    return {
        "inputs": pointers(inputs),
        "input_strides": strides(inputs, 3),
        "leaves": pointers(leaves),
        "strides": strides(leaves, 3),
    }
