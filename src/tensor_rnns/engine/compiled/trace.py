"""From the readable step of a cell to a graph: it is run once on zeros and its aten operations are recorded.

What depends on parameters alone is taken out of the step: torch evaluates it once a call (see `Hoisted`),
with gradients by torch, and the graph sees matrices [K, N] and rows [1, N] only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.compiled.graph import Graph, Node
from tensor_rnns.engine.compiled.operations import ATEN, Unsupported, is_number

aten = torch.ops.aten
ROWS = 3
VIEWS = {aten.transpose.int: (1, 2), aten.slice.Tensor: (1,), aten.t.default: ()}


@dataclass(frozen=True)
class Call:
    """One recorded operation; `arguments` hold a Value where the step had a tensor."""

    target: Any
    arguments: tuple[Any, ...]
    options: dict[str, Any]
    axes: int


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor of the step: a placeholder (`name`), or the result of a call."""

    name: str
    shape: tuple[int, ...]
    constant: bool
    call: Call | None = None


class Recorder(TorchDispatchMode):
    """Records every aten operation between entering and leaving."""

    def __init__(self) -> None:
        super().__init__()
        self.values: dict[int, Value] = {}
        self.calls: list[Value] = []
        self.alive: list[Tensor] = []

    def name(self, tensor: Tensor, value: Value) -> None:
        """Let `value` stand for `tensor`."""
        self.values[id(tensor)] = value
        self.alive.append(tensor)

    def value(self, thing: Any) -> Any:
        """The value of a tensor; a list or anything else as it is."""
        if not isinstance(thing, Tensor):
            return tuple(map(self.value, thing)) if isinstance(thing, list | tuple) else thing
        if id(thing) not in self.values:
            raise Unsupported("a tensor from outside the step")
        return self.values[id(thing)]

    def __torch_dispatch__(
        self, target: Any, types: Any, args: tuple = (), kwargs: dict | None = None
    ) -> Any:
        result = target(*args, **(kwargs or {}))
        if not isinstance(result, Tensor) or target._schema.is_mutable:
            raise Unsupported(str(target))
        arguments = tuple(map(self.value, args))
        options = {name: self.value(thing) for name, thing in (kwargs or {}).items()}
        inputs = [part for part in (*arguments, *options.values()) if isinstance(part, Value)]
        axes = len(inputs[0].shape) if inputs else 0
        constant = all(part.constant for part in inputs)
        call = Call(target, arguments, options, axes)
        label = f"{target.overloadpacket.__name__}({', '.join(describe(part) for part in arguments)})"
        value = Value(label, tuple(result.shape), constant, call)
        self.name(result, value)
        self.calls.append(value)
        return result


def describe(part: Any) -> str:
    """An argument of a call in words."""
    return part.name if isinstance(part, Value) else str(part)


def is_view(call: Call) -> bool:
    """Whether a call can be made on stacked parameters by counting its axes from the end."""
    return call.target in VIEWS and all(place < len(call.arguments) for place in VIEWS[call.target])


@dataclass(frozen=True)
class Hoisted:
    """The parameter-only expressions of a step; `leaves` are those that the graph reads, by number."""

    calls: tuple[Value, ...]
    leaves: tuple[Value, ...]

    def __call__(self, params: Mapping[str, Tensor], replicas: int) -> list[Tensor]:
        """The leaves, each [S, ...], of parameters [S, ...].

        Transposes and slices are views of the stacked parameters; anything else is evaluated replica by
        replica, so that a replica's bits do not depend on its neighbours.
        """
        if all(is_view(value.call) for value in self.calls):
            return self.evaluate(params, stacked=True)
        alone = [
            self.evaluate({name: value[s] for name, value in params.items()}, stacked=False)
            for s in range(replicas)
        ]
        return [torch.stack(parts) for parts in zip(*alone, strict=True)]

    def evaluate(self, params: Mapping[str, Tensor], stacked: bool) -> list[Tensor]:
        """The leaves of parameters with a replica axis or without one."""
        found: dict[Value, Tensor] = {}

        def get(part: Any) -> Any:
            if not isinstance(part, Value):
                return part
            return found[part] if part.call else params[part.name]

        for value in self.calls:
            call = value.call
            arguments = [get(part) for part in call.arguments]
            if stacked and call.target is aten.t.default:
                found[value] = arguments[0].mT
                continue
            if stacked:
                for place in VIEWS[call.target]:
                    arguments[place] = arguments[place] % call.axes - call.axes
            found[value] = call.target(*arguments, **{name: get(part) for name, part in call.options.items()})
        return [get(leaf) for leaf in self.leaves]


@dataclass(frozen=True)
class Program:
    """A traced step: its graph, the nodes of the new states, and what the graph reads.

    `leaves` are the shapes (K, N) of the matrices and (1, N) of the rows; `states` the widths of the states.
    """

    name: str
    graph: Graph
    outputs: tuple[Node, ...]
    hoisted: Hoisted
    inputs: int
    states: tuple[int, ...]

    @property
    def leaves(self) -> list[tuple[int, int]]:
        """Shape (K, N) of each matrix, (1, N) of each row."""
        return [leaf.shape if len(leaf.shape) == 2 else (1, *leaf.shape) for leaf in self.hoisted.leaves]

    def __str__(self) -> str:
        leaves = [f"leaf {i} = {leaf.name} {list(leaf.shape)}" for i, leaf in enumerate(self.hoisted.leaves)]
        ends = [f"state {i} = %{node.index}" for i, node in enumerate(self.outputs)]
        return "\n".join([f"step of {self.name}", *leaves, str(self.graph), *ends])


class Translator:
    """Turns recorded values into nodes."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.graph = Graph()
        self.nodes: dict[Value, Node] = {}
        self.leaves: dict[Value, int] = {}

    def leaf(self, value: Value) -> int:
        """The number of a parameter-only value among the leaves."""
        return self.leaves.setdefault(value, len(self.leaves))

    def node(self, part: Any) -> Any:
        """The node of a value; a parameter-only one is a row; a number stays."""
        if not isinstance(part, Value):
            if is_number(part):
                return part
            raise Unsupported(f"the argument {part!r}")
        if part in self.nodes:
            return self.nodes[part]
        if not part.constant:
            return self.nodes.setdefault(part, self.translate(part.call))
        if len(part.shape) not in (1, 2) or (len(part.shape) == 2 and part.shape[0] != 1):
            raise Unsupported(f"{part.name} {list(part.shape)} beside a block of the batch")
        return self.graph.add("row", width=part.shape[-1], detail=self.leaf(part))

    def product(self, left: Any, right: Any) -> Node:
        """Block times parameter matrix."""
        if not (isinstance(right, Value) and right.constant) or left.constant:
            raise Unsupported("aten.mm.default other than block times parameter matrix")
        return self.graph.add(
            "product", self.node(left), width=right.shape[1], detail=(self.leaf(right), False)
        )

    def translate(self, call: Call) -> Node:
        """The node of a call that depends on the input or the state."""
        if call.target is aten.mm.default:
            return self.product(*call.arguments)
        if call.target is aten.addmm.default and not call.options:
            return self.graph.add("add", self.product(*call.arguments[1:]), self.node(call.arguments[0]))
        if call.target not in ATEN:
            raise Unsupported(str(call.target))
        options = {name: self.node(part) for name, part in call.options.items()}
        result = ATEN[call.target](self.graph, *map(self.node, call.arguments), **options)
        if result.operation == "row":
            raise Unsupported(f"{call.target} on rows")
        return result


def trace(cell: Cell) -> Program:
    """The step of `cell` for one replica; Unsupported names the first operation that has no code."""
    recorder = Recorder()
    params = {name: torch.zeros(shape) for name, shape in cell.shapes().items()}
    x, states = torch.zeros(ROWS, cell.inputs), cell.initial_state(ROWS, dtype=torch.float32)
    for name, tensor in params.items():
        recorder.name(tensor, Value(name, tuple(tensor.shape), constant=True))
    blocks = [Value("input", tuple(x.shape), constant=False)]
    blocks += [Value(f"state {i}", tuple(part.shape), constant=False) for i, part in enumerate(states)]
    for tensor, value in zip((x, *states), blocks, strict=True):
        recorder.name(tensor, value)
    with torch.no_grad(), recorder:
        results = cell.step(params, x, states)
    translator = Translator(recorder)
    graph = translator.graph
    translator.nodes[blocks[0]] = graph.add("input", width=cell.inputs)
    for i, value in enumerate(blocks[1:]):
        translator.nodes[value] = graph.add("state", width=value.shape[1], detail=i)
    outputs = []
    for result, before in zip(results, states, strict=True):
        if result.shape != before.shape:
            shapes = f"{list(before.shape)} to {list(result.shape)}"
            raise Unsupported(f"a state that changes its shape from {shapes}")
        node = translator.node(recorder.value(result))
        fresh = node.operation in ("product", "row", "input", "state") or node in outputs
        outputs.append(graph.own(node) if fresh else node)
    calls, wanted = [], set(translator.leaves)
    for value in reversed(recorder.calls):
        if value in wanted:
            calls.append(value)
            parts = (*value.call.arguments, *value.call.options.values())
            wanted.update(part for part in parts if isinstance(part, Value))
    hoisted = Hoisted(tuple(reversed(calls)), tuple(translator.leaves))
    widths = tuple(part.shape[1] for part in states)
    return Program(cell.name, graph, tuple(outputs), hoisted, cell.inputs, widths)
