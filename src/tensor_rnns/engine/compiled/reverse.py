"""Reverse mode on the graph of a step: the nodes of one step back in time."""

from dataclasses import dataclass

from tensor_rnns.engine.compiled.graph import Graph, Node
from tensor_rnns.engine.compiled.operations import POINTWISE
from tensor_rnns.engine.compiled.trace import Program


@dataclass(frozen=True)
class Backward:
    """What one step back computes; its nodes follow the first `forward` of the graph of the step.

    `states` are the gradients of the old states (None: the step does not read it), `input` that of the input.
    `matrices` are (leaf, left, g): the gradient of that leaf is the sum over time and batch of left^T g.
    `rows` are (leaf, g): the sum over time and batch of g.
    """

    graph: Graph
    forward: int
    states: tuple[Node | None, ...]
    input: Node | None
    matrices: tuple[tuple[int, Node, Node], ...]
    rows: tuple[tuple[int, Node], ...]

    def __str__(self) -> str:
        lines = [str(node) for node in self.graph.nodes[self.forward :]]
        lines += [f"gradient of state {i} = %{g.index}" for i, g in enumerate(self.states) if g]
        lines += [f"gradient of input = %{self.input.index}"] if self.input else []
        lines += [f"gradient of leaf {leaf} += %{left.index}^T %{g.index}" for leaf, left, g in self.matrices]
        lines += [f"gradient of leaf {leaf} += rows of %{g.index}" for leaf, g in self.rows]
        return "\n".join(lines)


def reverse(program: Program) -> Backward:
    """Gradients of the old states, the input and the leaves from those of the new states."""
    graph, forward = program.graph, len(program.graph.nodes)
    gradients: dict[Node, Node] = {}

    def accumulate(node: Node, g: Node) -> None:
        gradients[node] = graph.add("add", gradients[node], g) if node in gradients else g

    for i, node in enumerate(program.outputs):
        accumulate(node, graph.add("gradient", width=node.width, detail=i))
    matrices, rows = [], []
    for node in reversed(graph.nodes[:forward]):
        g = gradients.get(node)
        if g is None or node.operation in ("input", "state"):
            continue
        if node.operation == "row":
            rows.append((node.detail, g))
        elif node.operation == "product":
            (left,), (leaf, transposed) = node.inputs, node.detail
            matrices.append((leaf, left, g))
            accumulate(left, graph.add("product", g, width=left.width, detail=(leaf, not transposed)))
        else:
            parts = POINTWISE[node.operation].reverse(graph, node, g)
            for part, share in zip(node.inputs, parts, strict=True):
                if share is not None:
                    accumulate(part, share)

    def of(operation: str, number: int | None) -> Node | None:
        node = graph.known.get((operation, (), number))
        return gradients.get(node) if node else None

    states, used = [], set()
    kept = {g for _, _, g in matrices} | {g for _, g in rows}
    for i in range(len(program.states)):
        g = of("state", i)
        if g is not None and (g.operation == "gradient" or g in used or g in kept):
            g = graph.own(g)
        used.add(g)
        states.append(g)
    matrices = [(leaf, left, settled(graph, g)) for leaf, left, g in matrices]
    rows = [(leaf, settled(graph, g)) for leaf, g in rows]
    return Backward(graph, forward, tuple(states), of("input", None), tuple(matrices), tuple(rows))


def settled(graph: Graph, g: Node) -> Node:
    """g, or a copy of it where it is an incoming gradient, which the next step overwrites."""
    return graph.add("copy", g) if g.operation == "gradient" else g
