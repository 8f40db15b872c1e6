"""Reverse mode on the graph of a step: the nodes of one step back in time.

torch's autograd would keep every value of every step and launch an operation for each. Here the way back is
a graph too, so that the same plan, loops and emitters serve both directions; and gradients of matrices are
left as pairs of operands, which the kernels multiply for many steps at once.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from tensor_rnns.engine.ir import structure
from tensor_rnns.engine.ir.graph import VIRTUAL, Graph, Node
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.pieces import reverse_windows
from tensor_rnns.engine.ir.trace import Program

REVERSE = structure.REVERSE | {name: operation.reverse for name, operation in POINTWISE.items()}


@dataclass(frozen=True)
class Backward:
    """What one step back computes; its nodes follow the first `forward` of the graph of the step.

    `states` are the gradients of the old states (None: the step does not read it), `inputs` those of the
    inputs. `matrices` are (leaf, left, g): the gradient of that leaf is the sum over time and batch of left^T
    g, both cut into as many pieces of its rows and columns as they hold. `rows` are (leaf, g): the sum of g.
    `picked` are (table, left, g): the gradient of the matrix that a symbol picks is the sum of g left^T over
    the places of that symbol.
    """

    graph: Graph
    forward: int
    states: tuple[Node | None, ...]
    inputs: tuple[Node | None, ...]
    matrices: tuple[tuple[int, Node, Node], ...]
    rows: tuple[tuple[int, Node], ...]
    picked: tuple[tuple[int, Node, Node], ...] = ()

    @property
    def operands(self) -> list[Node]:
        """What the gradients of the leaves are sums of."""
        pairs = (*self.matrices, *self.picked)
        return [node for _, *pair in pairs for node in pair] + [g for _, g in self.rows]

    def __str__(self) -> str:
        lines = [str(node) for node in self.graph.nodes[self.forward :]]
        for kind, gradients in (("state", self.states), ("input", self.inputs)):
            lines += [f"gradient of {kind} {i} = %{g.index}" for i, g in enumerate(gradients) if g]
        lines += [f"gradient of leaf {leaf} += %{left.index}^T %{g.index}" for leaf, left, g in self.matrices]
        lines += [f"gradient of leaf {leaf} += rows of %{g.index}" for leaf, g in self.rows]
        lines += [f"gradient of table {i} += %{g.index} %{left.index}^T" for i, left, g in self.picked]
        return "\n".join(lines)


@dataclass
class Gradients:
    """What has come back to each node: whole blocks added up, and pieces of blocks not yet put together."""

    whole: dict[Node, Node] = field(default_factory=dict)
    pieces: dict[Node, list[tuple[int, Node]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, node: Node, g: Node) -> None:
        """One more contribution to the gradient of `node`."""
        self.whole[node] = self.whole[node] + g if node in self.whole else g

    def of(self, node: Node | None) -> Node | None:
        """The gradient of a node to which nothing more will come."""
        left = sorted(self.pieces.pop(node, []), key=lambda piece: piece[0])
        while left:
            apart, rest, end = [], [], 0
            for start, g in left:
                if start >= end:
                    apart.append((start, g))
                    end = start + g.width
                else:
                    rest.append((start, g))
            self.add(node, structure.join(apart, node.width))
            left = rest
        return self.whole.get(node)


def reverse(program: Program) -> Backward:
    """Gradients of the old states, the input and the leaves from those of the new states."""
    graph, forward = program.graph, len(program.graph.nodes)
    gradients = Gradients()
    for i, node in enumerate(program.outputs):
        gradients.add(node, graph.add("gradient", width=node.width, detail=i))
    found = propagate(program, gradients, graph.nodes[:forward])
    used, kept = set(), {g.base for kind in found.values() for *_, g in kind}

    def handed(kind: str, count: int) -> list[Node | None]:
        """The gradient of each state or input, in memory of its own where another still needs it."""
        handed_back = []
        for i in range(count):
            g = gradients.of(graph.find(kind, i))
            if g is not None and (g.operation in ("gradient", *VIRTUAL) or g in used or g in kept):
                g = graph.own(g)
            used.add(g)
            handed_back.append(g)
        return handed_back

    states = handed("state", len(program.states))
    of_leaves = [tuple((*read, settled(g)) for *read, g in kind) for kind in found.values()]
    inputs = handed("input", len(program.inputs))
    return Backward(graph, forward, tuple(states), tuple(inputs), *of_leaves)


def propagate(program: Program, gradients: Gradients, nodes: Sequence[Node]) -> dict[str, list[tuple]]:
    """Send gradients back through `nodes`, last to first; what comes to leaves and tables is returned, as
    `matrices`, `rows` and `picked` of `Backward`, by the operations that read them."""
    found: dict[str, list[tuple]] = {"product": [], "row": [], "picked": []}
    for node in reversed(nodes):
        g = gradients.of(node)
        if g is None or node.operation in ("input", "state"):
            continue
        if node.operation == "row":
            if program.is_learned(node.detail):
                found["row"].append((node.detail, structure.solid(g)))
        elif node.operation in found:
            (left,), (leaf, transposed) = node.inputs, node.detail
            g = structure.solid(g)
            if node.operation == "picked" or program.is_learned(leaf):
                found[node.operation].append((leaf, left, g))
            if left.operation == "windows":
                for block, share in zip(left.inputs, reverse_windows(left, g, leaf, transposed), strict=True):
                    gradients.add(block, share)
            else:
                gradients.add(left, g.then(node.operation, width=left.width, detail=(leaf, not transposed)))
        elif node.operation == "slice":
            gradients.pieces[node.inputs[0]].append((node.detail, g))
        else:
            for part, share in zip(node.inputs, REVERSE[node.operation](node, g), strict=True):
                if share is not None:
                    gradients.add(part, share)
    return found


def settled(g: Node) -> Node:
    """g, or a copy of it where it is an incoming gradient, which the next step overwrites."""
    return g.then("copy") if g.base.operation == "gradient" else g
