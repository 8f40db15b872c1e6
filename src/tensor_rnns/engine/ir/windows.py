"""Products of one matrix with windows of blocks, as the kernel of a convolution has them.

Laid out in memory, windows repeat each number once per tap, and on the way back as many blocks are added up.
Here both are read, and added to, where they lie: a piece of the product is a sum over its taps, and so is the
gradient of each stretch of a block that the windows show.
"""

import math
from itertools import pairwise

import numpy as np

from tensor_rnns.engine.ir.graph import Node

LARGE = 1 << 13
"""Numbers of a matrix from which on it is multiplied in panels; smaller ones stay in the first cache."""
TAP = 16
"""Numbers of a tap from which on windows are read where they lie."""

Taps = tuple[tuple[tuple[int, int] | None, ...], ...]
"""Of each tap and piece the block that it shows and its first number there; None where that is zero."""


def shown(node: Node) -> tuple[list[Node], np.ndarray, np.ndarray]:
    """The blocks that a layout shows, and of each of its numbers which one (-1: none, it is zero) and where
    there."""
    if node.operation == "slice":
        blocks, which, place = shown(node.inputs[0])
        part = slice(node.detail, node.detail + node.width)
        return blocks, which[part], place[part]
    if node.operation == "pick":
        blocks, which, place = shown(node.inputs[0])
        places = np.array(node.detail)
        return blocks, np.where(places < 0, -1, which[places]), place[places]
    if node.operation == "join":
        which, place = np.full(node.width, -1), np.zeros(node.width, int)
        blocks: list[Node] = []
        for part, start in zip(node.inputs, node.detail, strict=True):
            inner, *found = shown(part)
            blocks += (block for block in inner if block not in blocks)
            number = np.array([blocks.index(block) for block in inner] + [-1])
            which[start : start + part.width] = number[found[0]]
            place[start : start + part.width] = found[1]
        return blocks, which, place
    return [node], np.zeros(node.width, int), np.arange(node.width)


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
    if width < TAP or overlap:
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
