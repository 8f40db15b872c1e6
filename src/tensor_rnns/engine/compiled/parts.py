"""The C++ that is the same for every cell: read-outs with their losses, optimisers, what scans share.

The rows of a replica are cut into groups by shape alone and added up in their order: bits depend neither on
other replicas nor on threads. A loss makes its gradients in the same pass as its value, and an optimiser
updates a whole cohort in one.
"""

import ctypes
import functools
from collections.abc import Sequence
from itertools import chain

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine import build
from tensor_rnns.engine.compiled import calls
from tensor_rnns.engine.compiled.calls import POOL, Lease, Long, dense, empty, fill, openmp, strides, struct
from tensor_rnns.engine.compiled.emit import REALS, headers
from tensor_rnns.engine.touched import Touched

FORWARD, BACKWARD, SQUARED, BERNOULLI, CLASSES = range(5)
GRADIENTS = ("x_gradient", "weight_gradient", "bias_gradient")
RULES = ("adam", "rmsprop", "sgd", "adagrad")
Head, Update = struct("Head", "heads.h"), struct("Update", "optimisers.h")


@functools.cache
def library(dtype: torch.dtype) -> ctypes.CDLL:
    """The library for `dtype`, built on first use; BuildError where it cannot be."""
    calls.keep_pages()
    code = headers("vectors functions shared threads team blocks panels heads optimisers")
    loaded = build.library("\n".join([f"using real = {REALS[dtype]};", *code]), "parts")
    loaded.use_openmp(openmp())
    loaded.offered.restype = ctypes.c_void_p
    join(loaded, loaded)
    return loaded


def join(kernel: ctypes.CDLL, loaded: ctypes.CDLL) -> None:
    """Give a kernel what the loaded parts share; BuildError where they were built for others."""
    if not kernel.join(ctypes.c_void_p(loaded.offered())):
        raise build.BuildError("the parts were built for other numbers or vectors than the kernel")


def call(
    kind: int, x: Tensor, weight: Tensor, bias: Tensor | None, gradients: Sequence[Tensor | None] = (),
    scale: float = 1, **more: Tensor | None,
) -> None:  # fmt: skip
    """One run of heads.h; those of x, W and b go into `gradients`, `more` are further tensors by their names
    in the struct."""
    steps, replicas, batch, inputs = x.shape
    if 0 in (steps, replicas, batch, weight.shape[-1]):
        for part in (more.get("loss"), *gradients):
            if part is not None:
                part.zero_()
        return
    loaded = library(x.dtype)
    sizes = (steps, replicas, batch, inputs, weight.shape[-1], torch.get_num_threads())
    head = Head(*sizes, kind, int(any(part is not None for part in gradients)))
    more |= {"x": x, "weight": weight, "bias": bias, **dict(zip(GRADIENTS, gradients, strict=False))}
    fill(head, **more, x_strides=strides([x], 3), weight_strides=strides([weight], 3), scale=scale)
    if bias is not None:
        head.bias_replica, head.bias_column = bias.stride(0), bias.stride(-1)
    for name in ("weight", "bias"):
        if (gradient := more.get(f"{name}_gradient")) is not None:
            setattr(head, f"{name}_apart", gradient.stride(0))
    counts = (Long * 3)()
    loaded.head_sizes(ctypes.byref(head), counts)
    dtypes = (x.dtype, x.dtype, torch.float64)
    leases = [Lease(POOL, count, dtype) for count, dtype in zip(counts, dtypes, strict=True)]
    head.arena, head.partial, head.losses = (lease.tensor.data_ptr() for lease in leases)
    loaded.head_run(ctypes.byref(head))


def loss_of(
    kind: int, scale: float, parts: Sequence[Tensor], targets: Tensor, row_weights: Tensor | None,
    gradients: Sequence[Tensor | None],
) -> Tensor:  # fmt: skip
    """scale * the sum over steps, rows and outputs of a loss of x W + b, [S]; `parts` are x, W and b, and
    their gradients go into `gradients`."""
    loss = parts[0].new_empty(parts[0].shape[1])
    named = {"classes" if kind == CLASSES else "targets": targets.contiguous()}
    call(kind, *parts, gradients, scale, loss=loss, row_weights=row_weights, **named)
    return loss


def empty_gradients(x: Tensor, weight: Tensor, bias: Tensor | None, into_inputs: bool) -> list[Tensor | None]:
    """Room for the gradients of x (where they go on), W and b."""
    wanted = (x if into_inputs else None, weight, bias)
    return [None if part is None else empty(part.shape, part) for part in wanted]


class Linear(torch.autograd.Function):
    """y [T, S, B, O] of x [T, S, B, I], W [S, I, O] and b [S, 1, O] or None."""

    @staticmethod
    def forward(ctx, x: Tensor, weight: Tensor, bias: Tensor | None):
        """x W + b."""
        x = dense(x)
        y = empty((*x.shape[:-1], weight.shape[-1]), x)
        call(FORWARD, x, weight, bias, y=y)
        ctx.save_for_backward(x, weight, bias)
        return y

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor):
        """Of x, W and b."""
        gradients = empty_gradients(*ctx.saved_tensors, ctx.needs_input_grad[0])
        call(BACKWARD, *ctx.saved_tensors, gradients, targets=gradient.contiguous())
        return (*gradients,)


class Loss(torch.autograd.Function):
    """`loss_of` x, W and b, with its gradients if `keep` says so."""

    @staticmethod
    def forward(ctx, kind: int, scale: float, keep: bool, targets: Tensor, weights: Tensor | None, *parts):
        """The loss [S]."""
        parts = (dense(parts[0]), *parts[1:])
        ctx.gradients = empty_gradients(*parts, ctx.needs_input_grad[5]) if keep else ()
        return loss_of(kind, scale, parts, targets, weights, ctx.gradients)

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: Tensor):
        """Those of the forward pass, times that of each replica's loss."""
        factor = gradient.view(-1, 1, 1)
        once = bool((gradient == 1).all())
        return *[None] * 5, *(g if g is None or once else g * factor for g in ctx.gradients)


def update(
    rule: str, numbers: Sequence[float], parameters: Tensor, gradient: Tensor | Touched,
    states: Sequence[Tensor], rate: Tensor, limit: Tensor | None, value: Tensor | None = None,
    running: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The parameters [S, P] after an update by one of RULES, whose `numbers` optimisers.h names.

    `states` are changed in place; `rate`, `limit` (of the norm of a replica's gradient) and `value` (of each
    number of it) are [S, 1]. By a gradient that is `Touched` the parameters are changed in place too, and
    what it touched alone is gone over, of the replicas that are `running` [S] if that is given.
    """
    if isinstance(gradient, Touched):
        flat, result, only = gradient.flat, parameters, of_touched(gradient, running)
    else:
        parameters, flat, only = parameters.contiguous(), gradient.contiguous(), {}
        result = torch.empty_like(parameters)
    bounds = {"rate": rate, "limit": limit, "value": value}
    columns = {name: bound.contiguous() for name, bound in bounds.items() if bound is not None}
    check_update(rule, parameters, [flat, result, *states], [*columns.values()])
    call = Update(*parameters.shape, torch.get_num_threads(), RULES.index(rule))
    constants = (ctypes.c_double * len(numbers))(*numbers)
    moments = dict(zip(("first", "second"), states, strict=False))
    given = {"gradient": flat, "parameters": parameters, "moved": result, "numbers": constants}
    fill(call, **given, **moments, **columns, **only)
    library(parameters.dtype).update_run(ctypes.byref(call))
    return result


def of_touched(gradient: Touched, running: Tensor | None) -> dict[str, ctypes.Array | Tensor | int]:
    """What `Update` says of the numbers that are gone over."""
    if running is None:
        running = torch.ones(len(gradient.flat), dtype=torch.bool)
    gaps, places = ([*chain(*rows)] for rows in (gradient.gaps, gradient.tables))
    return {
        "gap_count": len(gradient.gaps), "gaps": (Long * len(gaps))(*gaps),
        "table_count": len(gradient.tables), "tables": (Long * len(places))(*places),
        "steps": len(gradient.symbols), "batch": gradient.symbols.shape[2],
        "symbols": gradient.symbols, "strides": strides([gradient.symbols], 3),
        "running": running.contiguous(),
    }  # fmt: skip


def check_update(rule: str, parameters: Tensor, own: list[Tensor], columns: list[Tensor]) -> None:
    """ValueError unless `own` are like the parameters [S, P], and `columns` [S, 1] of their dtype."""
    if any(tensor.dtype != parameters.dtype or not tensor.is_contiguous() for tensor in (*own, *columns)):
        raise ValueError(
            f"optimiser {rule}: tensors of several dtypes or with gaps given; allowed: one dtype"
        )
    column = (len(parameters), 1)
    if any(it.shape != parameters.shape for it in own) or any(it.shape != column for it in columns):
        shapes = ", ".join(str(tuple(it.shape)) for it in (*own, *columns))
        raise ValueError(
            f"optimiser {rule}: gradient, result, states, rate and bounds {shapes} given; allowed: "
            f"{tuple(parameters.shape)} like the parameters, and {column} of rate and bounds"
        )
