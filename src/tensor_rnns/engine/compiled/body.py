"""The code of one step in one direction: where each node lies, and the lines of C++ that compute it.

A node that nothing outside its loop reads has no memory: it is a variable, and stays in a register.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.holes import alike, used, zeros
from tensor_rnns.engine.ir.operations import POINTWISE, literal
from tensor_rnns.engine.ir.plan import Arena, Step
from tensor_rnns.engine.ir.trace import Program

ACCUMULATORS = 8
VECTOR = 16
"""Numbers of the widest vector."""
PANEL = 48
"""Columns of a panel: whole vectors, and as many as registers hold sums of for half a vector of rows."""
LARGE = 1 << 13
"""Numbers of a matrix from which on it lies in panels; smaller ones stay in the first cache as they are."""

STRETCH = 16
"""Numbers of a stretch on average from which on it is copied as one."""


def padded(width: int, grain: int = VECTOR) -> int:
    """`width` with room for whole vectors, or others of `grain` numbers."""
    return -(-width // grain) * grain


Part = tuple[int, bool, int, int, int]
"""Of a leaf, transposed or not: its rows from one on, and columns from one up to another."""


def is_panelled(program: Program, leaf: int) -> bool:
    """Whether a matrix lies in panels; a row of symbols alone, which tables bring, reads it along rows."""
    return not program.tables and math.prod(program.leaves[leaf]) >= LARGE


def further(address: str, by: int) -> str:
    """An address `by` numbers of a row further on."""
    return f"{address} + {by} * W" if by else address


def places_of(node: Node) -> np.ndarray:
    """Where the numbers of a node stand in what it is a slice or a spread of, or in itself."""
    places = np.arange(node.width)
    while node.operation in ("slice", "spread"):
        if node.operation == "slice":
            places += node.detail
        else:
            _, count, inner = node.detail
            places = places // (count * inner) * inner + places % inner
        node = node.inputs[0]
    return places


def is_near(node: Node) -> bool:
    """Whether the numbers of a node that a whole vector holds lie side by side."""
    places = places_of(node)
    groups = places[: len(places) // VECTOR * VECTOR].reshape(-1, VECTOR)
    return bool((groups - groups[:, :1] == np.arange(VECTOR)).all())


class Body:
    """Lines of a step; `addresses` says where the nodes lie that have memory of their own. The rest lies in
    memory that a body `beside` it shares."""

    def __init__(self, program: Program, addresses: dict[Node, str], beside: "Body | None" = None) -> None:
        self.program = program
        self.addresses = dict(addresses)
        self.packed, self.scratch = (beside.packed, beside.scratch) if beside else (Arena(), Arena())
        self.lines: list[str] = []

    def address(self, node: Node) -> str:
        """Where a node lies, or the part of another that it is."""
        if node.operation == "slice":
            return further(self.address(node.inputs[0]), node.detail)
        return self.addresses[node]

    def write(self, steps: Sequence[Step], stored: Iterable[Node], roots: Sequence[Node]) -> None:
        """Append the lines of `steps`; `stored` nodes have an address already; `roots` are what is read."""
        onto = {step.onto: step.target for step in steps if step.onto}
        made = {node for step in steps for node in step.nodes}
        outside = set(stored) | set(onto) | {part.base for step in steps for part in step.reads}
        outside |= {step.target for step in steps if not step.is_loop}
        within: dict[Node, tuple[Node, int]] = {}
        for node in made:
            if node.operation == "join":
                for part, start in zip(node.inputs, node.detail, strict=True):
                    if part in made and part not in self.addresses:
                        within.setdefault(part, (node, start))

        def settle(node: Node) -> str:
            if node not in self.addresses:
                if node in onto:
                    self.addresses[node] = settle(onto[node])
                elif node in within:
                    whole, start = within[node]
                    self.addresses[node] = further(settle(whole), start)
                else:
                    self.addresses[node] = f"scratch + {self.scratch.take(node, node.width)} * W"
            return self.addresses[node]

        for node in sorted(made & outside, key=lambda node: node.index):
            settle(node)
        read = used(roots)
        for step in steps:
            if step.product:
                self.lines += self.product(step, read[step.target])
            elif step.is_loop:
                self.lines += self.loop(step, outside)
            else:
                self.lines += getattr(self, step.target.operation)(step.target)

    def product(self, step: Step, read: np.ndarray) -> list[str]:
        """One product of matrices, or of several pieces with one: those numbers that are read, without what
        is multiplied by zeros."""
        (left,) = step.product.inputs
        leaf, transposed = step.product.detail
        rows, columns = self.program.sizes(leaf, transposed)
        address, target = self.address(left), self.addresses[step.target]
        pieces = left.width // rows
        read = read.reshape(pieces, columns) if pieces > 1 else np.ones((1, columns), bool)
        lines = []
        # All pieces meet a part of the matrix while it is near.
        for n, end, wanted in alike(read):
            begun = set(wanted) if step.onto else set()
            for k, last, there in alike(~zeros(left).reshape(pieces, rows)):
                both = set(wanted) & set(there)
                for group in filter(None, (both & begun, both - begun)):
                    sizes = f"{last - k}, {end - n}, {str(group <= begun).lower()}"
                    places = [(i * rows + k, i * columns + n) for i in sorted(group)]
                    lines += self.multiplied(places, sizes, address, target, (leaf, transposed, k, n, end))
                begun |= both
            empty = [further(target, i * columns + n) for i in wanted if i not in begun]
            lines += [f"clear({place}, {end - n} * W);" for place in empty]
        return lines

    def multiplied(
        self, places: list[tuple[int, int]], sizes: str, left: str, out: str, part: Part
    ) -> list[str]:
        """The calls that multiply pieces by a part of a matrix; `places` are where they begin in `left` and
        `out`."""
        leaf, transposed, k, n, end = part
        rows, columns = self.program.sizes(leaf, transposed)
        if is_panelled(self.program, leaf):
            matrix = self.packed.take((leaf, transposed, n, end), rows * padded(end - n, PANEL))
            pieces = "{" + ", ".join(f"{{{start}, {to}}}" for start, to in places) + "}"
            matrix += k * PANEL
            return [f"products<Block, {sizes}, {rows}>(rows, {pieces}, {left}, packed + {matrix}, {out});"]
        matrix = self.packed.take((leaf, transposed), padded(rows * columns + VECTOR - 1)) + k * columns + n
        name, given = f"product_of<Block, {sizes}, {columns}>", f"packed + {matrix}"
        return [f"{name}(rows, {further(left, at)}, {given}, {further(out, to)});" for at, to in places]

    def loop(self, step: Step, outside: set[Node]) -> list[str]:
        """One pass over the numbers of a width."""
        names: dict[Node, str] = {}
        lines = []

        def get(node: Node) -> str:
            if node not in names:
                names[node] = f"a{node.index}"
                lines.append(f"const Vec a{node.index} = {self.number(node)};")
            return names[node]

        for node in step.nodes:
            number = literal(node.detail) if isinstance(node.detail, float) else ""
            code = POINTWISE[node.operation].code.format(*map(get, node.inputs), n=number)
            lines.append(f"const Vec a{node.index} = {code};")
            names[node] = f"a{node.index}"
            if node in outside:
                lines.append(f"leave_numbers<Block>({self.addresses[node]}, j, v, a{node.index});")
        width = step.target.width
        even = width if width % 2 == 0 else width - 1 if width > STRETCH else 0
        whole = width - width % VECTOR if all(map(is_near, names)) else 0
        split = f"several<Block>({whole}, {even})"
        made = []
        for start, end, sort in (
            ("0", split, "NumbersOf<Block, true>"),
            (split, str(width), "NumbersOf<Block, false>"),
        ):
            head = f"for (int j = {start}; j < {end}; j += numbers<Block, {sort}>)"
            using = ["  for (int v = 0; v < V; ++v) {", f"    using Vec = {sort};"]
            made += [head, *using, *(f"    {line}" for line in lines), "  }"]
        return made

    def number(self, node: Node) -> str:
        """The C++ of number j of a node, and of the next where a vector holds two."""
        j, places = "{j}", places_of(node)
        while node.operation in ("slice", "spread"):
            if node.operation == "slice":
                j = f"({j} + {node.detail})"
            else:
                outer, count, inner = node.detail
                first = f"{j} / {count * inner}" if outer > 1 else ""
                first += f" * {inner}" if first and inner > 1 else ""
                rest = f"{j} % {inner}" if inner > 1 else ""
                j = f"({' + '.join(filter(None, (first, rest))) or '0'})"
            node = node.inputs[0]
        whole = len(places) // 2 * 2
        step = np.unique(places[1:whole:2] - places[0:whole:2])
        j, after = j.format(j="j"), j.format(j="(j + 1)")
        if node.operation == "row":
            row = self.packed.take((node.detail, False), padded(node.width))
            return f"splat_numbers<Block, Vec>(packed + {row}, {j}, {after})"
        near = "" if step.tolist() == [1] else f", {after}"
        return f"take_numbers<Block, Vec>({self.addresses[node]}, v, {j}{near})"

    def join(self, node: Node) -> list[str]:
        """Blocks that were not computed where they belong are copied there; gaps are cleared."""
        address, lines, end = self.addresses[node], [], 0
        for part, start in zip(node.inputs, node.detail, strict=True):
            lines.append(f"clear({further(address, end)}, {start - end} * W);" if start > end else "")
            target = further(address, start)
            copied = self.address(part) != target
            lines.append(f"copy({target}, {self.address(part)}, {part.width} * W);" if copied else "")
            end = start + part.width
        lines.append(f"clear({further(address, end)}, {node.width - end} * W);" if node.width > end else "")
        return [line for line in lines if line]

    def pick(self, node: Node) -> list[str]:
        """A copy by a table of indices, or of the stretches without gaps where these are long."""
        table, given, out = f"places{node.index}", self.address(node.inputs[0]), self.addresses[node]
        places = np.array(node.detail)
        gaps = places < 0
        cuts = np.flatnonzero((np.diff(places) != ~gaps[1:]) | (gaps[1:] != gaps[:-1]))
        edges = [0, *(cuts + 1).tolist(), node.width]
        if node.width < STRETCH * (len(edges) - 1):
            indices = ", ".join(map(str, node.detail))
            call = f"pick<Block>({node.width}, {table}, {given}, {out});"
            return [f"static constexpr int {table}[] = {{{indices}}};", call]
        lines = []
        for start, end in pairwise(edges):
            target, count, first = further(out, start), f"{end - start} * W", int(places[start])
            copied = f"copy({target}, {further(given, first)}, {count});"
            lines.append(copied if first >= 0 else f"clear({target}, {count});")
        return lines

    def picked(self, node: Node) -> list[str]:
        """A product with the matrix that the symbol of each row picks."""
        (left,), (table, transposed) = node.inputs, node.detail
        sizes = (node.width, left.width) if transposed else (left.width, node.width)
        name = "picked_back" if transposed else "picked"
        call = f"{name}<Block, {sizes[0]}, {sizes[1]}>(chosen + {table} * W, rows"
        return [f"{call}, {self.address(left)}, {self.addresses[node]});  // %{node.index}"]

    def reduced(self, node: Node) -> list[str]:
        """Sums over the middle axis, or the greatest there."""
        name = "sums" if node.operation == "sum" else "greatest"
        sizes = ", ".join(map(str, node.detail))
        operands = f"{self.address(node.inputs[0])}, {self.addresses[node]}"
        return [f"{name}<Block, {sizes}>({operands});  // %{node.index}"]

    sum = greatest = reduced

    def contract(self, node: Node) -> list[str]:
        """Sums of products of two blocks: loops over the result outside, over what is added up inside."""
        sizes, of_a, of_b, onto = node.detail
        left, right = (self.address(part) for part in node.inputs)
        axes = range(len(sizes))
        outer = sorted((k for k in axes if onto[k]), key=lambda k: -onto[k])
        added = sorted((k for k in axes if not onto[k]), key=lambda k: -max(of_a[k], of_b[k]))
        last = outer.pop() if outer else None
        count = sizes[last] if last is not None else 1
        wide = min(count, ACCUMULATORS)

        def index(strides: Sequence[int], chosen: Sequence[int]) -> str:
            parts = [f"i{k}" + f" * {strides[k]}" * (strides[k] > 1) for k in chosen if strides[k]]
            if last is not None and strides[last]:
                parts.append("(first + n)" + f" * {strides[last]}" * (strides[last] > 1))
            return f"({' + '.join(parts) or '0'}) * V + v"

        head, inner = (
            [f"for (int i{k} = 0; i{k} < {sizes[k]}; ++i{k})" for k in axes] for axes in (outer, added)
        )
        of_left, of_right = index(of_a, [*outer, *added]), index(of_b, [*outer, *added])
        factors = f"at<Vec>({left}, {of_left}) * at<Vec>({right}, {of_right})"
        tile = [
            "Vec c[N] = {};",
            *inner,
            f"  UNROLL for (int n = 0; n < N; ++n) c[n] += {factors};",
            f"UNROLL for (int n = 0; n < N; ++n) put({self.addresses[node]}, {index(onto, outer)}, c[n]);",
        ]
        whole = count - count % wide
        lines = []
        for first, end, width in ((0, whole, wide), (whole, count, count % wide)):
            if first < end:
                lines += [
                    f"for (int first = {first}; first < {end}; first += {width})",
                    "  for (int v = 0; v < V; ++v) {",
                    f"    constexpr int N = {width};",
                    *(f"    {line}" for line in tile),
                    "  }",
                ]
        return [*head, "{", *(f"  {line}" for line in lines), "}"] if head else lines
