"""Expressions of parameters alone: torch evaluates them once per call, outside the scan, gradients by torch.

Norms, transposes and products of factors are the same at every step. In the kernel they would be computed
T times, and would need code of their own; outside they cost nothing, and may be any operation of torch.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from tensor_rnns.engine.ir.record import Call, Value

aten = torch.ops.aten
ALIKE = {
    aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor, aten.neg.default, aten.relu.default,
    aten.sqrt.default, aten.rsub.Scalar, aten.clone.default, aten.detach.default,
}  # fmt: skip
MOVES = {
    aten.t.default, aten.transpose.int, aten.permute.default, aten.slice.Tensor, aten.select.int,
    aten.unsqueeze.default, aten.view.default, aten._unsafe_view.default, aten.reshape.default,
    aten.clone.default,
}  # fmt: skip
"""Neither these nor their gradients round, so that torch may keep their graph: it is quicker."""
PRECISE = {aten.linalg_matrix_exp.default}
"""Made in float64: the larger its gradient, such as a sum over all steps, the fewer digits torch leaves."""

Results = Mapping[Value | str, Tensor]
"""Tensors of values, and parameters by name."""


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
    made: dict[torch.device, Results] = field(default_factory=dict, repr=False, compare=False)
    """What depends on no parameter, by the device that it was made for."""

    @cached_property
    def exact(self) -> bool:
        """Whether nothing is rounded: parameters are read where they lie, or moved."""
        copied = any(leaf.first for leaf in self.leaves)
        return not copied and all(value.learned and value.call.target in MOVES for value in self.calls)

    def __call__(self, params: Mapping[str, Tensor], replicas: int) -> list[Tensor]:
        """The leaves, each [S, rows, columns], of parameters [S, ...], with gradients."""
        if self.exact:
            return self.evaluate(params, replicas)
        return list(Evaluated.apply(self, replicas, tuple(params), *params.values()))

    def evaluate(self, params: Mapping[str, Tensor], replicas: int) -> list[Tensor]:
        """The leaves by torch.

        Only operations without rounding that depends on the number of replicas are made for all at once; the
        others one replica at a time, so that a replica's bits do not depend on its neighbours.
        """
        first = next(iter(params.values()))
        results = {**self.constants(first.device), **params}
        for value in self.calls:
            if value.learned:
                results[value] = stacked(value, results, replicas, first.device)
        leaves = []
        for leaf in self.leaves:
            tensor = found(leaf.value, results).to(first.dtype)
            tensor = tensor[:, 0] if leaf.first else tensor
            if tensor.shape != (replicas, *leaf.shape):
                tensor = tensor.reshape(len(tensor), *leaf.shape).expand(replicas, *leaf.shape)
            leaves.append(tensor)
        return leaves

    def constants(self, device: torch.device) -> Results:
        """What depends on no parameter, [1, ...], made once for a device."""
        if device not in self.made:
            results = {value: tensor.unsqueeze(0).to(device) for value, tensor in self.outside.items()}
            for value in self.calls:
                if not value.learned:
                    results[value] = stacked(value, results, 1, device)
            self.made[device] = results
        return self.made[device]


def found(part: Any, results: Results) -> Any:
    """An argument of a call, with the tensors for its values; torch's own tree_map took most of an update."""
    if isinstance(part, Value):
        return results[part] if part in results else results[part.name]
    return [found(one, results) for one in part] if isinstance(part, list | tuple) else part


def of_replica(part: Any, s: int) -> Any:
    """An argument for one replica."""
    if isinstance(part, Tensor):
        return part[s if len(part) > 1 else 0]
    return [of_replica(one, s) for one in part] if isinstance(part, list) else part


def stacked(value: Value, results: Results, replicas: int, device: torch.device) -> Tensor:
    """The value [S, ...] of a call, or [1, ...] where it depends on no parameter, on a device: where a call
    names one, it is that of the trace."""
    call = value.call
    arguments = found(call.arguments, results)
    options = {name: found(part, results) for name, part in call.options.items()}
    options |= {"device": device} if "device" in options else {}
    if (moved := movement(call, arguments)) is not None:
        return moved
    shapes = {part.shape for part in call.values}
    if call.target in ALIKE and len(shapes) == 1 and value.learned:
        return call.target(*arguments, **options)

    rows = []
    for s in range(replicas if value.learned else 1):
        own = of_replica(arguments, s)
        if call.target in PRECISE:
            rows.append(call.target(own[0].double()).to(own[0].dtype))
        else:
            rows.append(call.target(*own, **{name: of_replica(part, s) for name, part in options.items()}))
    return torch.stack(rows) if len(rows) > 1 else rows[0].unsqueeze(0)


def movement(call: Call, arguments: list) -> Tensor | None:
    """The result of a call that only moves numbers, made with the replica axis in front; None for others."""
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
    if target is aten.expand.default:
        missing = [1] * (len(rest[0]) - axes)
        return x.reshape(len(x), *missing, *x.shape[1:]).expand(len(x), *rest[0])
    if target is aten.permute.default:
        return x.permute(0, *(dim % axes + 1 for dim in rest[0]))
    return None


@contextmanager
def one_thread() -> Iterator[None]:
    """Sums in torch may depend on the number of threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


class Evaluated(torch.autograd.Function):
    """`Hoisted.evaluate` as one node of the graph, in one thread both ways."""

    @staticmethod
    def forward(ctx, hoisted: Hoisted, replicas: int, names: tuple[str, ...], *values: Tensor):
        """The leaves."""
        wanted = ctx.needs_input_grad[3:]
        own = [value.detach().requires_grad_(want) for value, want in zip(values, wanted, strict=True)]
        with torch.enable_grad(), one_thread():
            leaves = hoisted.evaluate(dict(zip(names, own, strict=True)), replicas)
        ctx.own, ctx.leaves = own, leaves
        return tuple(leaf.detach() for leaf in leaves)

    @staticmethod
    @once_differentiable
    def backward(ctx, *gradients: Tensor | None):
        """Of the parameters."""
        pairs = [pair for pair in zip(ctx.leaves, gradients, strict=True) if pair[0].requires_grad]
        leaves, given = [leaf for leaf, _ in pairs], [g for _, g in pairs]
        wanted = [value for value in ctx.own if value.requires_grad]
        with one_thread():
            made = iter(torch.autograd.grad(leaves, wanted, given, retain_graph=True, allow_unused=True))
        return None, None, None, *(next(made) if value.requires_grad else None for value in ctx.own)
