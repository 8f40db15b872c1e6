"""Products of one matrix with several pieces of a node, as the kernel of a convolution has them.

Windows that reach beyond the border hold zeros, and their way back makes numbers that nothing reads: neither
need be computed. Laid out in memory, windows repeat each number once per tap, and on the way back as many
blocks are added up. Here both are read, and added to, where they lie: a piece of the product is a sum over
its taps, and so is the gradient of each stretch of a block that the windows show.
"""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tensor_rnns.engine.ir.graph import VIRTUAL, Node, needed
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.structure import LONG, shown

LARGE = 1 << 13
"""Numbers of a matrix from which on it is multiplied in panels; smaller ones stay in the first cache."""


def zeros(node: Node) -> np.ndarray:
    """Which numbers of a node are zero because of how it is laid out."""
    return shown(node)[1] < 0


def used(roots: Sequence[Node]) -> dict[Node, np.ndarray]:
    """Which numbers of each node are read on the way to those of `roots`."""
    found: dict[Node, np.ndarray] = {}

    def read(node: Node, which: np.ndarray | slice = slice(None), at: np.ndarray | bool = True) -> None:
        found.setdefault(node, np.zeros(node.width, bool))[which] |= at
        if node.operation == "slice":
            start = node.detail
            read(node.inputs[0], slice(start, start + node.width), found[node])
        elif node.operation == "spread":
            read(node.inputs[0])

    for root in roots:
        read(root)
    for node in sorted(needed(roots), key=lambda node: -node.index):
        own = found[node]
        if node.operation == "join":
            for part, start in zip(node.inputs, node.detail, strict=True):
                read(part, at=own[start : start + part.width])
        elif node.operation == "pick":
            places = np.array(node.detail)[own]
            read(node.inputs[0], places[places >= 0])
        elif node.operation not in VIRTUAL:
            for part in node.inputs:
                read(part, at=own if node.operation in POINTWISE else True)
    return found


def alike(flags: np.ndarray) -> list[tuple[int, int, list[int]]]:
    """(start, end, pieces) of each run of equal columns of flags [pieces, n], with those that are set."""
    cuts = np.flatnonzero((flags[:, 1:] != flags[:, :-1]).any(0)) + 1
    edges = pairwise([0, *cuts.tolist(), flags.shape[1]])
    return [(start, end, np.flatnonzero(flags[:, start]).tolist()) for start, end in edges]


def windows(left: Node, rows: int) -> Node:
    """`left`, or a node without memory that shows its pieces of `rows` numbers as taps of equal width: where
    these are wide enough, and what two of them show of a block is all the same or apart.

    Its detail has for each tap and piece the number of the block that it shows and where in that; None where
    it is zero.
    """
    pieces = left.width // rows
    if pieces == 1 or left.operation not in ("join", "pick"):
        return left
    blocks, *layout = shown(left)
    which, place = (part.reshape(pieces, rows) for part in layout)
    seen = [number for number in range(len(blocks)) if (which == number).any()]
    moved = place - np.arange(rows)
    goes_on = (which[:, 1:] == which[:, :-1]) & ((which[:, 1:] < 0) | (moved[:, 1:] == moved[:, :-1]))
    cuts = np.flatnonzero(~goes_on.all(0)) + 1
    apart = (np.diff(np.unique(moved[which == block])) for block in seen)
    width = math.gcd(rows, *cuts.tolist(), *np.concatenate([[0], *apart]).tolist())
    if width < LONG or not seen:
        return left
    taps = np.stack([which, place], -1)[:, ::width].swapaxes(0, 1).tolist()
    detail = tuple(tuple((seen.index(b), x) if b >= 0 else None for b, x in tap) for tap in taps)
    return left.graph.add("windows", *(blocks[number] for number in seen), width=left.width, detail=detail)


def reverse_windows(left: Node, g: Node, leaf: int, transposed: bool) -> list[Node]:
    """What comes back to each block that windows show, from the gradient g of their product: nodes
    `scattered`, whose detail has for each tap and piece where its product with g is added."""

    def places(number: int) -> tuple[tuple[int | None, ...], ...]:
        return tuple(tuple(x[1] if x and x[0] == number else None for x in tap) for tap in left.detail)

    return [
        g.then("scattered", width=block.width, detail=(leaf, not transposed, places(number)))
        for number, block in enumerate(left.inputs)
    ]
