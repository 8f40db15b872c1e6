"""A built kernel as a function of torch tensors with gradients."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.compiled.buffers import POOL, Lease

Pointer, Long = ctypes.c_void_p, ctypes.c_long
SIZES = ("tape", "states", "packed", "arena", "sums")


class Call(ctypes.Structure):
    """The struct of the same name in work.h."""

    _fields_ = [
        *((name, Long) for name in ("steps", "replicas", "batch", "threads", "keep", "every")),
        ("inputs", Pointer),
        *((name, Long) for name in ("input_step", "input_replica", "input_row")),
        *((name, Pointer) for name in ("leaves", "strides", "initial", *SIZES, "outputs", "final")),
        *((name, Pointer) for name in ("output_gradients", "final_gradients", "input_gradients")),
        *((name, Pointer) for name in ("initial_gradients", "leaf_gradients")),
    ]  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A library and what its caller must know: the number of states and of leaves."""

    library: ctypes.CDLL
    states: int

    def __call__(
        self, inputs: Tensor, states: Sequence[Tensor], leaves: Sequence[Tensor], every: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """Outputs [T, S, B, H] (or [S, B, H], the last) and final states for inputs [T, S, B, I].

        All of one floating dtype on the CPU, every leaf with its replica axis first.
        """
        tensors = (inputs, *states, *leaves)
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        outputs, *final = Scan.apply(self, every, keep, *tensors)
        return outputs, (outputs[-1] if every else outputs, *final)

    def sizes(self, call: Call, dtype: torch.dtype) -> dict[str, int]:
        """How many numbers each piece of memory of a call must hold."""
        found = (Long * len(SIZES))()
        given = (call.steps, call.replicas, call.batch, call.threads, call.keep)
        self.library.sizes(*map(Long, given), found)
        return dict(zip(SIZES, found, strict=True))


def pointers(tensors: Sequence[Tensor | None]) -> ctypes.Array:
    """The addresses of tensors; 0 for None."""
    return (Pointer * len(tensors))(*(None if tensor is None else tensor.data_ptr() for tensor in tensors))


def address(array: ctypes.Array) -> int:
    """Where an array of ctypes lies."""
    return ctypes.addressof(array)


class Scan(torch.autograd.Function):
    """The forward and the backward scan of a kernel; its gradient has none of its own."""

    @staticmethod
    def forward(ctx, kernel: Kernel, every: bool, keep: bool, inputs: Tensor, *tensors: Tensor):
        """The outputs, then the final states after the first."""
        states = [state.contiguous() for state in tensors[: kernel.states]]
        leaves = tensors[kernel.states :]
        if inputs.stride(-1) != 1 and inputs.shape[-1] != 1:
            inputs = inputs.contiguous()
        steps, replicas, batch = inputs.shape[:3]
        shape = (steps, replicas, batch, states[0].shape[-1])
        outputs = inputs.new_empty(shape if every else shape[1:])
        final = [torch.empty_like(state) for state in states]
        call = Call(steps, replicas, batch, torch.get_num_threads(), int(keep), int(every))
        held = describe(call, kernel, inputs, leaves)
        sizes = kernel.sizes(call, inputs.dtype)
        tape, states_kept = (Lease(POOL, sizes[name], inputs.dtype) for name in ("tape", "states"))
        packed, arena = (Lease(POOL, sizes[name], inputs.dtype) for name in ("packed", "arena"))
        for name, lease in {"tape": tape, "states": states_kept, "packed": packed, "arena": arena}.items():
            setattr(call, name, lease.tensor.data_ptr())
        starts, ends = pointers(states), pointers(final)
        call.initial, call.final, call.outputs = address(starts), address(ends), outputs.data_ptr()
        kernel.library.run_forward(ctypes.byref(call))
        del held
        if keep:
            ctx.kernel, ctx.every, ctx.leases, ctx.threads = kernel, every, (tape, states_kept), call.threads
            ctx.save_for_backward(inputs, *leaves)
            ctx.shapes = [tuple(tensor.shape) for tensor in tensors]
            ctx.set_materialize_grads(False)
        return (outputs, *final[1:])

    @staticmethod
    @once_differentiable
    def backward(ctx, output_gradients: Tensor | None, *final_gradients: Tensor | None):
        """Gradients of inputs, initial states and leaves."""
        kernel, (inputs, *leaves) = ctx.kernel, ctx.saved_tensors
        steps, replicas, batch = inputs.shape[:3]
        given = [None if g is None else g.contiguous() for g in (output_gradients, None, *final_gradients)]
        wants_input = ctx.needs_input_grad[3]
        input_gradients = inputs.new_empty(inputs.shape) if wants_input else None
        made = [inputs.new_empty(shape) for shape in ctx.shapes]
        call = Call(steps, replicas, batch, torch.get_num_threads(), 1, int(ctx.every))
        held = describe(call, kernel, inputs, leaves)
        sizes = kernel.sizes(call, inputs.dtype)
        tape, states = ctx.leases
        leases = {"tape": tape, "states": states}
        leases |= {name: Lease(POOL, sizes[name], inputs.dtype) for name in ("packed", "arena", "sums")}
        for name, lease in leases.items():
            setattr(call, name, lease.tensor.data_ptr())
        arrays = [pointers(part) for part in (given[1:], made[: kernel.states], made[kernel.states :])]
        call.final_gradients, call.initial_gradients, call.leaf_gradients = map(address, arrays)
        call.output_gradients = None if given[0] is None else given[0].data_ptr()
        call.input_gradients = None if input_gradients is None else input_gradients.data_ptr()
        kernel.library.run_backward(ctypes.byref(call))
        del held
        wanted = zip(made, ctx.needs_input_grad[4:], strict=True)
        return None, None, None, input_gradients, *(g if want else None for g, want in wanted)


def describe(call: Call, kernel: Kernel, inputs: Tensor, leaves: Sequence[Tensor]) -> tuple:
    """Fill in what both directions read; the result keeps alive what the call points to."""
    call.inputs = inputs.data_ptr()
    call.input_step, call.input_replica, call.input_row = inputs.stride()[:3]
    table = pointers(leaves)
    strides = (Long * (3 * len(leaves)))(*(stride for leaf in leaves for stride in leaf.stride()))
    call.leaves, call.strides = address(table), address(strides)
    return table, strides
