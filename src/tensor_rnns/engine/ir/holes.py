"""What need not be computed: numbers that are zero whatever enters, and numbers that nothing reads.

A matrix that is multiplied by several pieces of a node, as the kernel of a convolution is by the windows at
all locations, meets zeros where these reach beyond the border, and its way back makes numbers for them.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tensor_rnns.engine.ir.graph import VIRTUAL, Node, needed
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.structure import shown


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
