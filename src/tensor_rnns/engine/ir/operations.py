"""What a step may do to each number by itself: operations with their C++, Triton and gradients, and the aten
operations by the nodes that they become."""

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from tensor_rnns.engine.ir.graph import Node


@dataclass(frozen=True)
class Operation:
    """An operation on each number by itself.

    `code` is C++ on vectors, with {0}, {1} for the inputs and {n} for the number of the node; `triton` is
    Triton on blocks where that differs. `reverse(y, g)` gives the gradient of each input of the node y from
    the gradient g of it. A `costly` value is kept for the way back, a cheap one is computed again there.
    """

    code: str
    reverse: Callable[[Node, Node], tuple[Node | None, ...]]
    costly: bool = False
    triton: str | None = None


def literal(number: float) -> str:
    """A number in C++."""
    if math.isnan(number):
        return 'real(__builtin_nan(""))'
    return f"real({'-' if number < 0 else ''}__builtin_inf())" if math.isinf(number) else f"real({number!r})"


class Unsupported(Exception):
    """A step does what this engine has no code for; the message names it."""

    def at(self, place: str) -> "Unsupported":
        """With the line of the step, unless one is known."""
        named = str(self) if str(self).endswith(")") else f"{self} ({place})"
        return Unsupported(named)


def reverse_divide(y: Node, g: Node) -> tuple[Node, Node]:
    """Of a / b: g / b and -g / b * (a / b)."""
    share = g / y.inputs[1]
    return share, -(share * y)


def reverse_where(y: Node, g: Node) -> tuple[None, Node, Node]:
    """g to whichever was taken."""
    condition, zero = y.inputs[0], y.graph.fill(y.width, 0)
    return None, condition.then("where", g, zero), condition.then("where", zero, g)


def holds(comparison: str) -> Operation:
    """A comparison: 1 where it holds, else 0; without gradients."""
    code, triton = f"{comparison} ? splat<Vec>(1) : Vec{{{{}}}}", f"({comparison}).to(REAL)"
    return Operation(code, lambda y, g: (None, None), triton=triton)


POINTWISE: dict[str, Operation] = {
    "fill": Operation("splat<Vec>({n})", lambda y, g: (), triton="tl.full((1, 1), {n}, REAL)"),
    "copy": Operation("{0}", lambda y, g: (g,)),
    "detach": Operation("{0}", lambda y, g: (None,)),
    "add": Operation("{0} + {1}", lambda y, g: (g, g)),
    "subtract": Operation("{0} - {1}", lambda y, g: (g, -g)),
    "multiply": Operation("{0} * {1}", lambda y, g: (g * y.inputs[1], g * y.inputs[0])),
    "divide": Operation("{0} / {1}", reverse_divide),
    "negate": Operation("-{0}", lambda y, g: (-g,)),
    "add_number": Operation("{0} + {n}", lambda y, g: (g,)),
    "multiply_number": Operation("{0} * {n}", lambda y, g: (g * y.detail,)),
    "number_minus": Operation("{n} - {0}", lambda y, g: (-g,)),
    "number_over": Operation("{n} / {0}", lambda y, g: (-(g * (y / y.inputs[0])),)),
    "sigmoid": Operation("sigmoid({0})", lambda y, g: (g * (y * (1.0 - y)),), costly=True),
    "tanh": Operation("hyperbolic_tangent({0})", lambda y, g: (g * (1.0 - y * y),), costly=True),
    "exp": Operation("exponential({0})", lambda y, g: (g * y,), costly=True, triton="tl.exp({0})"),
    "log": Operation("logarithm({0})", lambda y, g: (g / y.inputs[0],), costly=True, triton="tl.log({0})"),
    "softplus": Operation(
        "soft_positive_part({0})", lambda y, g: (g * y.inputs[0].then("sigmoid"),), costly=True
    ),
    "sqrt": Operation("square_root({0})", lambda y, g: (g / y * 0.5,), costly=True, triton="tl.sqrt({0})"),
    "relu": Operation("positive_part({0})", lambda y, g: (g.then("where_positive", y),)),
    "where_positive": Operation(
        "where_positive({0}, {1})", lambda y, g: (g.then("where_positive", y.inputs[1]), None)
    ),
    "greater": holds("{0} > {1}"),
    "equal": holds("{0} == {1}"),
    "where": Operation("{0} != 0 ? {1} : {2}", reverse_where, triton="tl.where({0} != 0, {1}, {2})"),
}

aten = torch.ops.aten
BEYOND = 37
"""From here on log(1 + e^x) is x to the last digit of a double."""
POWERS: dict[float, Callable[[Node], Node]] = {
    1: lambda a: a.then("copy"),
    2: lambda a: a * a,
    3: lambda a: a * (a * a),
    0.5: lambda a: a.then("sqrt"),
    -0.5: lambda a: 1.0 / a.then("sqrt"),
    -1: lambda a: 1.0 / a,
}


def power(a: Node, exponent: float) -> Node:
    """a to one of a few exponents."""
    if exponent not in POWERS:
        raise Unsupported(f"aten.pow.Tensor_Scalar with exponent {exponent}")
    return POWERS[exponent](a)


def add(a: Any, b: Any, alpha: float = 1) -> Node:
    """a + alpha b."""
    return a - b if alpha == -1 else a + b * alpha


def block(like: Node, part: Node | float) -> Node:
    """`part`, or a block as wide as `like` with this number everywhere."""
    return part if isinstance(part, Node) else like.graph.fill(like.width, part)


def comparison(name: str, a: Any, b: Any) -> Node:
    """1 where the comparison of that name holds, else 0: of NaN only `ne` does."""
    return COMPARISONS[name](block(b, a), block(a, b))


def choose(condition: Node, a: Any, b: Any) -> Node:
    """a where the condition holds, else b."""
    return condition.then("where", block(condition, a), block(condition, b))


def interpolate(a: Node, b: Node, weight: Node | float) -> Node:
    """a + weight (b - a), from a weight of one half on from the side of b, so that either end is exact."""
    from_a, from_b = a + (b - a) * weight, b - (b - a) * (1.0 - weight)
    if isinstance(weight, Node):
        near = weight.graph.fill(weight.width, 0.5).then("greater", magnitude(weight))
        return near.then("where", from_a, from_b)
    return from_a if abs(weight) < 0.5 else from_b


def softplus(a: Node, beta: float = 1, threshold: float = 20) -> Node:
    """log(1 + e^(beta a)) / beta; a itself beyond a threshold below which that would be another number."""
    soft = (a * beta).then("softplus") * (1 / beta)
    if threshold >= BEYOND:
        return soft
    return (a * beta).then("greater", a.graph.fill(a.width, threshold)).then("where", a, soft)


def extreme(largest: bool) -> Callable[[Node, Node], Node]:
    """The larger or the smaller of two; the mean of equal ones; NaN where either is."""

    def chosen(a: Node, b: Node) -> Node:
        first = a.then("greater", b) if largest else b.then("greater", a)
        is_nan = 1.0 - a.then("equal", a)
        either = (first + is_nan).then("where", a, b)
        return a.then("equal", b).then("where", a * 0.5 + b * 0.5, either)

    return chosen


def clamp(a: Node, low: Any = None, high: Any = None) -> Node:
    """a within bounds; a bound itself passes the gradient on."""
    within = a
    if low is not None:
        low = block(a, low)
        within = low.then("greater", a).then("where", low, within)
    if high is not None:
        high = block(a, high)
        within = within.then("greater", high).then("where", high, within)
    return within


def sign(a: Node) -> Node:
    """1, 0 or -1."""
    zero = a.graph.fill(a.width, 0)
    return a.then("greater", zero) - zero.then("greater", a)


def magnitude(a: Node) -> Node:
    """|a|, which is not -0 either."""
    return a * sign(a) + 0.0


def leaky(a: Node, slope: float = 0.01) -> Node:
    """a where it is positive, else slope a."""
    return a.then("greater", a.graph.fill(a.width, 0)).then("where", a, a * slope)


ATEN: dict[Any, Callable[..., Node]] = {
    aten.add.Tensor: add,
    aten.sub.Tensor: lambda a, b, alpha=1: add(a, b, -alpha),
    aten.rsub.Scalar: lambda a, b, alpha=1: b - a * alpha,
    aten.mul.Tensor: operator.mul,
    aten.div.Tensor: operator.truediv,
    aten.neg.default: operator.neg,
    aten.reciprocal.default: lambda a: 1.0 / a,
    aten.pow.Tensor_Scalar: power,
    aten.rsqrt.default: POWERS[-0.5],
    aten.lerp.Tensor: interpolate,
    aten.lerp.Scalar: interpolate,
    aten.softplus.default: softplus,
    aten.silu.default: lambda a: a * a.then("sigmoid"),
    aten.leaky_relu.default: leaky,
    aten.abs.default: magnitude,
    aten.sign.default: sign,
    aten.maximum.default: extreme(largest=True),
    aten.minimum.default: extreme(largest=False),
    aten.clamp.default: clamp,
    aten.where.self: choose,
    aten.addcmul.default: lambda a, b, c, value=1: add(a, b * c, value),
    aten.addcdiv.default: lambda a, b, c, value=1: add(a, b / c, value),
}
ATEN |= {
    getattr(aten, name).default: lambda a, name=name: a.then(name)
    for name in ("sigmoid", "tanh", "exp", "log", "sqrt", "relu", "detach")
}
COMPARISONS: dict[str, Callable[[Node, Node], Node]] = {
    "gt": lambda a, b: a.then("greater", b),
    "lt": lambda a, b: b.then("greater", a),
    "le": lambda a, b: b.then("greater", a) + a.then("equal", b),
    "ge": lambda a, b: a.then("greater", b) + a.then("equal", b),
    "eq": lambda a, b: a.then("equal", b),
    "ne": lambda a, b: 1.0 - a.then("equal", b),
}
ATEN |= {
    getattr(getattr(aten, name), kind): partial(comparison, name)
    for name in COMPARISONS
    for kind in ("Tensor", "Scalar")
}
