"""A built kernel as a function of torch tensors with gradients."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.compiled.buffers import POOL, Lease
from tensor_rnns.engine.compiled.calls import Long, Pointer, dense, fill, pointers, strides

SIZES = ("tape", "states", "packed", "arena", "sums")
POINTERS = (
    "inputs", "input_strides", "leaves", "strides", "initial", *SIZES, "outputs", "final",
    "output_gradients", "final_gradients", "input_gradients", "initial_gradients", "leaf_gradients",
)  # fmt: skip


class Call(ctypes.Structure):
    """The struct of the same name in call.h."""

    _fields_ = [
        *((name, Long) for name in ("steps", "replicas", "batch", "threads", "keep")),
        *((name, Pointer) for name in POINTERS),
    ]


@dataclass(frozen=True)
class Kernel:
    """A library and what its caller must know: the number of inputs and of states."""

    library: ctypes.CDLL
    inputs: int
    states: int

    def __call__(
        self,
        inputs: Sequence[Tensor],
        states: Sequence[Tensor],
        leaves: Sequence[Tensor],
        every: Sequence[bool],
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The states [T, S, B, width] of every step where `every` says so, and all after the last step.

        Inputs are [T, S, B, width], all of one floating dtype on the CPU, every leaf [S, rows, columns].
        """
        tensors = (*inputs, *states, *leaves)
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        found = Scan.apply(self, tuple(every), keep, *tensors)
        return found[: sum(every)], found[sum(every) :]

    def lease(self, call: Call, dtype: torch.dtype, *names: str) -> list[Lease]:
        """Memory for these pieces of a call."""
        found = (Long * len(SIZES))()
        given = (call.steps, call.replicas, call.batch, call.threads, call.keep)
        self.library.sizes(*map(Long, given), found)
        sizes = dict(zip(SIZES, found, strict=True))
        leases = [Lease(POOL, sizes[name], dtype) for name in names]
        for name, lease in zip(names, leases, strict=True):
            setattr(call, name, lease.tensor.data_ptr())
        return leases


class Scan(torch.autograd.Function):
    """The forward and the backward scan of a kernel; its gradient has none of its own."""

    @staticmethod
    def forward(ctx, kernel: Kernel, every: tuple[bool, ...], keep: bool, *tensors: Tensor):
        """The states of every step that are wanted, then all after the last."""
        inputs = [dense(part) for part in tensors[: kernel.inputs]]
        states = [part.contiguous() for part in tensors[kernel.inputs : kernel.inputs + kernel.states]]
        leaves = tensors[kernel.inputs + kernel.states :]
        first = inputs[0]
        outputs = [
            part.new_empty(len(first), *part.shape) if wanted else None
            for part, wanted in zip(states, every, strict=True)
        ]
        final = [torch.empty_like(part) for part in states]
        call = Call(*first.shape[:3], torch.get_num_threads(), int(keep))
        tape, kept, *rest = kernel.lease(call, first.dtype, "tape", "states", "packed", "arena")
        arrays = {"initial": pointers(states), "outputs": pointers(outputs), "final": pointers(final)}
        held = arrays | described(inputs, leaves)
        fill(call, **held)
        kernel.library.run_forward(ctypes.byref(call))
        if keep:
            ctx.kernel, ctx.leases, ctx.every = kernel, (tape, kept), every
            ctx.save_for_backward(*inputs, *leaves)
            ctx.shapes = [tuple(tensor.shape) for tensor in tensors]
            ctx.set_materialize_grads(False)
        del held, rest
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
        call = Call(*first.shape[:3], torch.get_num_threads(), 1)
        call.tape, call.states = (lease.tensor.data_ptr() for lease in ctx.leases)
        leases = kernel.lease(call, first.dtype, "packed", "arena", "sums")
        held = described(inputs, leaves) | {
            "output_gradients": pointers(by_step),
            "final_gradients": pointers(given[sum(ctx.every) :]),
            "initial_gradients": pointers(made[kernel.inputs : kernel.inputs + kernel.states]),
            "leaf_gradients": pointers(made[kernel.inputs + kernel.states :]),
        }
        if any(wanted[: kernel.inputs]):
            held["input_gradients"] = pointers(made[: kernel.inputs])
        fill(call, **held)
        kernel.library.run_backward(ctypes.byref(call))
        del held, leases
        return None, None, None, *(g if want else None for g, want in zip(made, wanted, strict=True))


def described(inputs: Sequence[Tensor], leaves: Sequence[Tensor]) -> dict[str, ctypes.Array]:
    """The addresses and strides that both directions read."""
    return {
        "inputs": pointers(inputs),
        "input_strides": strides(inputs, 3),
        "leaves": pointers(leaves),
        "strides": strides(leaves, 3),
    }
