"""A linear map y = x W + b over the last axis, alone or with the loss of what it gives.

The rows of a replica are cut into groups by shape alone and added up in their order: bits depend neither on
other replicas nor on threads. A loss makes its gradients in the same pass as its value.
"""

import ctypes
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.buffers import POOL, Lease
from tensor_rnns.engine.compiled.calls import Long, Pointer, dense, fill, strides

FORWARD, BACKWARD, SQUARED, BERNOULLI, CLASSES = range(5)
LONGS = ("steps", "replicas", "batch", "inputs", "outputs", "threads", "kind", "gradients")


class Head(ctypes.Structure):
    """The struct of the same name in heads.h."""

    _fields_ = [
        *((name, Long) for name in LONGS),
        ("x", Pointer), ("x_strides", Pointer), ("weight", Pointer), ("weight_strides", Pointer),
        ("bias", Pointer), ("bias_replica", Long), ("bias_column", Long),
        ("targets", Pointer), ("classes", Pointer), ("row_weights", Pointer), ("scale", ctypes.c_double),
        *((name, Pointer) for name in ("y", "loss", "x_gradient", "weight_gradient", "bias_gradient")),
        ("weight_apart", Long), ("bias_apart", Long),
        *((name, Pointer) for name in ("arena", "partial", "losses")),
    ]  # fmt: skip


def call(
    kind: int, x: Tensor, weight: Tensor, bias: Tensor | None, gradients: bool, scale: float = 1, **more: Any
):
    """One run of heads.h; `more` are further tensors by their names in the struct, None for none."""
    library = parts.library(x.dtype)
    steps, replicas, batch, inputs = x.shape
    head = Head(
        steps, replicas, batch, inputs, weight.shape[-1], torch.get_num_threads(), kind, int(gradients)
    )
    held = {"x_strides": strides([x], 3), "weight_strides": strides([weight], 3)}
    fill(head, **held)
    head.scale = scale
    more |= {"x": x, "weight": weight, "bias": bias}
    for name, tensor in more.items():
        setattr(head, name, None if tensor is None else tensor.data_ptr())
    if bias is not None:
        head.bias_replica, head.bias_column = bias.stride(0), bias.stride(-1)
    for name in ("weight", "bias"):
        if (gradient := more.get(f"{name}_gradient")) is not None:
            setattr(head, f"{name}_apart", gradient.stride(0))
    sizes = (Long * 3)()
    library.head_sizes(ctypes.byref(head), sizes)
    leases = [
        Lease(POOL, count, dtype)
        for count, dtype in zip(sizes, (x.dtype, x.dtype, torch.float64), strict=True)
    ]
    head.arena, head.partial, head.losses = (lease.tensor.data_ptr() for lease in leases)
    library.head_run(ctypes.byref(head))


def empty_gradients(x: Tensor, weight: Tensor, bias: Tensor | None, wanted: bool) -> list[Tensor | None]:
    """Room for the gradients of x (where `wanted`), W and b."""
    return [
        x.new_empty(x.shape) if wanted else None,
        weight.new_empty(weight.shape),
        None if bias is None else bias.new_empty(bias.shape),
    ]


NAMES = ("x_gradient", "weight_gradient", "bias_gradient")


class Linear(torch.autograd.Function):
    """y [T, S, B, O] of x [T, S, B, I], W [S, I, O] and b [S, 1, O] or None."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor | None):
        """x W + b."""
        x = dense(x)
        y = x.new_empty(*x.shape[:-1], weight.shape[-1])
        call(FORWARD, x, weight, bias, gradients=False, y=y)
        ctx.save_for_backward(x, weight, bias)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor):
        """Of x, W and b."""
        x, weight, bias = ctx.saved_tensors
        gradients = empty_gradients(x, weight, bias, ctx.needs_input_grad[0])
        given = dict(zip(NAMES, gradients, strict=True))
        call(BACKWARD, x, weight, bias, gradients=True, targets=gradient.contiguous(), **given)
        return (*gradients,)


class Loss(torch.autograd.Function):
    """scale * the sum over steps, rows and outputs of a loss of x W + b, [S]."""

    @staticmethod
    def forward(
        ctx,
        kind: int,
        scale: float,
        keep: bool,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        row_weights: Tensor | None,
    ):
        """The loss, and with `keep` its gradients."""
        x = dense(x)
        loss = x.new_empty(x.shape[1])
        gradients = empty_gradients(x, weight, bias, ctx.needs_input_grad[3]) if keep else [None] * 3
        name = "classes" if kind == CLASSES else "targets"
        given = {name: targets.contiguous(), "loss": loss, "row_weights": row_weights}
        given |= dict(zip(NAMES, gradients, strict=True))
        call(kind, x, weight, bias, keep, scale, **given)
        ctx.gradients = gradients
        return loss

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor):
        """Those of the forward pass, times that of each replica's loss."""
        factor = gradient.view(-1, 1, 1)
        once = bool((gradient == 1).all())
        return None, None, None, *(g if g is None or once else g * factor for g in ctx.gradients), None, None
