"""Where numbers lie: in the memory of a GPU, with the Triton that points to them, and on the chip, where a
program of a kernel puts matrices of parameters before its loop over time, if they fit."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.plan import Arena, Step, saved
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.trace import Program

LEAST = 16
MOST = 256
"""The fewest columns that a product takes, and the most that stay in registers."""
RESERVED = 48 * 1024
"""Bytes of shared memory that are left to the blocks of a step."""
SMALL = 2048
"""Numbers of a matrix up to which a product in full float32 needs no tensor cores. With larger ones it takes
them three times, for the products of high and low halves (tf32x3), which loses no more digits."""
HELD = {"ieee": 2 * 64 * 64, "tf32": 128 * 128}
"""The most numbers of a matrix, halves counted, that is held on the chip, by the precision of products. With
larger ones a thread, which unpacks its columns of all matrices that are held, has too few registers."""


def padded(width: int) -> int:
    """The power of two, at least LEAST, into which `width` columns are padded."""
    return max(LEAST, 1 << (width - 1).bit_length())


def is_narrow(width: int) -> bool:
    """Whether a block of so many columns is kept in registers."""
    return padded(width) <= MOST


@dataclass(frozen=True)
class MemoryBlock:
    """A block [rows, width] behind the pointer `base`; `row` is the variable with the number of each row."""

    base: str
    row: str
    width: int

    def at(self, columns: str) -> str:
        """The address of these columns."""
        return f"{self.base} + {self.row} * {self.width} + {columns}"


def plus(columns: str, number: int) -> str:
    """Columns further on by a number."""
    return f"({columns} + {number})" if number else columns


def spread_columns(columns: str, layout: tuple[int, int, int]) -> str:
    """The columns of [outer, inner] that [outer, count, inner] reads."""
    outer, count, inner = layout
    if inner == 1:
        return f"({columns} // {count})" if outer > 1 else f"({columns} * 0)"
    start = f"{columns} // {count * inner} * {inner} + " if outer > 1 else ""
    return f"({start}{columns} % {inner})"


def seen_through(node: Node, columns: str) -> tuple[Node, str]:
    """The node with memory from which `node` is read, and the columns there."""
    while node.operation in ("slice", "spread"):
        if node.operation == "slice":
            columns = plus(columns, node.detail)
        else:
            columns = spread_columns(columns, node.detail)
        node = node.inputs[0]
    return node, columns


def axis(columns: str, unit: int, size: int, width: int) -> str:
    """The index along the axis of `size` that begins at `unit`, of columns of a block of that width."""
    index = f"{columns} // {unit}" if unit > 1 else columns
    return f"{index} % {size}" if unit * size < width else index


def strided(terms: Iterable[tuple[str, int]]) -> str:
    """The sum of indices times their strides."""
    return " + ".join(f"{index} * {stride}" if stride > 1 else index for index, stride in terms if stride)


class Chip:
    """The lines before the loop: ranges of columns, masks, rows and matrices of parameters.

    A matrix is loaded once if it is small enough for the precision and fits with those before it into
    `memory` bytes of shared memory, less RESERVED; others are read again in every step. A number has `size`
    bytes. `tables` are the indices of all picks.
    """

    def __init__(self, program: Program, memory: int, size: int, precision: str, tables: Arena) -> None:
        self.program = program
        self.free = (memory - RESERVED) // size
        self.splits = precision == "ieee" and size == 4
        self.most = SMALL if size == 8 else HELD[precision]
        self.tables = tables
        self.lines: list[str] = []
        self.known: dict = {}
        self.leaves: set[int] = set()
        self.matrices: dict[tuple[int, bool], str] = {}

    def once(self, key, name: str, value: str) -> str:
        """The variable `name`, which gets its value where it is asked for first."""
        if key not in self.known:
            self.known[key] = name
            self.lines.append(f"{name} = {value}")
        return name

    def columns(self, width: int) -> str:
        """The columns of a padded block, [1, P]."""
        count = padded(width)
        return self.once(("columns", count), f"c{count}", f"tl.arange(0, {count})[None, :]")

    def depth(self, count: int) -> str:
        """The rows of a matrix, [P, 1]."""
        return self.once(("rows", count), f"r{count}", f"tl.arange(0, {count})[:, None]")

    def mask(self, width: int) -> str:
        """Which numbers of a padded block are there."""
        if padded(width) == width:
            return "inside"
        return self.once(("mask", width), f"in{width}", f"inside & ({self.columns(width)} < {width})")

    def leaf(self, leaf: int) -> str:
        """The pointer to a leaf of this replica."""
        self.leaves.add(leaf)
        return f"leaf_{leaf}"

    def row(self, node: Node, address: str) -> str:
        """A row of parameters."""
        mask = f"{self.columns(node.width)} < {node.width}"
        return self.once(node, f"row{node.index}", f"tl.load({address}, mask={mask}, other=0.0)")

    def table(self, node: Node, columns: str) -> str:
        """The indices that columns of a pick read."""
        offset = self.tables.take(node.detail, node.width)
        return f"tl.load(tables + {offset} + {columns}, mask={columns} < {node.width}, other=-1)"

    def hold(self, steps: Iterable[Step]) -> None:
        """Load the matrices of these steps, as far as they fit."""
        for step in steps:
            if step.product and step.product.detail not in self.matrices:
                rows, columns = self.program.sizes(*step.product.detail)
                size = padded(rows) * padded(columns)
                size *= 2 if self.in_halves(size) else 1
                if max(padded(rows), padded(columns)) <= MOST and size <= min(self.most, self.free):
                    self.free -= size
                    leaf, transposed = step.product.detail
                    name = f"matrix_{leaf}_turned" if transposed else f"matrix_{leaf}"
                    value = self.matrix(step.product, self.depth(padded(rows)), self.columns(columns))
                    self.matrices[step.product.detail] = self.once(step.product.detail, name, value)

    def in_halves(self, size: int) -> bool:
        """Whether products with a matrix of so many numbers are those of high and low halves."""
        return self.splits and size > SMALL

    def precision(self, product: Node) -> str:
        """How exact a product is, as Triton calls it."""
        rows, columns = self.program.sizes(*product.detail)
        return '"tf32x3"' if self.in_halves(padded(rows) * padded(columns)) else "PRECISION"

    def matrix(self, product: Node, rows: str, columns: str) -> str:
        """The Triton that reads these rows and columns of the matrix of a product."""
        leaf, transposed = product.detail
        height, width = self.program.sizes(*product.detail)
        index = f"{rows} + {columns} * {height}" if transposed else f"{rows} * {width} + {columns}"
        mask = f"({rows} < {height}) & ({columns} < {width})"
        return f"tl.load({self.leaf(leaf)} + {index}, mask={mask}, other=0.0)"


class Layout:
    """The memory that both kernels of a program share.

    `tape` has the values of a step that the way back reads, `kept` the gradients that `terms` read,
    `tables` the indices of picks. The `narrow` states stay in registers from step to step, the `wide` ones
    lie in memory.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.printed = str(program)
        self.back = reverse(program)
        self.saved = saved(program, self.back)
        self.tape, self.kept, self.tables = Arena({node: node.width for node in self.saved}), Arena(), Arena()
        states = range(len(program.states))
        self.narrow = [i for i in states if is_narrow(program.states[i])]
        self.wide = [i for i in states if i not in self.narrow]

    def blocks(self, record: str) -> dict[Node, MemoryBlock]:
        """The blocks of inputs, states and saved values; `record` names their row on the tape."""
        entering = [node for node in self.program.graph.nodes if node.operation in ("input", "state")]
        return {node: self.block(node, record) for node in (*entering, *self.saved, *self.program.outputs)}

    def keep(self, given: set[Node]) -> dict[Node, MemoryBlock]:
        """Where the way back writes what the sums need and is not `given`."""
        operands = dict.fromkeys(operand.base for operand in self.back.operands)
        return {node: self.block(node, "now") for node in operands if node not in given}

    def place(self, node: Node) -> tuple[str, int, str]:
        """The tensor that has a node at all steps, the numbers of a row before it there, and which row of the
        tensor is that of a step."""
        if node.operation == "input":
            return f"input_{node.detail}", 0, "now"
        if node.operation == "state":
            return f"states_{node.detail}", 0, "now"
        if node in self.program.outputs:
            return f"states_{self.program.outputs.index(node)}", 0, "after"
        if node in self.tape.offsets:
            return "tape", self.tape.offsets[node], "record"
        return "kept", self.kept.take(node, node.width), "now"

    def block(self, node: Node, record: str) -> MemoryBlock:
        """The block of a node at a step; `record` names the row on the tape."""
        tensor, offset, row = self.place(node)
        base = f"{tensor} + {offset} * plane" if offset else tensor
        return MemoryBlock(base, record if tensor == "tape" else row, node.width)

    def terms(self, leaf: int) -> list[tuple[Node | None, Node]]:
        """(left, g) or (None, g): the gradient of the leaf is the sum of left^T g, or of g, over time, batch
        and the groups of columns that left has."""
        products = [(left, g) for number, left, g in self.back.matrices if number == leaf]
        return products + [(None, g) for number, g in self.back.rows if number == leaf]

    def operand(self, node: Node, tensors: Mapping[str, Tensor], first: Tensor) -> tuple[Tensor, int]:
        """The memory of a node after the scan back, from its first number on, and how wide a row is there.

        `tensors` are arguments of the kernel, `first` is one [steps, replicas, batch, ..].
        """
        steps, replicas, batch = first.shape[:3]
        start = 0
        while node.operation == "slice":
            start, node = start + node.detail, node.inputs[0]
        tensor, offset, row = self.place(node)
        before = offset * steps + (node.width if row == "after" else 0)
        return tensors[tensor].view(-1)[start + before * replicas * batch :], node.width

    def turning(self, scratch: Arena, state: int, turn: str) -> MemoryBlock:
        """The block of the gradient of a wide state: one of two, in turns."""
        width = self.program.states[state]
        offset = scratch.take(("gradient", state), 2 * width)
        return MemoryBlock(f"scratch + ({offset} + {turn} * {width}) * TILE", "lane", width)
