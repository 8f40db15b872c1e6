"""Generated kernels as a function of torch tensors with gradients."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.ready import ScanKernel
from tensor_rnns.engine.triton.emit import TILE
from tensor_rnns.engine.triton.emitted import Emitted, Operand
from tensor_rnns.engine.triton.memory import padded

PIECE, PIECES = 1024, 32
"""Rows of time and batch that are one piece of a sum at least, and how many pieces there are at most."""
BLOCK, DEPTH = 64, 32
"""The sides of what a program of `sums_of_products` makes, and the rows that it takes at a time."""
COUNT = 1024
"""Numbers that a program of `add_up` makes."""
OPTIONS = {"num_stages": 1, "enable_fp_fusion": True}
"""Of the compiler. Nothing is loaded a turn of a loop ahead: a step may read what the last one wrote."""


class Scan(torch.autograd.Function):
    """The kernels over time and back; their gradient has none of its own."""

    @staticmethod
    def forward(ctx, kernel: "Kernel", every: tuple[bool, ...], keep: bool, *tensors: Tensor):
        """The states of every step that are wanted, then all after the last."""
        emitted = kernel.emitted
        inputs, states, leaves = parted(emitted, [tensor.contiguous() for tensor in tensors])
        first = inputs[0]
        steps, replicas, batch = first.shape[:3]
        trails = [first.new_empty(steps + 1, *part.shape) for part in states]
        for trail, part in zip(trails, states, strict=True):
            trail[0] = part
        tape = first.new_empty(emitted.tape * (steps if keep else 1) * replicas * batch)
        kernel.launch(
            "forward", kernel.grid(first), first, tape=tape, steps=steps, batch=batch, keep=int(keep),
            **named(input=inputs, states=trails, leaf=leaves), **kernel.memory(0, first),
        )  # fmt: skip
        if keep:
            ctx.kernel, ctx.every = kernel, every
            ctx.save_for_backward(tape, *inputs, *trails, *leaves)
            ctx.set_materialize_grads(False)
        outputs = [trail[1:] for trail, wanted in zip(trails, every, strict=True) if wanted]
        return *outputs, *(trail[-1].clone() for trail in trails)

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients: Tensor | None):
        """Gradients of inputs, initial states and leaves."""
        kernel, emitted = ctx.kernel, ctx.kernel.emitted
        tape, *rest = ctx.saved_tensors
        inputs, trails, leaves = parted(emitted, rest)
        want_inputs, _, want_leaves = parted(emitted, ctx.needs_input_grad[3:])
        first = inputs[0]
        steps, replicas, batch = first.shape[:3]
        given = [None if g is None else g.contiguous() for g in gradients]
        outputs = iter(given[: sum(ctx.every)])
        by_step = [next(outputs) if wanted else None for wanted in ctx.every]
        final = [
            torch.zeros_like(trail[0]) if g is None else g
            for g, trail in zip(given[sum(ctx.every) :], trails, strict=True)
        ]
        initial = [torch.empty_like(part) for part in final]
        inward = [torch.empty_like(part) if any(want_inputs) else None for part in inputs]
        kept = first.new_empty(emitted.kept * steps * replicas * batch)
        tensors = {"tape": tape, "kept": kept, **named(input=inputs, states=trails)}
        kernel.launch(
            "backward", kernel.grid(first), first, steps=steps, batch=batch, INWARD=any(want_inputs),
            **tensors, **named(leaf=leaves, output_gradient=by_step, final_gradient=final),
            **named(initial_gradient=initial, input_gradient=inward), **kernel.memory(1, first),
        )  # fmt: skip
        of_leaves = [
            kernel.leaf_gradient(i, tensors, first) if want else None for i, want in enumerate(want_leaves)
        ]
        wanted = ctx.needs_input_grad[3:]
        made = (*inward, *initial, *of_leaves)
        return None, None, None, *(g if want else None for g, want in zip(made, wanted, strict=True))


@dataclass(frozen=True)
class Kernel(ScanKernel):
    """A module with the kernels `forward` and `backward`, and what the emitter says of them."""

    scan: ClassVar = Scan
    module: ModuleType
    emitted: Emitted

    @property
    def warps(self) -> int:
        """Groups of 32 threads of a program."""
        widest = max(map(padded, (*self.emitted.inputs, *self.emitted.states)))
        return 4 if widest <= BLOCK else 8

    def launch(self, name: str, grid: tuple[int, ...], like: Tensor, **given: Any) -> None:
        """Run a kernel on a grid, with those of the arguments that it takes."""
        kernel = getattr(self.module, name)
        taken = {key: value for key, value in given.items() if key in kernel.arg_names}
        with around(like):
            kernel[grid](**taken, **OPTIONS, num_warps=self.warps)

    def grid(self, first: Tensor) -> tuple[int, int]:
        """A program for each replica and tile of its batch."""
        return first.shape[1], -(-first.shape[2] // TILE)

    def memory(self, direction: int, first: Tensor) -> dict[str, Tensor]:
        """What programs write besides results, and what they read besides tensors."""
        rows = math.prod(self.grid(first)) * TILE
        scratch = first.new_empty(rows * self.emitted.scratch[direction])
        return {"scratch": scratch, "tables": tables(self.emitted.tables, first.device)}

    def leaf_gradient(self, leaf: int, tensors: dict[str, Tensor], first: Tensor) -> Tensor:
        """The gradient [S, rows, columns] of a leaf after the scan back.

        Sums over pieces of time and batch, which are cut by shape alone, are added in their order.
        """
        rows, columns = self.emitted.leaves[leaf]
        steps, replicas, batch = first.shape[:3]
        terms = [term for term in self.emitted.sums if term.leaf == leaf]
        length = max(PIECE, -(-steps * batch // PIECES))
        count = -(-steps * batch // length)
        pieces = first.new_empty(replicas, max(1, len(terms)) * count, rows, columns)
        high, wide = min(padded(rows), BLOCK), min(padded(columns), BLOCK)
        for i, term in enumerate(terms):
            left = term.left or term.g
            self.launch(
                "sums_of_products", (replicas, count, -(-rows // high) * -(-columns // wide)), first,
                left=behind(left, tensors, first), g=behind(term.g, tensors, first), pieces=pieces,
                steps=steps, batch=batch, left_width=left.width, g_width=term.g.width,
                rows=rows, columns=columns, length=length, first=i * count, count=len(terms) * count,
                groups=term.groups, ONES=term.left is None, HEIGHT=high, WIDTH=wide, DEPTH=DEPTH,
                PRECISION=self.module.PRECISION.value,
            )  # fmt: skip
        if not terms:
            return first.new_zeros(replicas, rows, columns)
        sums = first.new_empty(replicas, rows, columns)
        self.launch(
            "add_up", (replicas, -(-rows * columns // COUNT)), first,
            pieces=pieces, sums=sums, size=rows * columns, count=len(terms) * count, COUNT=COUNT,
        )  # fmt: skip
        return sums


def parted(emitted: Emitted, things: Sequence) -> tuple[Sequence, Sequence, Sequence]:
    """What belongs to inputs, to states and to leaves."""
    inputs, states = len(emitted.inputs), len(emitted.inputs) + len(emitted.states)
    return things[:inputs], things[inputs:states], things[states:]


def named(**kinds: Sequence[Tensor | None]) -> dict[str, Tensor | None]:
    """Tensors by the names that kernels know them by."""
    return {f"{kind}_{i}": tensor for kind, tensors in kinds.items() for i, tensor in enumerate(tensors)}


def behind(operand: Operand, tensors: dict[str, Tensor], first: Tensor) -> Tensor:
    """The memory of an operand from its first number on."""
    _, replicas, batch = first.shape[:3]
    rows = replicas * batch
    start = (operand.offset * len(first) + operand.shift * operand.width) * rows + operand.start
    return tensors[operand.tensor].view(-1)[start:]


@cache
def tables(indices: tuple[int, ...], device: torch.device) -> Tensor:
    """The indices of numbers on a device."""
    return torch.tensor(indices, dtype=torch.int32, device=device)


@contextmanager
def around(like: Tensor) -> Iterator[None]:
    """Start kernels on the device of `like`; on the CPU they are run by numpy, silent about infinities."""
    if like.is_cuda:
        with torch.cuda.device(like.device):
            yield
    else:
        with np.errstate(all="ignore"):
            yield
