"""A built kernel as a function of torch tensors with gradients."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.compiled.buffers import POOL, Lease
from tensor_rnns.engine.compiled.calls import Long, Pointer, dense, fill, pointers, strides
from tensor_rnns.engine.ready import ScanKernel

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


class Scan(torch.autograd.Function):
    """The forward and the backward scan of a kernel; its gradient has none of its own."""

    @staticmethod
    def forward(ctx, kernel: "Kernel", every: tuple[bool, ...], keep: bool, *tensors: Tensor):
        """The states of every step that are wanted, then all after the last."""
        inputs = [dense(part) for part in tensors[: kernel.inputs]]
        states = [part.contiguous() for part in tensors[kernel.inputs : kernel.inputs + kernel.states]]
        leaves = tensors[kernel.inputs + kernel.states :]
        outputs, final, kept = kernel.forward(len(inputs[0]), described(inputs, leaves), states, every, keep)
        if keep:
            ctx.kernel, ctx.kept, ctx.every = kernel, kept, every
            ctx.save_for_backward(*inputs, *leaves)
            ctx.shapes = [tuple(tensor.shape) for tensor in tensors]
            ctx.set_materialize_grads(False)
        return *(part for part in outputs if part is not None), *final

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients: Tensor | None):
        """Gradients of inputs, initial states and leaves."""
        kernel = ctx.kernel
        inputs, leaves = ctx.saved_tensors[: kernel.inputs], ctx.saved_tensors[kernel.inputs :]
        given = [None if g is None else g.contiguous() for g in gradients]
        outputs = iter(given[: sum(ctx.every)])
        by_step = [next(outputs) if wanted else None for wanted in ctx.every]
        wanted = ctx.needs_input_grad[3:]
        needed = [*wanted[: kernel.inputs], *[True] * (len(wanted) - kernel.inputs)]
        first = inputs[0]
        made = [
            first.new_empty(shape) if need else None for shape, need in zip(ctx.shapes, needed, strict=True)
        ]
        of_leaves = made[kernel.inputs + kernel.states :]
        read = described(inputs, leaves) | {
            "output_gradients": pointers(by_step),
            "final_gradients": pointers(given[sum(ctx.every) :]),
            "initial_gradients": pointers(made[kernel.inputs : kernel.inputs + kernel.states]),
            "leaf_gradients": pointers(of_leaves),
            "gradient_strides": strides(of_leaves, 3),
        }
        if any(wanted[: kernel.inputs]):
            read["input_gradients"] = pointers(made[: kernel.inputs])
        kernel.backward(first.shape[:3], first.dtype, read, ctx.kept)
        return None, None, None, *(g if want else None for g, want in zip(made, wanted, strict=True))


@dataclass(frozen=True)
class Kernel(ScanKernel):
    """A library and what its caller must know: the number of inputs and of states."""

    scan: ClassVar = Scan
    library: ctypes.CDLL
    inputs: int
    states: int

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

    def forward(
        self, steps: int, read: Arrays, states: Sequence[Tensor], every: Sequence[bool], keep: bool
    ) -> tuple[list[Tensor | None], list[Tensor], list[Lease]]:
        """The states of every step, None where `every` does not want them, those after the last step, and the
        memory that `backward` reads.

        `read` has inputs and leaves as `described` gives them; states are [S, B, width] without gaps.
        """
        outputs = [
            part.new_empty(steps, *part.shape) if wanted else None
            for part, wanted in zip(states, every, strict=True)
        ]
        final = [torch.empty_like(part) for part in states]
        call = Call(steps, *states[0].shape[:2], torch.get_num_threads(), int(keep))
        *kept, _packed, _arena = self.lease(call, states[0].dtype, "tape", "states", "packed", "arena")
        ends = {"initial": pointers(states), "outputs": pointers(outputs), "final": pointers(final)}
        fill(call, **read, **ends)
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


def described(inputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> Arrays:
    """The addresses and strides that both directions read."""
    return {
        "inputs": pointers(inputs),
        "input_strides": strides(inputs, 3),
        "leaves": pointers(leaves),
        "strides": strides(leaves, 3),
    }
