"""The code of products with matrices, and where the nodes and matrices of a step lie."""

import math
from collections.abc import Sequence

import numpy as np

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.pieces import LARGE, alike, zeros
from tensor_rnns.engine.ir.plan import Arena, Step
from tensor_rnns.engine.ir.trace import Program

VECTOR = 16
"""Numbers of the widest vector."""
PANEL = 48
"""Columns of a panel: whole vectors, and as many as registers hold sums of for half a vector of rows."""

Part = tuple[int, bool, int, int, int]
"""Of a leaf, transposed or not: its rows from one on, and columns from one up to another."""
Taps = Sequence[tuple[int, int, int]]
"""Of a sum, for each tap: the number of the block on its left, where it begins there, and where the rows of
its matrix lie."""


def padded(width: int, grain: int = VECTOR) -> int:
    """`width` with room for whole vectors, or others of `grain` numbers."""
    return -(-width // grain) * grain


def is_panelled(program: Program, leaf: int) -> bool:
    """Whether a matrix lies in panels; a row of symbols alone, which tables bring, reads it along rows."""
    return not program.tables and math.prod(program.leaves[leaf]) >= LARGE


def further(address: str, by: int) -> str:
    """An address `by` numbers of a row further on."""
    return f"{address} + {by} * W" if by else address


def braced(values: Sequence) -> str:
    """Values in C++, nested ones too."""
    return "{" + ", ".join(braced(v) if isinstance(v, tuple | list) else str(v) for v in values) + "}"


class Products:
    """The lines of products; `addresses` says where the nodes lie that have memory of their own. The rest,
    and the matrices, lie in memory that a body `beside` this one shares."""

    def __init__(
        self, program: Program, addresses: dict[Node, str], beside: "Products | None" = None
    ) -> None:
        self.program = program
        self.addresses = dict(addresses)
        self.packed, self.scratch = (beside.packed, beside.scratch) if beside else (Arena(), Arena())
        self.lines: list[str] = []

    def address(self, node: Node) -> str:
        """Where a node lies, or the part of another that it is."""
        if node.operation == "slice":
            return further(self.address(node.inputs[0]), node.detail)
        return self.addresses[node]

    def product(self, step: Step, read: np.ndarray) -> list[str]:
        """One product of matrices, or of several pieces with one: those numbers that are `read`, without what
        is multiplied by zeros."""
        (left,) = step.product.inputs
        if left.operation == "windows" or step.product.operation == "scattered":
            return self.windows(step)
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
                    places = [(i * rows + k, i * columns + n) for i in sorted(group)]
                    part, onto = (leaf, transposed, k, n, end), group <= begun
                    lines += self.multiplied(places, last - k, onto, address, target, part)
                begun |= both
            empty = [further(target, i * columns + n) for i in wanted if i not in begun]
            lines += [f"clear({place}, {end - n} * W);" for place in empty]
        return lines

    def multiplied(
        self, places: list[tuple[int, int]], width: int, onto: bool, left: str, out: str, part: Part
    ) -> list[str]:
        """The calls that multiply pieces by `width` rows of a part of a matrix; `places` are where they begin
        in `left` and `out`."""
        leaf, transposed, k, n, end = part
        rows, columns = self.program.sizes(leaf, transposed)
        sizes = f"{width}, {end - n}, {str(onto).lower()}, {str(not transposed).lower()}"
        if is_panelled(self.program, leaf):
            matrix = self.packed.take((leaf, transposed, n, end), rows * padded(end - n, PANEL)) + k * PANEL
            return self.summed(
                {to: [(0, start, matrix)] for start, to in places}, f"{sizes}, {rows}", [left], out
            )
        matrix = self.packed.take((leaf, transposed), padded(rows * columns + VECTOR - 1)) + k * columns + n
        name, given = f"product_of<Block, {sizes}, {columns}>", f"packed + {matrix}"
        return [f"{name}(rows, {further(left, at)}, {given}, {further(out, to)});" for at, to in places]

    def windows(self, step: Step) -> list[str]:
        """A product of windows, or one that is scattered to what they show."""
        leaf, transposed, *places = step.product.detail
        rows, columns = self.program.sizes(leaf, transposed)
        (left,), target = step.product.inputs, self.addresses[step.target]
        if places:
            taps, blocks = places[0], [left]
            count, width = columns // len(taps), rows
            cuts = [(leaf, transposed, n, n + count) for n in range(0, columns, count)]
            matrices = [self.packed.take(cut, rows * padded(count, PANEL)) for cut in cuts]
        else:
            taps, blocks = left.detail, left.inputs
            count, width = columns, rows // len(taps)
            first = self.packed.take((leaf, transposed, 0, columns), rows * padded(columns, PANEL))
            matrices = [first + k * PANEL for k in range(0, rows, width)]
        sums: dict[int, list[tuple[int, int, int]]] = {}
        for matrix, starts in zip(matrices, taps, strict=True):
            for i, start in enumerate(starts):
                if start is not None:
                    to, read = (start, (0, i * rows)) if places else (i * columns, start)
                    sums.setdefault(to, []).append((*read, matrix))
        sums = dict(sorted(sums.items()))
        sizes = f"{width}, {count}, {str(bool(step.onto)).lower()}, {str(not transposed).lower()}, {rows}"
        ends = zip([0, *(start + count for start in sums)], [*sums, step.target.width], strict=True)
        gaps = [(start, end) for start, end in ends if end > start and not step.onto]
        cleared = [f"clear({further(target, start)}, {end - start} * W);" for start, end in gaps]
        return cleared + self.summed(sums, sizes, [self.address(block) for block in blocks], target)

    def summed(self, sums: dict[int, Taps], sizes: str, blocks: list[str], out: str) -> list[str]:
        """The call that makes sums, by where each begins in `out`, of products with panels."""
        taps, windows = [], []
        for to, own in sums.items():
            windows.append((to, len(taps), len(taps) + len(own)))
            taps += own
        return [
            "{",
            f"  static constexpr Tap taps[] = {braced(taps)};",
            f"  static constexpr Window windows[] = {braced(windows)};",
            f"  const real* const blocks[] = {braced(blocks)};",
            f"  products<Block, {sizes}>(rows, windows, taps, blocks, packed, {out});",
            "}",
        ]
