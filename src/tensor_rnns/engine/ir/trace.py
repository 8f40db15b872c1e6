"""From the readable step of a cell to a graph: it is run once on zeros and its operations are recorded.

So a cell stays plain torch, which anybody can read and the eager loop can run, and yet has kernels. What
depends on parameters alone is taken out of the step (see `hoist`); the graph sees matrices [K, N] and rows
[1, N] only.
"""

import math
from collections.abc import Sequence, Set
from dataclasses import dataclass

import torch

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.given import step_problem
from tensor_rnns.engine.ir.graph import VIRTUAL, Graph, Node, needed
from tensor_rnns.engine.ir.hoist import Hoisted, Leaf
from tensor_rnns.engine.ir.operations import Unsupported
from tensor_rnns.engine.ir.record import ROWS, Recorder, Refusal, Value, backward_of_its_own
from tensor_rnns.engine.ir.translate import Translator

PASSED_ON = ("product", "row", "input", "state", *VIRTUAL)


@dataclass(frozen=True)
class Program:
    """A traced step: its graph, the nodes of the new states, and what the graph reads.

    `inputs` and `states` are the widths of what changes from step to step. Of one-hot vectors the step sees
    their products alone: then the inputs are these, and `tables` the leaves whose rows are looked up; a row
    that is only picked as a matrix enters with width 0.
    """

    name: str
    graph: Graph
    outputs: tuple[Node, ...]
    hoisted: Hoisted
    inputs: tuple[int, ...]
    states: tuple[int, ...]
    tables: tuple[Leaf, ...] = ()

    @property
    def leaves(self) -> list[tuple[int, int]]:
        """Shape (K, N) of each matrix, (1, N) of each row."""
        return [leaf.shape for leaf in self.hoisted.leaves[: self.read]]

    @property
    def read(self) -> int:
        """How many of the leaves the scan itself reads; the tables follow them."""
        return len(self.hoisted.leaves) - len(self.tables)

    def sizes(self, leaf: int, transposed: bool) -> tuple[int, int]:
        """Rows and columns of a matrix as a product reads it."""
        return self.leaves[leaf][:: -1 if transposed else 1]

    def is_learned(self, leaf: int) -> bool:
        """Whether a leaf depends on parameters, and so has a gradient."""
        return self.hoisted.leaves[leaf].value.learned

    def __str__(self) -> str:
        leaves = [f"leaf {i} = {leaf}" for i, leaf in enumerate(self.hoisted.leaves[: self.read])]
        leaves += [f"input {i} = rows of {leaf}" for i, leaf in enumerate(self.tables)]
        ends = [f"state {i} = %{node.index}" for i, node in enumerate(self.outputs)]
        return "\n".join([f"step of {self.name}", *leaves, str(self.graph), *ends])


def trace(
    cell: Cell, one_hot: bool = False, dtype: torch.dtype = torch.float32, in_place: bool = False
) -> Program:
    """The step of `cell` for one replica, of vectors or of one-hot vectors, with constants of a dtype.

    With `in_place` the emitter has code for what is read where it lies: matrices that symbols pick, the nodes
    `picked`, and `windows` of blocks.
    Unsupported names the first operation that has no code, and its line.
    """
    if problem := step_problem(cell):
        raise Unsupported(problem)
    recorder = Recorder()
    params = {name: torch.zeros(shape, dtype=dtype) for name, shape in cell.shapes().items()}
    x, states = torch.zeros(ROWS, cell.inputs, dtype=dtype), cell.initial_state(ROWS, dtype=dtype)
    for name, tensor in params.items():
        recorder.name(tensor, Value(name, tuple(tensor.shape), constant=True, learned=True))
    names = ["input", *(f"state {i}" for i in range(len(states)))]
    blocks = [
        recorder.name(tensor, Value(name, tuple(tensor.shape), constant=False, learned=True))
        for name, tensor in zip(names, (x, *states), strict=True)
    ]
    with torch.no_grad(), Refusal(), recorder:
        results = cell.step(params, x, states)
    check_gradient(cell, dtype)
    translator = Translator(recorder, blocks[0] if one_hot else None, in_place)
    graph = translator.graph
    if not one_hot:
        translator.nodes[blocks[0]] = graph.add("input", width=cell.inputs, detail=0)
    for i, value in enumerate(blocks[1:]):
        translator.nodes[value] = graph.add("state", width=math.prod(value.shape[1:]), detail=i)
    outputs = []
    for result in results:
        node = translator.node(recorder.value(result))
        fresh = node.operation in PASSED_ON or node in outputs
        outputs.append(graph.own(node) if fresh else node)
    hoisted = wanted(recorder, translator)
    tables = tuple(translator.tables)
    read = {part for node in needed(outputs) for part in node.inputs}
    check_roots(cell, graph, outputs, read)
    inputs = (
        tuple(table.shape[1] if graph.find("input", i) in read else 0 for i, table in enumerate(tables))
        if one_hot
        else (cell.inputs,)
    )
    widths = tuple(map(math.prod, cell.state_shapes().values()))
    return Program(cell.name, graph, tuple(outputs), hoisted, inputs, widths, tables)


def check_roots(cell: Cell, graph: Graph, outputs: Sequence[Node], read: Set[Node]) -> None:
    """Unsupported where a state that no step reads is made with a root: it has no gradient but at the last
    step, and for a root that would be one of zero, which at 0 gives 0 / 0."""
    cut = [node for node in graph.nodes if node.operation == "detach"]
    for i, node in enumerate(outputs[1:], 1):
        rooted = any(it.operation == "sqrt" for it in needed([node], cut))
        if rooted and graph.find("state", i) not in read:
            raise Unsupported(f"a root in the state {cell.states[i]}, which no step reads; detach() it")


@torch.inference_mode(False)
@torch.enable_grad()
def check_gradient(cell: Cell, dtype: torch.dtype) -> None:
    """Unsupported where a step has a hook, or a function with a backward of its own, of which operations say
    nothing: the numbers of a trial may be too small to show it."""
    shapes = [(ROWS, cell.inputs), *((ROWS, *shape) for shape in cell.state_shapes().values())]
    x, *states = (torch.zeros(shape, dtype=dtype, requires_grad=True) for shape in shapes)
    params = {
        name: torch.zeros(shape, dtype=dtype, requires_grad=True) for name, shape in cell.shapes().items()
    }
    with Refusal():
        results = cell.step(params, x, tuple(states))
    if found := backward_of_its_own([part.grad_fn for part in results]):
        raise Unsupported(f"a backward of its own, {found}")


def wanted(recorder: Recorder, translator: Translator) -> Hoisted:
    """The parameter-only expressions that the graph reads."""
    calls, reached = [], {leaf.value for leaf in (*translator.leaves, *translator.tables)}
    for value in reversed(recorder.calls):
        if value in reached:
            calls.append(value)
            reached.update(value.call.values)
    outside = {value: recorder.alive[value] for value in reached if value.call is None and not value.learned}
    return Hoisted(tuple(reversed(calls)), (*translator.leaves, *translator.tables), outside)
