"""Generated kernels as functions of torch tensors."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.engine.generated import Gradients, Parts, Tensors
from tensor_rnns.engine.given import address
from tensor_rnns.engine.triton.emit import TILE, Emitted
from tensor_rnns.engine.triton.memory import Layout, padded

PIECE, PIECES = 1024, 32
"""Rows of time and batch in a piece of a sum at least, if there are so many, and how many pieces at most."""
BLOCK, DEPTH = 64, 32
"""The sides of what a program of `sums_of_products` makes, and the rows that it takes at a time."""
COUNT = 1024
"""Numbers that a program of `add_up` makes."""
OPTIONS = {"num_stages": 1, "enable_fp_fusion": True}
"""Of the compiler. Nothing is loaded a turn of a loop ahead: a step may read what the last one wrote."""


@dataclass(frozen=True)
class Kernel:
    """A module with the kernels `forward` and `backward`, and what the emitter says of them; a
    `generated.ScanKernel`."""

    module: ModuleType
    emitted: Emitted

    def scan(self, parts: Parts, last_only: bool, keep: bool) -> tuple[Tensor | None, Tensors, Parts, Tensor]:
        inputs, states, leaves = ([part.contiguous() for part in kind] for kind in parts)
        first = inputs[0]
        steps, replicas, batch = first.shape[:3]
        trails = [first.new_empty(steps + 1, *part.shape) for part in states]
        for trail, part in zip(trails, states, strict=True):
            trail[0] = part
        tape = first.new_empty(self.layout.tape.width * (steps if keep else 1) * replicas * batch)
        tensors = named(input=inputs, states=trails, leaf=leaves)
        self.run("forward", first, tape=tape, keep=int(keep), **tensors)
        final = [trail[-1].clone() for trail in trails]
        return None if last_only else trails[0][1:], final, (inputs, trails, leaves), tape

    def scan_back(
        self, parts: Parts, kept: Tensor, output: Tensor | None, final: Gradients, wanted: Parts
    ) -> Gradients:
        inputs, trails, leaves = parts
        first = inputs[0]
        outputs = [output, *[None] * (len(trails) - 1)]
        final = [
            torch.zeros_like(trail[0]) if g is None else g for g, trail in zip(final, trails, strict=True)
        ]
        initial = [torch.empty_like(part) for part in final]
        # The kernel writes none of an input that no gradient reaches.
        empty = [torch.empty_like if node else torch.zeros_like for node in self.layout.back.inputs]
        inward = [make(part) if any(wanted[0]) else None for make, part in zip(empty, inputs, strict=True)]
        tensors = named(input=inputs, states=trails)
        tensors |= {"tape": kept, "kept": first.new_empty(self.layout.kept.width * first[..., 0].numel())}
        gradients = named(output_gradient=outputs, final_gradient=final, initial_gradient=initial)
        gradients |= named(leaf=leaves, input_gradient=inward)
        self.run("backward", first, INWARD=any(wanted[0]), **tensors, **gradients)
        of_leaves = [
            self.leaf_gradient(i, tensors, first) if want else None for i, want in enumerate(wanted[2])
        ]
        return *inward, *initial, *of_leaves

    @property
    def layout(self) -> Layout:
        """The memory of both kernels."""
        return self.emitted.layout

    @property
    def warps(self) -> int:
        """Groups of 32 threads of a program."""
        program = self.layout.program
        return 4 if max(map(padded, (*program.inputs, *program.states))) <= BLOCK else 8

    def run(self, name: str, first: Tensor, **given: Any) -> None:
        """Run `forward` or `backward`: a program for each replica and tile of its batch."""
        steps, replicas, batch = first.shape[:3]
        grid = replicas, -(-batch // TILE)
        numbers = self.emitted.scratch[name == "backward"]
        memory = {"scratch": first.new_empty(math.prod(grid) * TILE * numbers)}
        memory["tables"] = tables(tuple(chain(*self.layout.tables.offsets)), first.device)
        self.launch(name, grid, first, steps=steps, batch=batch, **memory, **given)

    def launch(self, name: str, grid: tuple[int, ...], like: Tensor, **given: Any) -> None:
        """Run a kernel on a grid on the device of `like`, with those of the arguments that it takes."""
        kernel = getattr(self.module, name)
        taken = {key: value for key, value in given.items() if key in kernel.arg_names}
        for part in taken.values():
            if isinstance(part, Tensor):
                address(part)  # which refuses one that Triton would read with the wrong sign
        # On the CPU kernels are run by numpy, silent about infinities.
        with torch.cuda.device(like.device) if like.is_cuda else np.errstate(all="ignore"):
            kernel[grid](**taken, **OPTIONS, num_warps=self.warps)

    def leaf_gradient(self, leaf: int, tensors: Mapping[str, Tensor], first: Tensor) -> Tensor:
        """The gradient [S, rows, columns] of a leaf after the scan back.

        Sums over pieces of time and batch, which are cut by shape alone, are added in their order.
        """
        rows, columns = self.layout.program.leaves[leaf]
        steps, replicas, batch = first.shape[:3]
        terms = self.layout.terms(leaf)
        if not terms:
            return first.new_zeros(replicas, rows, columns)
        length = min(max(PIECE, -(-steps * batch // PIECES)), -(-steps * batch // DEPTH) * DEPTH)
        count = -(-steps * batch // length)
        pieces = first.new_empty(replicas, len(terms) * count, rows, columns)
        high, wide = min(padded(rows), BLOCK), min(padded(columns), BLOCK)
        for i, (left, g) in enumerate(terms):
            of_left, left_width = self.layout.operand(left or g, tensors, first)
            of_g, g_width = self.layout.operand(g, tensors, first)
            self.launch(
                "sums_of_products", (replicas, count, -(-rows // high) * -(-columns // wide)), first,
                left=of_left, g=of_g, pieces=pieces, steps=steps, batch=batch,
                left_width=left_width, g_width=g_width, rows=rows, columns=columns,
                length=length, first=i * count, count=len(terms) * count,
                groups=left.width // rows if left else 1, ONES=left is None,
                HEIGHT=high, WIDTH=wide, DEPTH=DEPTH, PRECISION=self.module.PRECISION.value,
            )  # fmt: skip
        sums = first.new_empty(replicas, rows, columns)
        self.launch(
            "add_up", (replicas, -(-rows * columns // COUNT)), first,
            pieces=pieces, sums=sums, size=rows * columns, count=len(terms) * count, COUNT=COUNT,
        )  # fmt: skip
        return sums


def named(**kinds: Sequence[Tensor | None]) -> dict[str, Tensor | None]:
    """Tensors by the names that kernels know them by."""
    return {f"{kind}_{i}": tensor for kind, tensors in kinds.items() for i, tensor in enumerate(tensors)}


@cache
def tables(indices: tuple[int, ...], device: torch.device) -> Tensor:
    """The indices of numbers on a device."""
    return torch.tensor(indices, dtype=torch.int32, device=device)
