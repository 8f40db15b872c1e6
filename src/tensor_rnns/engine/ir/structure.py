"""What moves, joins, spreads and adds up the numbers of blocks: how nodes of these kinds are made, and their
gradients.

Moving costs as much as computing here, so each function first looks for a node that moves nothing: a slice
or a spread is read where it lies, and a sum of products needs no products in memory.

Layouts are (outer, count, inner): a block of width outer * count * inner, in which the middle axis is spread,
added up or searched for its greatest.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise, zip_longest

import numpy as np

from tensor_rnns.engine.ir.graph import Node

Layout = tuple[int, int, int]
LONG = 16
"""Numbers of a stretch from which on it is moved, or read where it lies, as one."""


def solid(node: Node) -> Node:
    """`node`, or a copy of it where it has no contiguous block in memory."""
    part = node
    while part.operation == "slice":
        part = part.inputs[0]
    return node.then("copy") if part.operation in ("spread", "row") else node


def cut(node: Node, start: int, width: int) -> Node:
    """`width` numbers of each row from `start` on."""
    if width == node.width:
        return node
    if node.operation == "slice":
        start, node = start + node.detail, node.inputs[0]
    return node.then("slice", width=width, detail=start)


def spread(node: Node, outer: int, count: int, inner: int) -> Node:
    """[outer, inner] read as [outer, count, inner]."""
    if count == 1:
        return node
    return node.then("spread", width=outer * count * inner, detail=(outer, count, inner))


def join(parts: Sequence[tuple[int, Node]], width: int) -> Node:
    """Blocks at their starts in a row of `width` numbers; what no block covers is zero."""
    starts, nodes = zip(*parts, strict=True)
    return nodes[0].graph.add("join", *map(solid, nodes), width=width, detail=starts)


def pick(node: Node, indices: tuple[int, ...]) -> Node:
    """The numbers of each row at `indices`; zero for -1. What was picked before is not moved twice."""
    if node.operation == "pick":
        return pick(node.inputs[0], tuple(node.detail[i] if i >= 0 else -1 for i in indices))
    runs = len(indices) > 0 and indices == tuple(range(indices[0], indices[0] + len(indices)))
    if runs and indices[0] >= 0:
        return cut(node, indices[0], len(indices))
    if (layout := spreading(indices, node.width)) is not None:
        return spread(node, *layout)
    if node.graph.in_place and (parts := stretches(node, indices)):
        return join(parts, len(indices))
    return solid(node).then("pick", width=len(indices), detail=indices)


def shown(node: Node) -> tuple[list[Node], np.ndarray, np.ndarray]:
    """The blocks that a layout shows, and of each of its numbers which one (-1: none, it is zero) and where
    there."""
    if node.operation == "slice":
        blocks, which, place = shown(node.inputs[0])
        part = slice(node.detail, node.detail + node.width)
        return blocks, which[part], place[part]
    if node.operation == "pick":
        return shown_at(node.inputs[0], node.detail)
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


def shown_at(node: Node, indices: tuple[int, ...]) -> tuple[list[Node], np.ndarray, np.ndarray]:
    """What a layout shows at `indices`; -1 is a zero."""
    blocks, which, place = shown(node)
    places = np.array(indices)
    return blocks, np.where(places < 0, -1, which[places]), place[places]


def stretches(node: Node, indices: tuple[int, ...]) -> list[tuple[int, Node]]:
    """The parts of blocks that the numbers of a layout at `indices` are, with their starts; none where they
    are short on average."""
    blocks, which, place = shown_at(node, indices)
    goes_on = (which[1:] == which[:-1]) & ((which[1:] < 0) | (np.diff(place) == 1))
    edges = [0, *(np.flatnonzero(~goes_on) + 1).tolist(), len(indices)]
    if len(indices) < LONG * (len(edges) - 1):
        return []
    runs = [(start, end) for start, end in pairwise(edges) if which[start] >= 0]
    return [(start, cut(blocks[which[start]], int(place[start]), end - start)) for start, end in runs]


def spreading(indices: tuple[int, ...], width: int) -> Layout | None:
    """The layout in which `indices` repeat all `width` numbers, if they do."""
    if len(indices) % width or indices[0] != 0:
        return None
    run = next((j for j, index in enumerate(indices) if index != j), len(indices))
    for inner in {1, min(run, width)}:
        count = len(indices) // width
        read = tuple(j // (count * inner) * inner + j % inner for j in range(len(indices)))
        if width % inner == 0 and indices == read:
            return width // inner, count, inner
    return None


def total(node: Node, outer: int, count: int, inner: int) -> Node:
    """Sums over the middle axis; of products in one pass, without the products in memory."""
    width, layout = outer * inner, (outer, count, inner)
    if count == 1:
        return node
    if node.operation != "multiply":
        return solid(node).then("sum", width=width, detail=layout)
    starts = sorted({1, inner, inner * count, node.width}.union(*map(edges, node.inputs)))
    if any(b % a for a, b in pairwise(starts)):
        return node.then("sum", width=width, detail=layout)
    sizes, units = tuple(b // a for a, b in pairwise(starts)), starts[:-1]
    onto = tuple(unit if unit < inner else 0 if unit < inner * count else unit // count for unit in units)
    a, b = map(root, node.inputs)
    strides = (tuple(stride(part, unit) for unit in units) for part in node.inputs)
    return a.then("contract", b, width=width, detail=(sizes, *strides, onto))


def edges(node: Node) -> set[int]:
    """Where axes of a block that was spread begin."""
    if node.operation != "spread":
        return set()
    _, count, inner = node.detail
    within = {edge if edge <= inner else edge * count for edge in edges(node.inputs[0])}
    return within | {inner, inner * count}


def stride(node: Node, unit: int) -> int:
    """How far to go in the memory of `node` for the next number of the axis that begins at `unit`."""
    if node.operation != "spread":
        return unit
    _, count, inner = node.detail
    if inner <= unit < inner * count:
        return 0
    return stride(node.inputs[0], unit if unit < inner else unit // count)


def root(node: Node) -> Node:
    """What a block that was spread is read from."""
    while node.operation == "spread":
        node = node.inputs[0]
    return solid(node)


def greatest(node: Node, outer: int, count: int, inner: int) -> Node:
    """The greatest over the middle axis."""
    return solid(node).then("greatest", width=outer * inner, detail=(outer, count, inner))


def reverse_join(y: Node, g: Node) -> tuple[Node, ...]:
    """Each block gets its part."""
    return tuple(cut(g, start, part.width) for start, part in zip(y.detail, y.inputs, strict=True))


def reverse_pick(y: Node, g: Node) -> tuple[Node]:
    """Each number goes back to where it was read; where several were, to their sum."""
    readers: list[list[int]] = [[] for _ in range(y.inputs[0].width)]
    for j, index in enumerate(y.detail):
        if index >= 0:
            readers[index].append(j)
    turns = list(zip_longest(*readers, fillvalue=-1)) or [(-1,) * len(readers)]
    result = pick(g, turns[0])
    for turn in turns[1:]:
        result = result + pick(g, turn)
    return (result,)


def reverse_greatest(y: Node, g: Node) -> tuple[Node]:
    """Shared by all that are greatest."""
    among = y.inputs[0].then("equal", spread(y, *y.detail))
    share = g / total(among, *y.detail)
    return (spread(share, *y.detail) * among,)


def reverse_contract(y: Node, g: Node) -> tuple[Node, Node]:
    """Sums of products again, with the three blocks in other roles."""
    a, b = y.inputs
    sizes, of_a, of_b, onto = y.detail
    g = solid(g)
    return (
        g.then("contract", b, width=a.width, detail=(sizes, onto, of_b, of_a)),
        g.then("contract", a, width=b.width, detail=(sizes, onto, of_a, of_b)),
    )


REVERSE: dict[str, Callable[[Node, Node], tuple[Node | None, ...]]] = {
    "spread": lambda y, g: (total(g, *y.detail),),
    "sum": lambda y, g: (spread(g, *y.detail),),
    "join": reverse_join,
    "pick": reverse_pick,
    "greatest": reverse_greatest,
    "contract": reverse_contract,
}
