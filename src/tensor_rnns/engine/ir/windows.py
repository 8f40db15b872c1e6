"""Products of one matrix with windows of blocks, as the kernel of a convolution has them.

Laid out in memory, windows repeat each number once per tap, and on the way back as many blocks are added up.
Here both are read, and added to, where they lie: a piece of the product is a sum over its taps, and so is the
gradient of each stretch of a block that the windows show.
"""

import math

import numpy as np

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.structure import LONG, shown

LARGE = 1 << 13
"""Numbers of a matrix from which on it is multiplied in panels; smaller ones stay in the first cache."""


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
