"""Blocks of numbers of a step, in the registers and in the memory of a program, and lines that move them."""

from collections.abc import Iterable
from contextlib import contextmanager

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.plan import Arena
from tensor_rnns.engine.triton.memory import MOST, Chip, MemoryBlock, is_narrow, padded, seen_through


class Blocks:
    """Lines of a step.

    `memory` has the blocks of nodes that lie in memory; others that must get one in the scratch memory of the
    program. `names` are the variables that hold nodes at the start of the step.
    """

    def __init__(
        self, chip: Chip, memory: dict[Node, MemoryBlock], names: dict[Node, str], scratch: Arena
    ) -> None:
        self.chip = chip
        self.memory = dict(memory)
        self.names = dict(names)
        self.scratch = scratch
        self.lines: list[str] = []
        self.depth = 0
        self.rows: set[Node] = set()
        self.zeros: set[Node] = set(names)
        self.kept: set[Node] = set()
        self.unseen: set[Node] = set()
        self.waits = False

    def say(self, line: str) -> None:
        """One more line."""
        self.lines.append("    " * self.depth + line)

    @contextmanager
    def within(self, head: str):
        """The lines of a block of Python after its head."""
        self.say(head)
        self.depth += 1
        yield
        self.depth -= 1

    def block(self, node: Node) -> MemoryBlock:
        """Where a node lies; in the scratch memory if nowhere else."""
        if node not in self.memory:
            offset = self.scratch.take(node, node.width)
            base = f"scratch + {offset} * TILE" if offset else "scratch"
            self.memory[node] = MemoryBlock(base, "lane", node.width)
        return self.memory[node]

    def address(self, node: Node, columns: str) -> str:
        """The address of columns of a node that lies in memory, or is read from one that does."""
        base, columns = seen_through(node, columns)
        if base.operation == "row":
            return f"{self.chip.leaf(base.detail)} + {columns}"
        return self.block(base).at(columns)

    def load(self, node: Node, columns: str, mask: str) -> str:
        """The Triton that reads columns of a node; a row of parameters has one row."""
        if node.base.operation == "row":
            mask = f"{columns} < {node.width}"
        return f"tl.load({self.address(node, columns)}, mask={mask}, other=0.0)"

    def store(self, node: Node, value: str, columns: str, mask: str) -> None:
        """Write columns of a node into its memory, where other threads do not see them yet."""
        self.say(f"tl.store({self.block(node).at(columns)}, {value}, mask={mask})")
        self.unseen.add(node)

    def see(self, nodes: Iterable[Node]) -> None:
        """Wait for all threads, if one of these nodes was written since they last waited."""
        if self.unseen & {node.base for node in nodes}:
            self.say("tl.debug_barrier()")
            self.unseen.clear()
            self.waits = True

    def rest(self, carried: bool) -> list[str]:
        """The end of a step: what it wrote is there for the next, which may write where this one has read.

        `carried` says that states or their gradients lie in memory.
        """
        read = any(node.operation in ("state", "gradient") for node in self.kept)
        return ["tl.debug_barrier()"] if self.waits or carried or read else []

    def copy(self, source: MemoryBlock | str, target: MemoryBlock, width: int) -> None:
        """Copy a block, or fill it with a number."""
        with self.turns(width) as (columns, mask):
            number = source
            if isinstance(source, MemoryBlock):
                number = f"tl.load({source.at(columns)}, mask={mask}, other=0.0)"
            self.say(f"tl.store({target.at(columns)}, {number}, mask={mask})")

    def get(self, node: Node) -> str:
        """The variable that holds a narrow node."""
        if node not in self.names:
            columns, mask = self.chip.columns(node.width), self.chip.mask(node.width)
            if node.base.operation == "row":
                self.names[node] = self.chip.row(node, self.address(node, columns))
                self.rows.add(node)
            else:
                self.see([node])
                self.say(f"a{node.index} = {self.load(node, columns, mask)}")
                self.names[node] = f"a{node.index}"
            self.zeros.add(node)
        return self.names[node]

    def whole(self, node: Node) -> str:
        """A narrow node as a block with every row."""
        value = self.get(node)
        return f"tl.broadcast_to({value}, (TILE, {padded(node.width)}))" if node in self.rows else value

    def clean(self, node: Node) -> str:
        """A narrow node as a block with every row, and zeros where it is padded."""
        value = self.whole(node)
        if node in self.zeros or padded(node.width) == node.width:
            return value
        zeroed = f"tl.where({self.chip.columns(node.width)} < {node.width}, {value}, 0.0)"
        if node in self.rows:
            return zeroed
        self.say(f"{value} = {zeroed}")
        self.zeros.add(node)
        return value

    def hold(self, node: Node, name: str) -> None:
        """Let a variable hold a narrow node; write that into memory too, if it is needed there."""
        self.names[node] = name
        if node in self.kept:
            self.store(node, name, self.chip.columns(node.width), self.chip.mask(node.width))

    @contextmanager
    def turns(self, width: int):
        """Columns and mask of a narrow block, or in a loop those of some columns of a wide one."""
        if is_narrow(width):
            yield self.chip.columns(width), self.chip.mask(width)
        else:
            with self.within(f"for first in range(0, {width}, {MOST}):"):
                self.say(f"j = first + {self.chip.columns(MOST)}")
                yield "j", f"inside & (j < {width})"
