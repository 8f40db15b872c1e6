"""What a step may do to each number by itself: operations with their C++, Triton and gradients."""

from collections.abc import Callable
from dataclasses import dataclass

from tensor_rnns.engine.ir.graph import Graph, Node


@dataclass(frozen=True)
class Operation:
    """An operation on each number by itself.

    `code` is C++ on vectors, with {0}, {1} for the inputs and {n} for the number of the node; `triton` is
    Triton on blocks where that differs.
    `reverse(graph, node, g)` gives the gradient of each input from the gradient g of the node. A `costly`
    value is kept for the way back, a cheap one is computed again there.
    """

    code: str
    reverse: Callable[[Graph, Node, Node], tuple[Node | None, ...]]
    costly: bool = False
    triton: str | None = None

    @property
    def block_code(self) -> str:
        """Triton on blocks."""
        return self.triton or self.code


class Unsupported(Exception):
    """A step does what this engine has no code for; the message names it."""


def scaled(graph: Graph, node: Node, number: float) -> Node:
    """number * node."""
    return node if number == 1 else graph.add("multiply_number", node, detail=float(number))


def fill(graph: Graph, width: int, number: float) -> Node:
    """One number everywhere."""
    return graph.add("fill", width=width, detail=float(number))


def reverse_multiply(graph: Graph, node: Node, g: Node) -> tuple[Node, Node]:
    """g b and g a."""
    a, b = node.inputs
    return graph.add("multiply", g, b), graph.add("multiply", g, a)


def reverse_divide(graph: Graph, node: Node, g: Node) -> tuple[Node, Node]:
    """Of a / b: g / b and -g / b * (a / b)."""
    share = graph.add("divide", g, node.inputs[1])
    return share, graph.add("negate", graph.add("multiply", share, node))


def reverse_number_over(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """Of n / a: -g (n / a) / a."""
    quotient = graph.add("divide", node, node.inputs[0])
    return (graph.add("negate", graph.add("multiply", g, quotient)),)


def reverse_sigmoid(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """g y (1 - y)."""
    rest = graph.add("number_minus", node, detail=1.0)
    return (graph.add("multiply", g, graph.add("multiply", node, rest)),)


def reverse_tanh(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """g (1 - y^2)."""
    square = graph.add("multiply", node, node)
    return (graph.add("multiply", g, graph.add("number_minus", square, detail=1.0)),)


def reverse_root(graph: Graph, node: Node, g: Node) -> tuple[Node]:
    """g / (2 y)."""
    return (scaled(graph, graph.add("divide", g, node), 0.5),)


def reverse_where(graph: Graph, node: Node, g: Node) -> tuple[None, Node, Node]:
    """g to whichever was taken."""
    condition, zero = node.inputs[0], fill(graph, node.width, 0)
    return None, graph.add("where", condition, g, zero), graph.add("where", condition, zero, g)


POINTWISE: dict[str, Operation] = {
    "fill": Operation("splat<Vec>({n})", lambda graph, node, g: (), triton="tl.full((1, 1), {n}, REAL)"),
    "copy": Operation("{0}", lambda graph, node, g: (g,)),
    "detach": Operation("{0}", lambda graph, node, g: (None,)),
    "add": Operation("{0} + {1}", lambda graph, node, g: (g, g)),
    "subtract": Operation("{0} - {1}", lambda graph, node, g: (g, graph.add("negate", g))),
    "multiply": Operation("{0} * {1}", reverse_multiply),
    "divide": Operation("{0} / {1}", reverse_divide),
    "negate": Operation("-{0}", lambda graph, node, g: (graph.add("negate", g),)),
    "add_number": Operation("{0} + {n}", lambda graph, node, g: (g,)),
    "multiply_number": Operation("{0} * {n}", lambda graph, node, g: (scaled(graph, g, node.detail),)),
    "number_minus": Operation("{n} - {0}", lambda graph, node, g: (graph.add("negate", g),)),
    "number_over": Operation("{n} / {0}", reverse_number_over),
    "sigmoid": Operation("sigmoid({0})", reverse_sigmoid, costly=True),
    "tanh": Operation("hyperbolic_tangent({0})", reverse_tanh, costly=True),
    "exp": Operation(
        "exponential({0})",
        lambda graph, node, g: (graph.add("multiply", g, node),),
        costly=True,
        triton="tl.exp({0})",
    ),
    "log": Operation(
        "logarithm({0})",
        lambda graph, node, g: (graph.add("divide", g, node.inputs[0]),),
        costly=True,
        triton="tl.log({0})",
    ),
    "softplus": Operation(
        "soft_positive_part({0})",
        lambda graph, node, g: (graph.add("multiply", g, graph.add("sigmoid", node.inputs[0])),),
        costly=True,
    ),
    "sqrt": Operation("square_root({0})", reverse_root, costly=True, triton="tl.sqrt({0})"),
    "relu": Operation("positive_part({0})", lambda graph, node, g: (graph.add("where_positive", g, node),)),
    "where_positive": Operation(
        "where_positive({0}, {1})",
        lambda graph, node, g: (graph.add("where_positive", g, node.inputs[1]), None),
    ),
    "greater": Operation(
        "{0} > {1} ? splat<Vec>(1) : Vec{{}}",
        lambda graph, node, g: (None, None),
        triton="({0} > {1}).to(REAL)",
    ),
    "equal": Operation(
        "{0} == {1} ? splat<Vec>(1) : Vec{{}}",
        lambda graph, node, g: (None, None),
        triton="({0} == {1}).to(REAL)",
    ),
    "where": Operation("{0} != 0 ? {1} : {2}", reverse_where, triton="tl.where({0} != 0, {1}, {2})"),
}
