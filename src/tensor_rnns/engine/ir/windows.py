"""Products of one matrix with windows of blocks, as the kernel of a convolution has them.

Laid out in memory, windows repeat each number once per tap, and on the way back as many blocks are added up.
Here both are read, and added to, where they lie: a piece of the product is a sum over its taps, and so is the
gradient of each stretch of a block that the windows show.
"""

import math
from itertools import pairwise

import numpy as np

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.structure import LONG, shown

LARGE = 1 << 13
"""Numbers of a matrix from which on it is multiplied in panels; smaller ones stay in the first cache."""

Taps = tuple[tuple[tuple[int, int] | None, ...], ...]
"""Of each tap and piece the block that it shows and its first number there; None where that is zero."""


def windows(left: Node, rows: int) -> Node:
    """`left`, or a node without memory that shows its pieces of `rows` numbers as taps of equal width: where
    these are wide enough, and two that show the same number show all the same."""
    pieces = left.width // rows
    if pieces == 1 or left.operation not in ("join", "pick"):
        return left
    blocks, which, place = shown(left)
    which, place = which.reshape(pieces, rows), place.reshape(pieces, rows)
    goes_on = (which[:, 1:] == which[:, :-1]) & ((which[:, 1:] < 0) | (np.diff(place) == 1))
    cuts = np.flatnonzero(~goes_on.all(0)) + 1
    width = math.gcd(rows, *cuts.tolist())
    first = [
        (block, start) for block, start in zip(*(x[:, ::width].ravel() for x in (which, place)), strict=True)
    ]
    starts = sorted({tap for tap in first if tap[0] >= 0})
    overlap = any(a == b and y - x < width for (a, x), (b, y) in pairwise(starts))
    if width < LONG or overlap:
        return left
    taps = np.array(first).reshape(pieces, -1, 2).swapaxes(0, 1).tolist()
    detail = tuple(tuple((b, x) if b >= 0 else None for b, x in tap) for tap in taps)
    return left.graph.add("windows", *blocks, width=left.width, detail=detail)


def reverse_windows(left: Node, g: Node, leaf: int, transposed: bool) -> list[Node]:
    """What comes back to each block that windows show, from the gradient g of their product."""
    found = []
    for number, block in enumerate(left.inputs):
        places = tuple(tuple(x[1] if x and x[0] == number else None for x in tap) for tap in left.detail)
        found.append(g.then("scattered", width=block.width, detail=(leaf, not transposed, places)))
    return found
