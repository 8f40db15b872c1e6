"""Expressions of parameters alone: torch evaluates them once per call, outside the scan, gradients by torch.

Norms, transposes and products of factors are the same at every step. In the kernel they would be computed
T times, and would need code of their own; outside they cost little, and may be any operation of torch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.ir.capture import captured
from tensor_rnns.engine.ir.record import Call, Value

aten = torch.ops.aten
MOVES = {
    aten.t.default, aten.transpose.int, aten.permute.default, aten.slice.Tensor, aten.select.int,
    aten.unsqueeze.default, aten.view.default, aten._unsafe_view.default, aten.reshape.default,
    aten.clone.default,
}  # fmt: skip
"""Neither these nor their gradients round, so that torch may keep their graph: it is quicker."""
PRECISE = {aten.linalg_matrix_exp.default}
"""Made in float64: the larger its gradient, such as a sum over all steps, the fewer digits torch leaves."""

Gradients = Sequence[Tensor | None]
Results = Mapping[Any, Tensor]
"""Tensors of values and of leaves, and parameters by name."""


@dataclass(frozen=True)
class Leaf:
    """A parameter-only value as the kernel reads it: a matrix `shape`.

    `first` takes it from a value that repeats one matrix or row for each row of the batch.
    """

    value: Value
    shape: tuple[int, int]
    first: bool = False

    def __str__(self) -> str:
        return f"{self.value.name} {list(self.value.shape)}"


@dataclass(frozen=True)
class Hoisted:
    """The parameter-only expressions of a step, in order, and the leaves that the kernel reads.

    `outside` are tensors that the step took from elsewhere; they have no replica axis.
    """

    calls: tuple[Value, ...]
    leaves: tuple[Leaf, ...]
    outside: Mapping[Value, Tensor]
    on_device: dict[torch.device, Results] = field(default_factory=dict, repr=False, compare=False)
    """What depends on no parameter, by the device that it was made for."""
    functions: dict[tuple, Callable] = field(default_factory=dict, repr=False, compare=False)
    """What was captured, by the names of parameters, the device, and whether it makes gradients."""

    @cached_property
    def exact(self) -> bool:
        """Whether nothing is rounded: parameters are read where they lie, or moved."""
        copied = any(leaf.first for leaf in self.leaves)
        return not copied and all(value.learned and value.call.target in MOVES for value in self.calls)

    @cached_property
    def reads(self) -> list[str]:
        """The parameters that the leaves are made of."""
        values = {part for value in self.calls for part in value.call.values}
        values.update(leaf.value for leaf in self.leaves)
        return sorted(value.name for value in values if value.learned and value.call is None)

    def only(self, leaves: Iterable[Leaf]) -> "Hoisted":
        """These leaves and what they are made of."""
        chosen, calls = tuple(leaves), []
        wanted = {leaf.value for leaf in chosen}
        for value in reversed(self.calls):
            if value in wanted:
                calls.insert(0, value)
                wanted.update(value.call.values)
        return replace(self, calls=tuple(calls), leaves=chosen, on_device={}, functions={})

    def __call__(self, params: Mapping[str, Tensor], replicas: int) -> list[Tensor]:
        """The leaves, each [S, rows, columns], of parameters [S, ...], with gradients."""
        if self.exact:
            return self.moved(params, replicas)
        return list(Evaluated.apply(self, tuple(params), *params.values()))

    def moved(self, params: Mapping[str, Tensor], replicas: int) -> list[Tensor]:
        """The leaves as views, made with the replica axis in front."""
        first = next(iter(params.values()))
        constants = self.constants(first)
        results = {value: constants[value].unsqueeze(0) for value in self.outside} | dict(params)
        for value in self.calls:
            results[value] = movement(value.call, found(value.call.arguments, results))
        leaves = []
        for leaf in self.leaves:
            tensor = found(leaf.value, results).to(first.dtype)
            leaves.append(tensor.reshape(len(tensor), *leaf.shape).expand(replicas, *leaf.shape))
        return leaves

    def of_replica(self, params: Mapping[str, Tensor]) -> list[Tensor]:
        """The leaves of one replica, [rows, columns]."""
        first = next(iter(params.values()))
        results = {**self.constants(first), **params}
        for value in self.calls:
            if value.learned:
                results[value] = made(value.call, results, first.device)
        return [
            read(leaf, found(leaf.value, results), first) if leaf.value.learned else results[leaf]
            for leaf in self.leaves
        ]

    def gradients_of_replica(self, params: Mapping[str, Tensor], given: Sequence[Tensor]) -> Gradients:
        """Those of the parameters of one replica, from those of its leaves; None for one that has none."""
        own = {name: value.detach().requires_grad_() for name, value in params.items()}
        with torch.enable_grad():
            leaves = self.of_replica(own)
        pairs = [(leaf, g) for leaf, g in zip(leaves, given, strict=True) if leaf.requires_grad]
        if not pairs:
            return [None] * len(own)
        outputs, of_outputs = zip(*pairs, strict=True)
        return torch.autograd.grad(outputs, [*own.values()], of_outputs, allow_unused=True)

    def evaluate(self, params: Mapping[str, Tensor]) -> list[Tensor]:
        """The leaves [S, rows, columns] of parameters [S, ...] without a graph, each replica's on its own:
        its bits do not depend on its neighbours."""
        with plainly(next(iter(params.values())).device):
            return stacked([self.run(own.keys(), own.values()) for own in replicas_of(params)])

    def gradients(self, params: Mapping[str, Tensor], given: Sequence[Tensor]) -> dict[str, Tensor | None]:
        """Of the parameters, from those of the leaves; None for one that has none."""
        of_leaves = zip(*(gradient.contiguous().unbind() for gradient in given), strict=True)
        with plainly(given[0].device):
            rows = zip(replicas_of(params), of_leaves, strict=True)
            made = [self.run(own.keys(), [*own.values(), *row], back=True) for own, row in rows]
        return dict(zip(params, stacked(made), strict=True))

    def run(self, names: Iterable[str], inputs: Iterable[Tensor], back: bool = False) -> Gradients:
        """What was captured of `of_replica`, or with the gradients of its leaves after the parameters of
        `gradients_of_replica`."""
        names, inputs = tuple(names), tuple(inputs)
        key = names, inputs[0].device, back
        if key not in self.functions:
            self.constants(inputs[0])  # which are made before the capture begins

            def make(tensors: Sequence[Tensor]) -> Gradients:
                own, given = dict(zip(names, tensors, strict=False)), tensors[len(names) :]
                return self.gradients_of_replica(own, given) if back else self.of_replica(own)

            self.functions[key] = captured(make, inputs)
        return self.functions[key](*inputs)

    def constants(self, like: Tensor) -> Results:
        """What depends on no parameter, and the leaves of it, made once for a device."""
        device = like.device
        if device not in self.on_device:
            results = {value: tensor.to(device) for value, tensor in self.outside.items()}
            for value in self.calls:
                if not value.learned:
                    results[value] = made(value.call, results, device)
            for leaf in self.leaves:
                if not leaf.value.learned:
                    results[leaf] = read(leaf, results[leaf.value], like)
            self.on_device[device] = results
        return self.on_device[device]


def found(part: Any, results: Results) -> Any:
    """An argument of a call, with the tensors for its values; torch's own tree_map took most of an update."""
    if isinstance(part, Value):
        return results[part] if part in results else results[part.name]
    return [found(one, results) for one in part] if isinstance(part, list | tuple) else part


def read(leaf: Leaf, tensor: Tensor, like: Tensor) -> Tensor:
    """A leaf from its value."""
    tensor = tensor[0] if leaf.first else tensor
    tensor = tensor if tensor.dtype == like.dtype else tensor.to(like.dtype)
    return tensor if tensor.shape == leaf.shape else tensor.reshape(leaf.shape)


def made(call: Call, results: Results, device: torch.device) -> Tensor:
    """The result of a call on a device: where it names one, it is that of the trace."""
    arguments = found(call.arguments, results)
    if call.target in PRECISE:
        return call.target(arguments[0].double()).to(arguments[0].dtype)
    options = {name: found(part, results) for name, part in call.options.items()}
    return call.target(*arguments, **options | ({"device": device} if "device" in options else {}))


def movement(call: Call, arguments: list) -> Tensor:
    """The result of one of MOVES, made with the replica axis in front."""
    axes = len(call.values[0].shape) if call.values else 0

    def axis(position: int) -> int:
        dim = arguments[position] if len(arguments) > position else 0
        return dim - axes if dim >= 0 else dim

    target, (x, *rest) = call.target, arguments or (None,)
    if target is aten.t.default:
        return x.mT if axes == 2 else x
    if target is aten.transpose.int:
        return x.transpose(axis(1), axis(2))
    if target in (aten.slice.Tensor, aten.select.int):
        return target(x, axis(1), *rest[1:])
    if target is aten.unsqueeze.default:
        return x.unsqueeze(rest[0] + 1 if rest[0] >= 0 else rest[0])
    if target in (aten.view.default, aten._unsafe_view.default, aten.reshape.default):
        return x.reshape(len(x), *rest[0])
    if target is aten.permute.default:
        return x.permute(0, *(dim % axes + 1 for dim in rest[0]))
    return x.clone()


@contextmanager
def plainly(device: torch.device) -> Iterator[None]:
    """Without a graph, in the dtypes of the step, and in one thread, on which sums in torch may depend."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.no_grad(), torch.autocast("cuda" if device.type == "cuda" else "cpu", enabled=False):
            yield
    finally:
        torch.set_num_threads(before)


def replicas_of(params: Mapping[str, Tensor]) -> list[dict[str, Tensor]]:
    """The parameters of each replica, without gaps, as what is captured reads them."""
    rows = zip(*(value.detach().contiguous().unbind() for value in params.values()), strict=True)
    return [dict(zip(params, row, strict=True)) for row in rows]


def stacked(rows: Sequence[Gradients]) -> list[Tensor | None]:
    """The tensors of all replicas, from those of each."""
    columns = zip(*rows, strict=True)
    return [None if column[0] is None else stack(column) for column in columns]


def stack(column: Sequence[Tensor]) -> Tensor:
    """As torch's, without a copy of a single tensor."""
    return torch.stack(column) if len(column) > 1 else column[0].unsqueeze(0)


class Evaluated(torch.autograd.Function):
    """`Hoisted.evaluate` and `Hoisted.gradients` as one node of the graph."""

    @staticmethod
    def forward(ctx, hoisted: Hoisted, names: tuple[str, ...], *values: Tensor):
        """The leaves."""
        ctx.hoisted, ctx.names = hoisted, names
        ctx.save_for_backward(*values)
        return tuple(hoisted.evaluate(dict(zip(names, values, strict=True))))

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients: Tensor):
        """Of the parameters, each in memory of its own."""
        made = ctx.hoisted.gradients(dict(zip(ctx.names, ctx.saved_tensors, strict=True)), gradients)
        return None, None, *(None if part is None else part.clone() for part in made.values())
