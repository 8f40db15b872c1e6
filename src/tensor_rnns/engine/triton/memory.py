"""Where numbers lie in the memory of a GPU, and the Triton that points to them."""

from collections.abc import Iterable
from dataclasses import dataclass

from tensor_rnns.engine.ir.graph import Node

LEAST = 16
MOST = 256
"""The fewest columns that a product takes, and the most that stay in registers."""


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
