"""What moves, joins, spreads and adds up the numbers of blocks: how nodes of these kinds are made, and their
gradients.

Moving costs as much as computing here, so each function first looks for a node that moves nothing: a slice
or a spread is read where it lies, and a sum of products needs no products in memory.

Layouts are (outer, count, inner): a block of width outer * count * inner, in which the middle axis is spread,
added up or searched for its greatest.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

from tensor_rnns.engine.ir.graph import Graph, Node

Layout = tuple[int, int, int]


def solid(graph: Graph, node: Node) -> Node:
    """`node`, or a copy of it where it has no contiguous block in memory."""
    part = node
    while part.operation == "slice":
        part = part.inputs[0]
    return graph.add("copy", node) if part.operation in ("spread", "row") else node


def cut(graph: Graph, node: Node, start: int, width: int) -> Node:
    """`width` numbers of each row from `start` on."""
    if width == node.width:
        return node
    if node.operation == "slice":
        start, node = start + node.detail, node.inputs[0]
    return graph.add("slice", node, width=width, detail=start)


def spread(graph: Graph, node: Node, outer: int, count: int, inner: int) -> Node:
    """[outer, inner] read as [outer, count, inner]."""
    if count == 1:
        return node
    return graph.add("spread", node, width=outer * count * inner, detail=(outer, count, inner))


def join(graph: Graph, parts: Sequence[tuple[int, Node]], width: int) -> Node:
    """Blocks at their starts in a row of `width` numbers; what no block covers is zero."""
    starts = tuple(start for start, _ in parts)
    return graph.add("join", *(solid(graph, node) for _, node in parts), width=width, detail=starts)


def pick(graph: Graph, node: Node, indices: tuple[int, ...]) -> Node:
    """The numbers of each row at `indices`; zero for -1."""
    runs = len(indices) > 0 and indices == tuple(range(indices[0], indices[0] + len(indices)))
    if runs and indices[0] >= 0:
        return cut(graph, node, indices[0], len(indices))
    if (layout := spreading(indices, node.width)) is not None:
        return spread(graph, node, *layout)
    return graph.add("pick", solid(graph, node), width=len(indices), detail=indices)


def spreading(indices: tuple[int, ...], width: int) -> Layout | None:
    """The layout in which `indices` repeat all `width` numbers, if they do."""
    if len(indices) % width or indices[0] != 0:
        return None
    run = next((j for j, index in enumerate(indices) if index != j), len(indices))
    for inner in {1, min(run, width)}:
        layout = (width // inner, len(indices) // width, inner)
        if width % inner == 0 and indices == tuple(read(j, layout) for j in range(len(indices))):
            return layout
    return None


def read(index: int, layout: Layout) -> int:
    """Where number `index` of a block that was spread comes from."""
    _, count, inner = layout
    return index // (count * inner) * inner + index % inner


def total(graph: Graph, node: Node, outer: int, count: int, inner: int) -> Node:
    """Sums over the middle axis; of products in one pass, without the products in memory."""
    if count == 1:
        return node
    if node.operation != "multiply":
        return graph.add("sum", solid(graph, node), width=outer * inner, detail=(outer, count, inner))
    ends = {inner, inner * count, node.width}
    for part in node.inputs:
        ends |= edges(part)
    starts = sorted({1, *ends})
    if any(b % a for a, b in pairwise(starts)):
        return graph.add("sum", node, width=outer * inner, detail=(outer, count, inner))
    sizes = tuple(b // a for a, b in pairwise(starts))
    units = starts[:-1]
    onto = tuple(unit if unit < inner else 0 if unit < inner * count else unit // count for unit in units)
    operands = [roots(graph, part) for part in node.inputs]
    strides = tuple(tuple(stride(part, unit) for unit in units) for part in node.inputs)
    return graph.add("contract", *operands, width=outer * inner, detail=(sizes, *strides, onto))


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


def roots(graph: Graph, node: Node) -> Node:
    """What a block that was spread is read from."""
    while node.operation == "spread":
        node = node.inputs[0]
    return solid(graph, node)


def greatest(graph: Graph, node: Node, outer: int, count: int, inner: int) -> Node:
    """The greatest over the middle axis."""
    return graph.add("greatest", solid(graph, node), width=outer * inner, detail=(outer, count, inner))


def reverse_join(graph: Graph, node: Node, g: Node) -> tuple[Node, ...]:
    """Each block gets its part."""
    return tuple(
        cut(graph, g, start, part.width) for start, part in zip(node.detail, node.inputs, strict=True)
    )


def reverse_pick(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """Each number goes back to where it was read; where several were, to their sum."""
    (before,) = node.inputs
    readers: list[list[int]] = [[] for _ in range(before.width)]
    for j, index in enumerate(node.detail):
        if index >= 0:
            readers[index].append(j)
    result = None
    for turn in range(max(1, *map(len, readers))):
        part = pick(graph, g, tuple(them[turn] if turn < len(them) else -1 for them in readers))
        result = part if result is None else graph.add("add", result, part)
    return (result,)


def reverse_greatest(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """Shared by all that are greatest."""
    layout = node.detail
    among = graph.add("equal", node.inputs[0], spread(graph, node, *layout))
    share = graph.add("divide", g, total(graph, among, *layout))
    return (graph.add("multiply", spread(graph, share, *layout), among),)


def reverse_contract(graph: Graph, node: Node, g: Node) -> tuple[Node, Node]:
    """Sums of products again, with the three blocks in other roles."""
    a, b = node.inputs
    sizes, of_a, of_b, onto = node.detail
    g = solid(graph, g)
    return (
        graph.add("contract", g, b, width=a.width, detail=(sizes, onto, of_b, of_a)),
        graph.add("contract", g, a, width=b.width, detail=(sizes, onto, of_a, of_b)),
    )


REVERSE: dict[str, Callable[[Graph, Node, Node], tuple[Node | None, ...]]] = {
    "spread": lambda graph, node, g: (total(graph, g, *node.detail),),
    "sum": lambda graph, node, g: (spread(graph, g, *node.detail),),
    "join": reverse_join,
    "pick": reverse_pick,
    "greatest": reverse_greatest,
    "contract": reverse_contract,
}
