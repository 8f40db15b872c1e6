"""The aten operations on each number by itself, by the nodes that they become."""

from collections.abc import Callable
from typing import Any

import torch

from tensor_rnns.engine.ir.graph import Graph, Node
from tensor_rnns.engine.ir.operations import Unsupported, fill, scaled

aten = torch.ops.aten


def is_number(value: Any) -> bool:
    """Whether `value` is a Python number."""
    return isinstance(value, int | float)


def sum_of(graph: Graph, a: Any, b: Any, factor: float = 1.0) -> Node:
    """a + factor * b, where one of the two may be a number."""
    if is_number(a):
        a, b, factor = (b if factor == 1 else scaled(graph, b, factor)), a, 1.0
    if is_number(b):
        return graph.add("add_number", a, detail=float(factor * b))
    if factor == -1:
        return graph.add("subtract", a, b)
    return graph.add("add", a, b if factor == 1 else scaled(graph, b, factor))


def multiply(graph: Graph, a: Any, b: Any) -> Node:
    """a * b, where one of the two may be a number."""
    if is_number(a):
        a, b = b, a
    return scaled(graph, a, b) if is_number(b) else graph.add("multiply", a, b)


def divide(graph: Graph, a: Any, b: Any) -> Node:
    """a / b, where one of the two may be a number."""
    if is_number(a):
        return graph.add("number_over", b, detail=float(a))
    return scaled(graph, a, 1 / b) if is_number(b) else graph.add("divide", a, b)


def power(graph: Graph, a: Node, exponent: float) -> Node:
    """a to one of a few exponents."""
    known: dict[float, Callable[[], Node]] = {
        1: lambda: graph.add("copy", a),
        2: lambda: graph.add("multiply", a, a),
        3: lambda: graph.add("multiply", a, graph.add("multiply", a, a)),
        0.5: lambda: graph.add("sqrt", a),
        -0.5: lambda: graph.add("number_over", graph.add("sqrt", a), detail=1.0),
        -1: lambda: graph.add("number_over", a, detail=1.0),
    }
    if exponent not in known:
        raise Unsupported(f"aten.pow.Tensor_Scalar with exponent {exponent}")
    return known[exponent]()


def interpolate(graph: Graph, a: Node, b: Node, weight: Any) -> Node:
    """a + weight * (b - a)."""
    return sum_of(graph, a, multiply(graph, weight, sum_of(graph, b, a, -1.0)))


def blocks(graph: Graph, a: Any, b: Any) -> tuple[Node, Node]:
    """Two blocks, where one of the two may be a number."""
    width = (b if is_number(a) else a).width
    return tuple(fill(graph, width, part) if is_number(part) else part for part in (a, b))


def comparison(operation: str, swapped: bool, opposite: bool) -> Callable[..., Node]:
    """1 where a comparison holds, else 0."""

    def compare(graph: Graph, a: Any, b: Any) -> Node:
        pair = blocks(graph, a, b)
        holds = graph.add(operation, *(pair[::-1] if swapped else pair))
        return graph.add("number_minus", holds, detail=1.0) if opposite else holds

    return compare


def choose(graph: Graph, condition: Node, a: Any, b: Any) -> Node:
    """a where the condition holds, else b."""
    return graph.add("where", *(blocks(graph, condition, part)[1] for part in (condition, a, b)))


def larger(graph: Graph, a: Node, b: Node) -> Node:
    """The larger of two; of equal ones the second; NaN where either is."""
    return graph.add("where", graph.add("add", graph.add("greater", a, b), is_nan(graph, a)), a, b)


def smaller(graph: Graph, a: Node, b: Node) -> Node:
    """The smaller of two; of equal ones the second; NaN where either is."""
    return graph.add("where", graph.add("add", graph.add("greater", b, a), is_nan(graph, a)), a, b)


def is_nan(graph: Graph, a: Node) -> Node:
    """1 where a is not a number, else 0."""
    return graph.add("number_minus", graph.add("equal", a, a), detail=1.0)


def clamp(graph: Graph, a: Node, low: Any = None, high: Any = None) -> Node:
    """a within bounds; a bound itself passes the gradient on."""
    within = a
    if low is not None:
        low = blocks(graph, a, low)[1]
        within = graph.add("where", graph.add("greater", low, a), low, within)
    if high is not None:
        high = blocks(graph, a, high)[1]
        within = graph.add("where", graph.add("greater", a, high), high, within)
    return within


def magnitude(graph: Graph, a: Node) -> Node:
    """|a|, with gradient 0 at 0."""
    return graph.add("multiply", a, sign(graph, a))


def sign(graph: Graph, a: Node) -> Node:
    """1, 0 or -1."""
    zero = fill(graph, a.width, 0)
    return graph.add("subtract", graph.add("greater", a, zero), graph.add("greater", zero, a))


def simple(operation: str) -> Callable[..., Node]:
    """The translation of an aten operation with one input into the operation of that name."""
    return lambda graph, a: graph.add(operation, a)


def leaky(graph: Graph, a: Node, slope: float = 0.01) -> Node:
    """a where it is positive, else slope * a."""
    zero = fill(graph, a.width, 0)
    return graph.add("where", graph.add("greater", a, zero), a, scaled(graph, a, slope))


def softplus(graph: Graph, a: Node, beta: float = 1, threshold: float = 20) -> Node:
    """log(1 + e^(beta a)) / beta."""
    return scaled(graph, graph.add("softplus", scaled(graph, a, beta)), 1 / beta)


COMPARISONS = {
    "gt": ("greater", False, False),
    "lt": ("greater", True, False),
    "le": ("greater", False, True),
    "ge": ("greater", True, True),
    "eq": ("equal", False, False),
    "ne": ("equal", False, True),
}
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
    aten.log.default: simple("log"),
    aten.sqrt.default: simple("sqrt"),
    aten.rsqrt.default: lambda graph, a: power(graph, a, -0.5),
    aten.relu.default: simple("relu"),
    aten.detach.default: simple("detach"),
    aten.softplus.default: softplus,
    aten.silu.default: lambda graph, a: multiply(graph, a, graph.add("sigmoid", a)),
    aten.leaky_relu.default: leaky,
    aten.abs.default: magnitude,
    aten.sign.default: sign,
    aten.maximum.default: larger,
    aten.minimum.default: smaller,
    aten.clamp.default: clamp,
    aten.where.self: choose,
    aten.addcmul.default: lambda graph, a, b, c, value=1: sum_of(graph, a, multiply(graph, b, c), value),
    aten.addcdiv.default: lambda graph, a, b, c, value=1: sum_of(graph, a, divide(graph, b, c), value),
}
for name, how in COMPARISONS.items():
    for kind in ("Tensor", "Scalar"):
        ATEN[getattr(getattr(aten, name), kind)] = comparison(*how)
