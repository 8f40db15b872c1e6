"""What a step of a cell does, as aten operations on values that may be looked at.

The step is run once and watched, not read: whatever Python is in it (loops, helpers, options of the cell) has
then been resolved, and only operations on tensors are left to translate.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves, tree_map

from tensor_rnns.dispatch import DispatchMode
from tensor_rnns.engine.given import BATCH, place, shaping
from tensor_rnns.engine.ir.operations import Unsupported

aten = torch.ops.aten
ROWS = BATCH
LONGEST = 1000
"""Characters of a label: that of a result holds those of its arguments, and could double with each call."""
FILLS = {
    aten.ones_like.default: 1.0,
    aten.zeros_like.default: 0.0,
    aten.new_ones.default: 1.0,
    aten.new_zeros.default: 0.0,
}


@dataclass(frozen=True)
class Call:
    """One recorded operation and the line of the step that asked for it; `arguments` hold a Value where the
    step had a tensor."""

    target: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    place: str

    @cached_property
    def values(self) -> list["Value"]:
        """Every value among the arguments and options."""
        parts = tree_leaves((self.arguments, self.options))
        return [part for part in parts if isinstance(part, Value)]


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the step: one of its inputs or a tensor from outside (`name`), or the result of a call.

    It is `constant` if it depends on parameters alone, and `learned` if it depends on any.
    """

    name: str
    shape: tuple[int, ...]
    constant: bool
    learned: bool
    call: Call | None = None


def split(x: Tensor, sizes: int | list[int], dim: int = 0) -> list[Tensor]:
    """Slices of these sizes, or all of one size but for the last."""
    if isinstance(sizes, int):
        sizes = [min(sizes, x.shape[dim] - i) for i in range(0, x.shape[dim], sizes)]
    return [x.narrow(dim, end - size, size) for size, end in zip(sizes, accumulate(sizes), strict=True)]


def softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """e^x over its sum, with the greatest x taken off first."""
    e = torch.exp(x - x.amax(dim, keepdim=True).detach())
    return e / e.sum(dim, keepdim=True)


def log_softmax(x: Tensor, dim: int, half_to_float: bool = False) -> Tensor:
    """x less log sum e^x, with the greatest x taken off both, so that large ones cost no digits."""
    below = x - x.amax(dim, keepdim=True).detach()
    return below - torch.log(torch.exp(below).sum(dim, keepdim=True))


def logsumexp(x: Tensor, dim: int | list[int], keepdim: bool = False) -> Tensor:
    """log sum e^x, with the greatest x taken off first where that is finite."""
    greatest = x.detach()
    for axis in [dim] if isinstance(dim, int) else dim:
        greatest = greatest.amax(axis, keepdim=True)
    most = torch.where(greatest - greatest == 0, greatest, torch.zeros_like(greatest))
    total = torch.exp(x - most).sum(dim, keepdim=True)
    # Of nothing but minus infinity the sum is zero, and its logarithm has no gradient.
    logarithm = torch.log(torch.where(total > 0, total, torch.ones_like(total))) + most
    result = torch.where(total > 0, logarithm, greatest)
    return result if keepdim else result.squeeze(dim)


def vector_norm(
    x: Tensor, order: float = 2, dim: Any = None, keepdim: bool = False, dtype: torch.dtype | None = None
) -> Tensor:
    """The root of the sum of squares; no other norm is known."""
    if order != 2 or dim is None or dtype is not None:
        raise Unsupported(f"aten.linalg_vector_norm.default of order {order} over {dim} in {dtype}")
    squares = (x * x).sum(dim, keepdim=keepdim)
    # The root of zero has no gradient, where torch's norm has 0.
    safe = torch.where(squares > 0, squares, torch.ones_like(squares))
    return torch.where(squares > 0, torch.sqrt(safe), squares)


def layer_norm(
    x: Tensor, shape: list[int], weight: Tensor | None, bias: Tensor | None, epsilon: float
) -> tuple[Tensor, ...]:
    """Mean 0 and variance 1 over the last axes, then weight and bias; the mean and 1 / the deviation, which
    have no gradient."""
    dims = list(range(-len(shape), 0))
    mean = x.mean(dims, keepdim=True)
    centred = x - mean
    deviation = torch.sqrt((centred * centred).mean(dims, keepdim=True) + epsilon)
    y = centred / deviation
    y = y if weight is None else y * weight
    return y if bias is None else y + bias, mean.detach(), (1 / deviation).detach()


def elu(x: Tensor, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Tensor:
    """scale x where x is positive, else scale alpha (e^z - 1) with z = input_scale x.

    Near zero e^z - 1 is 2 t / (1 - t) of t = tanh(z / 2), which loses no digits there.
    """
    z = torch.clamp(x, max=0) * input_scale
    t = torch.tanh(z * 0.5)
    below = torch.where(z > -1, (t + t) / (1 - t), torch.exp(z) - 1)
    return torch.where(x > 0, x * scale, below * (alpha * scale))


def hardtanh(x: Tensor, low: float = -1, high: float = 1) -> Tensor:
    """x within bounds, which pass no gradient on."""
    return torch.where((x > low) == (x < high), x, torch.clamp(x, low, high).detach())


EXPANSIONS: dict[Any, Callable[..., Any]] = {
    aten.split.Tensor: split,
    aten.split_with_sizes.default: split,
    aten.unbind.int: lambda x, dim=0: [x.select(dim, i) for i in range(x.shape[dim])],
    aten.stack.default: lambda parts, dim=0: torch.cat([part.unsqueeze(dim) for part in parts], dim),
}
EXPANDED_BLOCKS: dict[Any, Callable[..., Any]] = {
    aten._softmax.default: softmax,
    aten._log_softmax.default: log_softmax,
    aten.logsumexp.default: logsumexp,
    aten.linalg_vector_norm.default: vector_norm,
    aten.native_layer_norm.default: layer_norm,
    aten.elu.default: elu,
    aten.celu.default: lambda x, alpha=1: elu(x, alpha, 1, 1 / alpha),
    aten.log_sigmoid_forward.default: lambda x: (-torch.nn.functional.softplus(-x),) * 2,
    aten.hardtanh.default: hardtanh,
}
UNSEEN = {"numpy", "tolist", "__array__", "data_ptr", "storage", "untyped_storage", "grad_fn"}
"""Methods of a tensor that take numbers out of it without an operation; hooks, those of `grad_fn` too, change
its gradient so."""


class Refusal(TorchFunctionMode):
    """Refuses what a step does to tensors without an operation that could be recorded."""

    def __torch_function__(self, function: Any, types: Any, args: tuple = (), kwargs: dict | None = None):
        name = getattr(function, "__name__", "")
        name = "grad_fn" if function == Tensor.grad_fn.__get__ else name
        if name in UNSEEN or "hook" in name:
            raise Unsupported(f"Tensor.{name}").at(place())
        if name == "_set_grad_enabled" and not args[0]:
            raise Unsupported("torch.no_grad").at(place())
        return function(*args, **(kwargs or {}))


class Recorder(DispatchMode):
    """Records every aten operation between entering and leaving.

    Operations with several results, and on blocks those in EXPANDED_BLOCKS, are recorded as simpler ones.
    """

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[int, Value] = {}
        self.calls: list[Value] = []
        self.alive: dict[Value, Tensor] = {}

    def name(self, tensor: Tensor, value: Value) -> Value:
        """Let `value` stand for `tensor`."""
        self.values[id(tensor)] = value
        self.alive[value] = tensor
        return value

    def value(self, thing: Any) -> Any:
        """The value of a tensor, one from outside the step too; anything else as it is."""
        if not isinstance(thing, Tensor):
            return thing
        if id(thing) not in self.values:
            if thing.requires_grad:
                raise Unsupported("a tensor from outside that asks for a gradient").at(place())
            label = f"tensor from outside {list(thing.shape)}"
            return self.name(thing, Value(label, tuple(thing.shape), constant=True, learned=False))
        return self.values[id(thing)]

    def __torch_dispatch__(
        self, target: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        kwargs = kwargs or {}
        call = Call(target, *tree_map(self.value, (args, kwargs)), place())
        if torch.Tag.nondeterministic_seeded in target.tags or torch.is_inference_mode_enabled():
            what = "in inference mode" if torch.is_inference_mode_enabled() else "draws random numbers"
            raise Unsupported(f"{target} {what}").at(call.place)
        decisive = [self.value(part) for part in shaping(target, args)]
        if any(part.learned or not part.constant for part in decisive):
            raise Unsupported(f"{target}, whose shape hangs on numbers").at(call.place)
        constant = all(part.constant for part in call.values)
        simpler = EXPANSIONS.get(target) or (None if constant else EXPANDED_BLOCKS.get(target))
        if simpler or target._can_decompose():
            try:
                with self:
                    return (simpler or target.decompose)(*args, **kwargs)
            except Unsupported as error:
                raise error.at(call.place) from None
        result = target(*args, **kwargs)
        if target in FILLS and (not result.dim() or result.shape[0] % ROWS):
            with self:
                return torch.full(result.shape, FILLS[target])
        if not isinstance(result, Tensor) or target._schema.is_mutable:
            raise Unsupported(str(target)).at(call.place)
        if result.dtype is torch.bool and target is aten.add.Tensor and not constant:
            raise Unsupported(f"{target} of truth values, which is whether either holds").at(call.place)
        label = f"{target.overloadpacket.__name__}({', '.join(describe(part) for part in call.arguments)})"
        label = label if len(label) <= LONGEST else f"{label[:LONGEST]}..."
        learned = any(part.learned for part in call.values)
        self.calls.append(self.name(result, Value(label, tuple(result.shape), constant, learned, call)))
        return result


def describe(part: Any) -> str:
    """An argument of a call in words."""
    if isinstance(part, list | tuple):
        return f"[{', '.join(map(describe, part))}]"
    return part.name if isinstance(part, Value) else str(part)


def backward_of_its_own(nodes: Sequence[Any]) -> str:
    """The first torch.autograd.Function among nodes of a graph and those before them, with its line."""
    seen, left = set(), [node for node in nodes if node is not None]
    while left:
        node = left.pop()
        if isinstance(node, torch.autograd.function.BackwardCFunction):
            code = node._forward_cls.backward.__code__
            return f"{node._forward_cls.__name__} ({Path(code.co_filename).name}:{code.co_firstlineno})"
        seen.add(node)
        left += [before for before, _ in node.next_functions if before is not None and before not in seen]
    return ""
