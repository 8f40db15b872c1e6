"""What a step may do to activations: aten operations, their C++ and their gradients.

An operation is added here and nowhere else: its C++ and its reverse in POINTWISE, its aten name in ATEN.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from tensor_rnns.engine.compiled.graph import Graph, Node

aten = torch.ops.aten


@dataclass(frozen=True)
class Operation:
    """An operation on each number by itself.

    `code` is C++ on vectors, with {0}, {1} for the inputs and {n} for the number of the node.
    `reverse(graph, node, g)` gives the gradient of each input from the gradient g of the node. A `costly`
    value is kept for the way back, a cheap one is computed again there.
    """

    code: str
    reverse: Callable[[Graph, Node, Node], tuple[Node | None, ...]]
    costly: bool = False


def scaled(graph: Graph, node: Node, number: float) -> Node:
    """number * node."""
    return graph.add("multiply_number", node, detail=float(number))


def reverse_divide(graph: Graph, node: Node, g: Node) -> tuple[Node, Node]:
    """Of a / b: g / b and -g / b * (a / b)."""
    share = graph.add("divide", g, node.inputs[1])
    return share, graph.add("negate", graph.add("multiply", share, node))


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


POINTWISE: dict[str, Operation] = {
    "add": Operation("{0} + {1}", lambda graph, node, g: (g, g)),
    "subtract": Operation("{0} - {1}", lambda graph, node, g: (g, graph.add("negate", g))),
    "multiply": Operation(
        "{0} * {1}",
        lambda graph, node, g: (
            graph.add("multiply", g, node.inputs[1]),
            graph.add("multiply", g, node.inputs[0]),
        ),
    ),
    "divide": Operation("{0} / {1}", reverse_divide),
    "negate": Operation("-{0}", lambda graph, node, g: (graph.add("negate", g),)),
    "add_number": Operation("{0} + {n}", lambda graph, node, g: (g,)),
    "multiply_number": Operation("{0} * {n}", lambda graph, node, g: (scaled(graph, g, node.detail),)),
    "number_minus": Operation("{n} - {0}", lambda graph, node, g: (graph.add("negate", g),)),
    "number_over": Operation(
        "{n} / {0}",
        lambda graph, node, g: (
            graph.add("negate", graph.add("multiply", g, graph.add("divide", node, node.inputs[0]))),
        ),
    ),
    "sigmoid": Operation("sigmoid({0})", reverse_sigmoid, costly=True),
    "tanh": Operation("hyperbolic_tangent({0})", reverse_tanh, costly=True),
    "exp": Operation(
        "exponential({0})", lambda graph, node, g: (graph.add("multiply", g, node),), costly=True
    ),
    "sqrt": Operation("square_root({0})", reverse_root, costly=True),
    "relu": Operation("positive_part({0})", lambda graph, node, g: (graph.add("where_positive", g, node),)),
    "where_positive": Operation(
        "where_positive({0}, {1})",
        lambda graph, node, g: (graph.add("where_positive", g, node.inputs[1]), None),
    ),
    "copy": Operation("{0}", lambda graph, node, g: (g,)),
}


class Unsupported(Exception):
    """A step does what this engine has no code for; the message names it."""


def is_number(value: Any) -> bool:
    """Whether `value` is a Python number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def sum_of(graph: Graph, a: Any, b: Any, factor: float = 1.0) -> Node:
    """a + factor * b, where one of the two may be a number."""
    if is_number(a):
        a, b, factor = (b if factor == 1 else scaled(graph, b, factor)), a, 1.0
    if is_number(b):
        return graph.add("add_number", a, detail=float(factor * b))
    if factor == -1:
        return pair(graph, "subtract", a, b)
    return pair(graph, "add", a, b if factor == 1 else scaled(graph, b, factor))


def pair(graph: Graph, operation: str, a: Node, b: Node) -> Node:
    """An operation on two blocks, or on a block and a row, of equal width."""
    if a.width != b.width:
        raise Unsupported(f"{operation} of blocks of widths {a.width} and {b.width}")
    return graph.add(operation, a, b)


def multiply(graph: Graph, a: Any, b: Any) -> Node:
    """a * b, where one of the two may be a number."""
    if is_number(a):
        a, b = b, a
    return scaled(graph, a, b) if is_number(b) else pair(graph, "multiply", a, b)


def divide(graph: Graph, a: Any, b: Any) -> Node:
    """a / b, where one of the two may be a number."""
    if is_number(a):
        return graph.add("number_over", b, detail=float(a))
    return scaled(graph, a, 1 / b) if is_number(b) else pair(graph, "divide", a, b)


def power(graph: Graph, a: Node, exponent: float) -> Node:
    """a squared; no other power is known."""
    if exponent != 2:
        raise Unsupported(f"aten.pow.Tensor_Scalar with exponent {exponent}")
    return graph.add("multiply", a, a)


def interpolate(graph: Graph, a: Node, b: Node, weight: Any) -> Node:
    """a + weight * (b - a)."""
    return sum_of(graph, a, multiply(graph, weight, sum_of(graph, b, a, -1.0)))


def simple(operation: str) -> Callable[..., Node]:
    """The translation of an aten operation with one input into the operation of that name."""
    return lambda graph, a: graph.add(operation, a)


ATEN: dict[Any, Callable[..., Node]] = {
    aten.add.Tensor: lambda graph, a, b, alpha=1: sum_of(graph, a, b, alpha),
    aten.sub.Tensor: lambda graph, a, b, alpha=1: sum_of(graph, a, b, -alpha),
    aten.rsub.Scalar: lambda graph, a, b, alpha=1: graph.add(
        "number_minus", a if alpha == 1 else scaled(graph, a, alpha), detail=float(b)
    ),
    aten.mul.Tensor: multiply,
    aten.div.Tensor: divide,
    aten.reciprocal.default: lambda graph, a: divide(graph, 1.0, a),
    aten.pow.Tensor_Scalar: power,
    aten.lerp.Tensor: interpolate,
    aten.lerp.Scalar: interpolate,
    aten.neg.default: simple("negate"),
    aten.sigmoid.default: simple("sigmoid"),
    aten.tanh.default: simple("tanh"),
    aten.exp.default: simple("exp"),
    aten.sqrt.default: simple("sqrt"),
    aten.relu.default: simple("relu"),
}
