"""The intermediate representation: one step of a cell for one replica, as nodes that can be printed.

Between a step in torch and code in two languages there must be something that neither knows, or each emitter
would need its own reverse mode. Equal nodes are made once, so that later passes see no repetition.

A node is a block [B, width] of numbers, except `row`, which is one row [1, width] for the whole batch. Blocks
of more axes lie flat, the last axis fastest.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SOURCES = ("input", "state", "row", "gradient")
VIRTUAL = ("slice", "spread")
READ_IN_PLACE = (*VIRTUAL, "windows")


@dataclass(frozen=True, eq=False)
class Node:
    """One value of the step; arithmetic with nodes and numbers makes further nodes of its graph.

    `operation` is one of SOURCES, `product`, `picked`, a name in `operations.POINTWISE` or in
    `structure.REVERSE`; what is VIRTUAL has no memory of its own and is read from its input. `detail` is the
    number of an input, state, row leaf or incoming gradient; (matrix leaf, transposed) of a product; (table,
    transposed) of one with a matrix that a symbol picks; the number of an operation with a number; the layout
    of a structural one; else None. For `windows` and `scattered` see the module `pieces`.
    """

    graph: "Graph" = field(repr=False)
    index: int
    operation: str
    inputs: tuple["Node", ...]
    width: int
    detail: Any = None

    def __hash__(self) -> int:
        """Not its address: code must not depend on the order in which a set has it."""
        return self.index

    @property
    def base(self) -> "Node":
        """The node with the memory that this one is read from."""
        return self.inputs[0].base if self.operation in VIRTUAL else self

    @property
    def bases(self) -> tuple["Node", ...]:
        """Those of all blocks that windows show, or the one `base`."""
        return tuple(part.base for part in self.inputs) if self.operation == "windows" else (self.base,)

    def then(self, operation: str, *others: "Node", width: int | None = None, detail: Any = None) -> "Node":
        """The node of an operation on this one and `others`."""
        return self.graph.add(operation, self, *others, width=width, detail=detail)

    def __add__(self, other: "Node | float") -> "Node":
        if isinstance(other, Node):
            return self.then("add", other)
        return self.then("add_number", detail=float(other))

    def __sub__(self, other: "Node | float") -> "Node":
        return self.then("subtract", other) if isinstance(other, Node) else self + -other

    def __mul__(self, other: "Node | float") -> "Node":
        if isinstance(other, Node):
            return self.then("multiply", other)
        return self if other == 1 else self.then("multiply_number", detail=float(other))

    def __truediv__(self, other: "Node | float") -> "Node":
        if isinstance(other, Node):
            return self.then("divide", other)
        # Only of a power of two is the reciprocal exact.
        exact = math.frexp(other)[0] in (0.5, -0.5) and 2**-100 < abs(other) < 2**100
        return self * (1 / other) if exact else self.then("divide", self.graph.fill(self.width, other))

    def __neg__(self) -> "Node":
        return self.then("negate")

    def __rsub__(self, number: float) -> "Node":
        return self.then("number_minus", detail=float(number))

    def __rtruediv__(self, number: float) -> "Node":
        return self.then("number_over", detail=float(number))

    __radd__, __rmul__ = __add__, __mul__

    def __str__(self) -> str:
        parts = [f"%{node.index}" for node in self.inputs]
        parts += [abridged(self.detail)] if self.detail is not None else []
        return f"%{self.index} = {self.operation}({', '.join(parts)}) [{self.width}]"


def abridged(detail: Any) -> str:
    """A detail in words, a long one with its middle left out."""
    words = str(detail)
    return words if len(words) <= 60 else f"{words[:40]} ... {words[-15:]}"


@dataclass
class Graph:
    """Nodes in an order in which each follows its inputs; equal nodes are made once. With `in_place` long
    stretches are not moved twice, and what the emitter can read where it lies is not moved at all."""

    in_place: bool = False
    nodes: list[Node] = field(default_factory=list)
    known: dict[tuple, Node] = field(default_factory=dict)

    def add(self, operation: str, *inputs: Node, width: int | None = None, detail: Any = None) -> Node:
        """The node of this operation, inputs and detail; as wide as its first input if no width is given."""
        width = inputs[0].width if width is None else width
        key = (operation, tuple(node.index for node in inputs), width, detail)
        if key not in self.known:
            self.known[key] = Node(self, len(self.nodes), operation, inputs, width, detail)
            self.nodes.append(self.known[key])
        return self.known[key]

    def fill(self, width: int, number: float) -> Node:
        """One number everywhere."""
        return self.add("fill", width=width, detail=float(number))

    def own(self, node: Node) -> Node:
        """A fresh copy of `node`, which shares its memory with nothing."""
        self.nodes.append(Node(self, len(self.nodes), "copy", (node,), node.width))
        return self.nodes[-1]

    def find(self, operation: str, detail: Any) -> Node | None:
        """The source of that operation and detail, if there is one."""
        return next((n for n in self.nodes if n.operation == operation and n.detail == detail), None)

    def __str__(self) -> str:
        return "\n".join(map(str, self.nodes))


def needed(roots: Iterable[Node], given: Iterable[Node] = ()) -> set[Node]:
    """Every node that `roots` depend on, themselves included, without what is `given` and the sources."""
    given, reached, stack = set(given), set(), list(roots)
    while stack:
        node = stack.pop()
        if node not in reached and node not in given and node.operation not in SOURCES:
            reached.add(node)
            stack.extend(node.inputs)
    return reached
