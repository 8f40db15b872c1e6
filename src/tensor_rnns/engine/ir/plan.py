"""In which order one step computes its nodes, and where it puts them: products, loops that join operations
on single numbers, and the rest one by one.

A small cell is bound by memory and not by arithmetic. So operations on single numbers share one pass over
their blocks, a product is added onto what waits for it, and the tape keeps only what costs more to compute
again than to read.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from tensor_rnns.engine.ir.graph import READ_IN_PLACE, SOURCES, Node, needed
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.reverse import Backward
from tensor_rnns.engine.ir.trace import Program

CHEAP_ROWS = 4
"""Rows of a matrix up to which a product is repeated on the way back."""


class Arena:
    """Memory that an emitter lays out before any code runs: values of given widths, one behind another."""

    def __init__(self, widths: Mapping[Any, int] = MappingProxyType({})) -> None:
        self.width = 0
        self.offsets: dict = {}
        for key, width in widths.items():
            self.take(key, width)

    def take(self, key, width: int) -> int:
        """The offset of `key`, new or known."""
        if key not in self.offsets:
            self.offsets[key] = self.width
            self.width += width
        return self.offsets[key]


@dataclass(frozen=True)
class Step:
    """Nodes that are computed together: operations on single numbers of one width in one loop, or one node.

    With a `product` that node is left @ matrix, or the sum of it and `onto`, whose place it takes: onto +=
    left @ matrix.
    """

    nodes: tuple[Node, ...]
    product: Node | None = None
    onto: Node | None = None

    @property
    def target(self) -> Node:
        """The one node, or the first of a loop."""
        return self.nodes[0]

    @property
    def is_loop(self) -> bool:
        """Whether these are operations on single numbers."""
        return self.product is None and self.target.operation in POINTWISE

    @property
    def reads(self) -> list[Node]:
        """The nodes that it reads, but for `onto`."""
        nodes = [self.product] if self.product else self.nodes
        return [part for node in nodes for part in node.inputs if part not in nodes]


MOVING = ("join", "pick", *READ_IN_PLACE)
PRODUCTS = ("product", "scattered")


def costly(node: Node) -> bool:
    """Whether the value is kept for the way back; products of a narrow input, or of a few sums, are cheap to
    repeat."""
    if node.operation == "product":
        left = node.inputs[0]
        return left.operation not in ("input", "product", "add") or left.width > CHEAP_ROWS
    if node.operation in POINTWISE:
        return POINTWISE[node.operation].costly
    return node.operation not in MOVING


def is_order(node: Node, readers: Mapping[Node, int]) -> bool:
    """Whether a node is another order of a value that is kept for its sake alone: then it is kept itself,
    which the way back reads without a copy and from one end to the other."""
    if node.operation != "pick" or node.inputs[0].operation == "state":
        return False
    (source,) = node.inputs
    return readers[source] == 1 and costly(source) and node.width <= source.width


def saved(program: Program, backward: Backward) -> list[Node]:
    """The nodes of the step that the way back reads from the tape; new states are kept in any case."""
    forward = program.graph.nodes[: backward.forward]
    readers = Counter([*program.outputs, *(part for node in forward for part in node.inputs)])
    stack = [g for g in (*backward.states, *backward.inputs) if g] + backward.operands
    seen, kept = set(), []
    while stack:
        node = stack.pop()
        if node in seen or node.operation in SOURCES or node in program.outputs:
            continue
        seen.add(node)
        if node.index < backward.forward and (costly(node) or is_order(node, readers)):
            kept.append(node)
        else:
            stack.extend(node.inputs)
    twice = {node for node in kept if is_order(node, readers) and node.inputs[0] in kept}
    return sorted(set(kept) - twice, key=lambda node: node.index)


def read_back(program: Program, backward: Backward, kept: Iterable[Node]) -> set[int]:
    """The inputs that the way back reads beside the nodes that are `kept`."""
    roots = [g for g in (*backward.states, *backward.inputs) if g] + backward.operands
    nodes = [*roots, *(part for node in needed(roots, [*kept, *program.outputs]) for part in node.inputs)]
    return {node.detail for node in nodes if node.operation == "input"}


def plan(roots: Iterable[Node], given: Iterable[Node]) -> list[Step]:
    """The order of everything that `roots` need beyond what is `given`.

    A sum of a product and something that only this sum reads becomes one product onto it, unless either is
    a root, which has memory of its own.
    """
    todo = sorted(needed(roots, given), key=lambda node: node.index)
    sums = accumulations(todo, set(roots))
    absorbed = {product for _, product in sums.values()}
    done = set(given)
    rest = [node for node in todo if node not in absorbed]
    steps: list[Step] = []
    while rest:
        for node in rest:
            if node.operation in READ_IN_PLACE and is_ready(node, done):
                done.add(node)
        rest = [node for node in rest if node not in done]
        # Products come first: what waits for them can then go into one long loop.
        ready = singles(rest, sums, done) or loop(rest, sums, done)
        steps += ready
        done.update(node for step in ready for node in step.nodes)
        rest = [node for node in rest if node not in done]
    return steps


def accumulations(todo: Iterable[Node], own: set[Node]) -> dict[Node, tuple[Node, Node]]:
    """The sums that a product may be added onto: of each, its other part and the product.

    Neither is read by anything else, nor in `own`, so that the one may be overwritten and the other never be.
    """
    users = Counter(part for node in todo for part in node.inputs)
    members = set(todo)
    sums: dict[Node, tuple[Node, Node]] = {}
    absorbed: set[Node] = set()

    def free(node: Node) -> bool:
        alone = node in members and users[node] == 1 and node not in own and node not in absorbed
        return alone and node.operation not in MOVING

    for node in todo:
        if node.operation == "add":
            for onto, product in (node.inputs, node.inputs[::-1]):
                if product.operation in PRODUCTS and free(product) and free(onto) and onto is not product:
                    sums[node] = (onto, product)
                    absorbed.add(product)
                    break
    return sums


def is_ready(node: Node, done: Container[Node]) -> bool:
    """Whether everything that a node reads is there."""
    return all(part in done or part.operation in SOURCES for part in node.inputs)


def singles(rest: Iterable[Node], sums: Mapping[Node, tuple[Node, Node]], done: set[Node]) -> list[Step]:
    """Everything that can be computed now, but for operations on single numbers."""
    steps: list[Step] = []
    for node in rest:
        if node in sums:
            onto, product = sums[node]
            if onto in done and is_ready(product, done):
                steps.append(Step((node,), product, onto))
        elif node.operation not in POINTWISE and is_ready(node, done):
            steps.append(Step((node,), node if node.operation in PRODUCTS else None))
    return steps


def loop(rest: Iterable[Node], sums: Container[Node], done: set[Node]) -> list[Step]:
    """One loop over all operations on single numbers of one width that can be computed in turn."""
    chosen: list[Node] = []
    there = set(done)
    for node in rest:
        same = not chosen or node.width == chosen[0].width
        if node.operation in POINTWISE and node not in sums and same and is_ready(node, there):
            chosen.append(node)
            there.add(node)
    return [Step(tuple(chosen))] if chosen else []
