"""What a program of a kernel has on the chip before its loop over time.

Matrices of parameters are the same at every step, and are read once if they fit.
"""

from collections.abc import Iterable

from tensor_rnns.engine.ir.arena import Arena
from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.plan import Product, Step
from tensor_rnns.engine.ir.trace import Program
from tensor_rnns.engine.triton.memory import MOST, padded

RESERVED = 48 * 1024
"""Bytes of shared memory that are left to the blocks of a step."""
HELD = {"ieee": 2048, "tf32": 128 * 128}
"""The most numbers of a matrix that is held on the chip, by the precision of products. Without tensor cores
every thread unpacks its columns of all matrices that are held; larger ones do not fit into its registers."""


class Chip:
    """The lines before the loop: ranges of columns, masks, rows and matrices of parameters.

    A matrix is loaded once if it has at most `most` numbers and fits with those before it into `memory`
    bytes of shared memory, less RESERVED; others are read again in every step. `tables` are the indices of
    all picks.
    """

    def __init__(self, program: Program, memory: int, size: int, most: int, tables: Arena) -> None:
        self.program = program
        self.free = (memory - RESERVED) // size
        self.most = most
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

    def shape(self, product: Node) -> tuple[int, int]:
        """Rows and columns of the matrix of a product."""
        leaf, transposed = product.detail
        return self.program.leaves[leaf][:: -1 if transposed else 1]

    def hold(self, steps: Iterable[Step]) -> None:
        """Load the matrices of these steps, as far as they fit."""
        for step in steps:
            if isinstance(step, Product) and step.product.detail not in self.matrices:
                rows, columns = self.shape(step.product)
                size = padded(rows) * padded(columns)
                if max(padded(rows), padded(columns)) <= MOST and size <= min(self.most, self.free):
                    self.free -= size
                    leaf, transposed = step.product.detail
                    name = f"matrix_{leaf}_turned" if transposed else f"matrix_{leaf}"
                    value = self.matrix(step.product, self.depth(padded(rows)), self.columns(columns))
                    self.matrices[step.product.detail] = self.once(step.product.detail, name, value)

    def matrix(self, product: Node, rows: str, columns: str) -> str:
        """The Triton that reads these rows and columns of the matrix of a product."""
        leaf, transposed = product.detail
        height, width = self.shape(product)
        index = f"{rows} + {columns} * {height}" if transposed else f"{rows} * {width} + {columns}"
        mask = f"({rows} < {height}) & ({columns} < {width})"
        return f"tl.load({self.leaf(leaf)} + {index}, mask={mask}, other=0.0)"
