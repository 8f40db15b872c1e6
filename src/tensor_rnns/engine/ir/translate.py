"""From the recorded operations of a step to nodes.

Two thousand aten operations become some thirty kinds of node, of which an emitter must know no more. What
only moves numbers (views, slices, rolls) is not translated one by one: the operation is run on a tensor of
indices, and where each number went is read off the result.
"""

import math
from collections.abc import Sequence
from itertools import accumulate, permutations
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map

from tensor_rnns.engine.ir import structure
from tensor_rnns.engine.ir.graph import Graph, Node
from tensor_rnns.engine.ir.hoist import Leaf
from tensor_rnns.engine.ir.operations import ATEN, Unsupported
from tensor_rnns.engine.ir.pieces import LARGE, windows
from tensor_rnns.engine.ir.record import FILLS, ROWS, Call, Recorder, Value

aten = torch.ops.aten
MUCH = 1 << 40
"""What row i of the batch has added i times to its indices, so that a number shows which row it came from."""
MOVES = {
    aten.view.default, aten._unsafe_view.default, aten.reshape.default, aten.transpose.int, aten.t.default,
    aten.permute.default, aten.slice.Tensor, aten.select.int, aten.unsqueeze.default, aten.squeeze.default,
    aten.squeeze.dim, aten.squeeze.dims, aten.expand.default, aten.clone.default, aten.alias.default,
    aten.index.Tensor, aten.index_select.default, aten.roll.default, aten.flip.default, aten.cat.default,
    aten.repeat.default, aten.diagonal.default, aten.unfold.default, aten.constant_pad_nd.default,
}  # fmt: skip
SUMS = {aten.sum.dim_IntList, aten.mean.dim, aten.amax.default}


class Translator:
    """Turns recorded values into nodes."""

    def __init__(self, recorder: Recorder, one_hot: Value | None = None, in_place: bool = False) -> None:
        self.recorder = recorder
        self.one_hot = one_hot
        self.graph = Graph(in_place)
        self.nodes: dict[Value, Node] = {}
        self.leaves: dict[Leaf, int] = {}
        self.tables: dict[Leaf, int] = {}

    def leaf(self, value: Value, shape: tuple[int, int], first: bool = False) -> int:
        """The number of a parameter-only value among the leaves."""
        return self.leaves.setdefault(Leaf(value, shape, first), len(self.leaves))

    def node(self, value: Value) -> Node:
        """The node of a value; a parameter-only one is a row."""
        if value is self.one_hot:
            raise Unsupported("one-hot vectors other than in a product with a matrix")
        if value not in self.nodes:
            try:
                self.nodes[value] = self.row(value) if value.constant else self.translate(value)
            except Unsupported as error:
                raise (error.at(value.call.place) if value.call else error) from None
        return self.nodes[value]

    def row(self, value: Value) -> Node:
        """A parameter-only value beside blocks, the same for every row of the batch."""
        width = math.prod(self.axes(value))
        return self.graph.add("row", width=width, detail=self.leaf(value, (1, width), is_repeated(value)))

    def axes(self, value: Value) -> tuple[int, ...]:
        """The axes of a value after that of the batch; a batch that took axes in gives them back."""
        if value.constant:
            return value.shape[1:] if is_repeated(value) else value.shape
        if not value.shape or value.shape[0] % ROWS:
            raise Unsupported(f"{value.call and value.call.target}: the batch is not the first axis")
        more = value.shape[0] // ROWS
        return value.shape[1:] if more == 1 else (more, *value.shape[1:])

    def spread(self, value: Value, shape: tuple[int, ...]) -> Node:
        """The node of a value with the axes `shape`, by the rules of broadcasting."""
        node, axes = self.node(value), list(self.axes(value))
        while value.constant and len(axes) > len(shape) and axes[0] == 1:
            axes = axes[1:]
        axes = [1] * (len(shape) - len(axes)) + axes
        if len(axes) > len(shape) or any(own not in (1, size) for own, size in zip(axes, shape, strict=True)):
            raise Unsupported(f"{value.name} {list(value.shape)} beside a block of the batch")
        for i, size in enumerate(shape):
            if axes[i] != size:
                node = structure.spread(node, math.prod(axes[:i]), size, math.prod(axes[i + 1 :]))
                axes[i] = size
        return node

    def translate(self, value: Value) -> Node:
        """The node of a call that depends on the input or the state."""
        call = value.call
        if call.target in (aten.mm.default, aten.addmm.default) and not call.options:
            return self.product(value, call)
        if call.target is aten.bmm.default:
            return self.batched_product(*call.arguments)
        if call.target in MOVES:
            return self.moved(call)
        if call.target in (*FILLS, aten.full_like.default, aten.new_full.default):
            number = FILLS.get(call.target, call.arguments[-1])
            return self.graph.fill(math.prod(self.axes(value)), number)
        if call.target in SUMS:
            return self.reduced(call, *call.arguments)
        if call.target not in ATEN:
            raise Unsupported(str(call.target))
        return self.pointwise(value, call)

    def pointwise(self, value: Value, call: Call) -> Node:
        """An operation on each number by itself."""
        shape = self.axes(value)

        def get(part: Any) -> Any:
            if isinstance(part, Value):
                node = self.spread(part, shape)
                if not part.constant and len(part.shape) != len(value.shape):
                    raise Unsupported(f"{call.target} of blocks with different axes")
                return node
            if isinstance(part, int | float | None):
                return part
            raise Unsupported(f"the argument {part!r} of {call.target}")

        arguments, options = tree_map(get, (call.arguments, call.options))
        try:
            return ATEN[call.target](*arguments, **options)
        except TypeError as error:
            raise Unsupported(f"{call.target} with {call.options}") from error

    def product(self, value: Value, call: Call) -> Node:
        """Block times parameter matrix, once for each of the axes that the batch took in; plus a row."""
        *bias, left, right = call.arguments
        if not right.constant or left.constant:
            raise Unsupported(f"{call.target} other than block times parameter matrix")
        node = self.times(left, right, right.shape)
        if not bias:
            return node
        return node + self.spread(bias[0], self.axes(value))

    def times(self, left: Value, right: Value, shape: tuple[int, int], first: bool = False) -> Node:
        """Block [.., K] times parameter matrix [K, N]."""
        if left is self.one_hot:
            table = self.tables.setdefault(Leaf(right, shape, first), len(self.tables))
            return self.graph.add("input", width=shape[1], detail=table)
        node = structure.solid(self.node(left))
        leaf = self.leaf(right, shape, first)
        if self.graph.in_place and self.one_hot is None and math.prod(shape) >= LARGE:
            node = windows(node, shape[0])
        return node.then("product", width=node.width // shape[0] * shape[1], detail=(leaf, False))

    def batched_product(self, left: Value, right: Value) -> Node:
        """A product of matrices for each row of the batch, or of blocks with a repeated parameter matrix."""
        if (left.constant and right.constant) or left.shape[0] % ROWS or right.shape[0] % ROWS:
            raise Unsupported("aten.bmm.default other than one product for each row of the batch")
        if right.constant:
            return self.times(left, right, right.shape[1:], first=True)
        rows, (_, k, m) = left.shape[1], right.shape
        groups = right.shape[0] // ROWS
        a = structure.spread(self.node(left), groups * rows * k, m, 1)
        b = structure.spread(self.node(right), groups, rows, k * m)
        return structure.total(a * b, groups * rows, k, m)

    def reduced(self, call: Call, value: Value, dims: Any, keepdim: bool = False, **_: Any) -> Node:
        """A sum, mean or greatest over axes other than the batch, one after another."""
        node, axes = self.node(value), list(self.axes(value))
        extra = len(axes) + 1 - len(value.shape)
        dims = [dims] if isinstance(dims, int) else dims or ()
        reduced = sorted((dim % len(value.shape) for dim in dims), reverse=True)
        several = len(reduced) > 1 and call.target is aten.amax.default  # equal numbers share the gradient
        if not reduced or reduced[-1] == 0 or several or call.options.get("dtype"):
            raise Unsupported(f"{call.target} over {list(dims)} of {list(value.shape)}")
        count = math.prod(value.shape[axis] for axis in reduced)
        for axis in reduced:
            i = axis - 1 + extra
            layout = (math.prod(axes[:i]), axes[i], math.prod(axes[i + 1 :]))
            how = structure.greatest if call.target is aten.amax.default else structure.total
            node = self.picked(how(node, *layout))
            axes[i] = 1
        return node * (1 / count) if call.target is aten.mean.dim else node

    def picked(self, node: Node) -> Node:
        """Sums of products of a block with the rows of a table, read as matrices, are a product with the
        matrix that the symbol picks: the rows need not be copied to be multiplied."""
        if self.graph.in_place and self.one_hot is not None and node.operation == "contract":
            sizes, *strides, onto = node.detail
            for (table, of_table), (left, of_left) in permutations(zip(node.inputs, strides, strict=True)):
                layout = (left.width, node.width), (1, left.width), (1, 0), (0, 1)
                if table.operation == "input" and layout == (sizes, of_table, of_left, onto):
                    return left.then("picked", width=node.width, detail=(table.detail, False))
        return node

    def moved(self, call: Call) -> Node:
        """What an operation that only moves numbers gives, found by moving their indices."""
        sources: list[Node] = []
        total = 0

        def indices(value: Value) -> Tensor:
            nonlocal total
            node = self.node(value)
            own = torch.arange(total, total + node.width).expand(ROWS, -1)
            sources.append(node)
            total += node.width
            shape = value.shape
            if value.constant and not is_repeated(value):
                return own[0].reshape(shape)
            return (own + torch.arange(ROWS).unsqueeze(1) * MUCH).reshape(shape)

        def get(part: Any) -> Any:
            if not isinstance(part, Value):
                return part
            tensor = self.recorder.alive[part]
            if part.learned and part.constant and not tensor.is_floating_point():
                raise Unsupported(f"{call.target} by indices made of parameters")
            return tensor if part.constant and not tensor.is_floating_point() else indices(part)

        arguments, options = tree_map(get, (call.arguments, call.options))
        if call.target is aten.constant_pad_nd.default:
            if any(arguments[2:]):
                raise Unsupported(f"{call.target} with {arguments[2]}")
            arguments = (*arguments[:2], -1)
        return self.gathered(call, sources, call.target(*arguments, **options))

    def gathered(self, call: Call, sources: Sequence[Node], moved: Tensor) -> Node:
        """The node of indices into joined sources; each row of the batch must read itself alone."""
        if not moved.dim() or moved.shape[0] % ROWS or moved.numel() == 0:
            raise Unsupported(f"{call.target}: the batch is not the first axis")
        table = moved.reshape(ROWS, -1)
        own = torch.arange(ROWS).unsqueeze(1) * MUCH
        from_rows = torch.where((table < MUCH) & (table[:1] == table), table, table - own)
        if not torch.equal(from_rows, from_rows[:1].expand_as(from_rows)):
            raise Unsupported(f"{call.target}: rows of the batch are mixed")
        whole = sources[0]
        if len(sources) > 1:
            *starts, width = accumulate((node.width for node in sources), initial=0)
            whole = structure.join(list(zip(starts, sources, strict=True)), width)
        return structure.pick(whole, tuple(from_rows[0].tolist()))


def is_repeated(value: Value) -> bool:
    """Whether a parameter-only value has the axis of the batch."""
    return len(value.shape) > 1 and value.shape[0] == ROWS
