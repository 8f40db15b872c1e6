"""In which order one step computes its nodes: products, loops that join operations on single numbers, and
the rest one by one."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tensor_rnns.engine.ir.graph import SOURCES, VIRTUAL, Node, needed
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.reverse import Backward
from tensor_rnns.engine.ir.trace import Program

CHEAP_ROWS = 4


@dataclass(frozen=True)
class Product:
    """target = left @ matrix, or target += left @ matrix where the sum `target` takes the place of `onto`."""

    target: Node
    product: Node
    onto: Node | None = None


@dataclass(frozen=True)
class Loop:
    """Nodes of one width, computed number by number in one pass."""

    nodes: tuple[Node, ...]

    @property
    def width(self) -> int:
        """The common width."""
        return self.nodes[0].width


@dataclass(frozen=True)
class Single:
    """One node that moves or adds up numbers of a block."""

    node: Node


Step = Product | Loop | Single
MOVING = ("join", "pick", *VIRTUAL)


def costly(node: Node) -> bool:
    """Whether the value is kept for the way back; products of a narrow input are cheap to repeat."""
    if node.operation == "product":
        left = node.inputs[0]
        return left.operation != "input" or left.width > CHEAP_ROWS
    if node.operation in POINTWISE:
        return POINTWISE[node.operation].costly
    return node.operation not in MOVING


def saved(program: Program, backward: Backward) -> list[Node]:
    """The nodes of the step that the way back reads from the tape; new states are kept in any case."""
    stack = [g for g in (*backward.states, *backward.inputs) if g]
    stack += [node for _, left, g in backward.matrices for node in (left, g)] + [g for _, g in backward.rows]
    seen, found = set(), []
    while stack:
        node = stack.pop()
        if node in seen or node.operation in SOURCES or node in program.outputs:
            continue
        seen.add(node)
        if node.index < backward.forward and costly(node):
            found.append(node)
        else:
            stack.extend(node.inputs)
    return sorted(found, key=lambda node: node.index)


def plan(roots: Iterable[Node], given: Iterable[Node], stored: Iterable[Node]) -> list[Step]:
    """The order of everything that `roots` need beyond what is `given`.

    A sum of a product and something that only this sum reads becomes one product onto it, unless either is
    `stored`, in which case it has a place of its own.
    """
    todo = sorted(needed(roots, given), key=lambda node: node.index)
    users = Counter(part for node in todo for part in node.inputs)
    own = set(stored) | set(roots)
    inner: dict[Node, tuple[Node, Node]] = {}
    absorbed: set[Node] = set()
    members = set(todo)

    def free(node: Node) -> bool:
        alone = node in members and users[node] == 1 and node not in own and node not in absorbed
        return alone and node.operation not in MOVING

    for node in todo:
        if node.operation == "add":
            for onto, product in (node.inputs, node.inputs[::-1]):
                if product.operation == "product" and free(product) and free(onto) and onto is not product:
                    inner[node] = (onto, product)
                    absorbed.add(product)
                    break
    done = set(given)
    rest = [node for node in todo if node not in absorbed]
    steps: list[Step] = []

    def ready(node: Node, also: set[Node]) -> bool:
        return all(part in done or part in also or part.operation in SOURCES for part in node.inputs)

    while rest:
        single: list[Step] = []
        finished = set()
        for node in rest:
            if node.operation in VIRTUAL and ready(node, finished):
                finished.add(node)
        done |= finished
        rest = [node for node in rest if node not in finished]
        for node in rest:
            if node in inner:
                onto, product = inner[node]
                if onto in done and ready(product, set()):
                    single.append(Product(node, product, onto))
            elif node.operation == "product" and ready(node, set()):
                single.append(Product(node, node))
            elif node.operation not in POINTWISE and ready(node, set()):
                single.append(Single(node))
        if single:
            steps += single
            finished = {step.node if isinstance(step, Single) else step.target for step in single}
        else:
            chosen: list[Node] = []
            for node in rest:
                same = not chosen or node.width == chosen[0].width
                if node.operation in POINTWISE and node not in inner and same and ready(node, set(chosen)):
                    chosen.append(node)
            if chosen:
                steps.append(Loop(tuple(chosen)))
            finished = set(chosen)
        done |= finished
        rest = [node for node in rest if node not in finished]
    return steps
