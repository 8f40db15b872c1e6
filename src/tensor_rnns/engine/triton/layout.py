"""Where the kernels of a program put and find numbers, and what is left to sum after the scan back.

Both kernels must agree on it, and whoever calls them must know how much memory it takes.
"""

from collections.abc import Iterable

from tensor_rnns.engine.ir.arena import Arena
from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.plan import saved
from tensor_rnns.engine.ir.reverse import reverse
from tensor_rnns.engine.ir.trace import Program
from tensor_rnns.engine.triton.emitted import LeafSum, Operand
from tensor_rnns.engine.triton.memory import MemoryBlock, is_narrow


class Layout:
    """The memory that both kernels of a program share.

    `tape` has the values of a step that the way back reads, `kept` the gradients that `leaf_sums` read,
    `tables` the indices of picks.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self.printed = str(program)
        self.back = reverse(program)
        self.saved = saved(program, self.back)
        self.tape, self.kept, self.tables = Arena(), Arena(), Arena()
        for node in self.saved:
            self.tape.take(node, node.width)

    @property
    def narrow(self) -> list[int]:
        """The states that stay in registers from step to step."""
        return [i for i, width in enumerate(self.program.states) if is_narrow(width)]

    @property
    def wide(self) -> list[int]:
        """The states that lie in memory."""
        return [i for i, width in enumerate(self.program.states) if not is_narrow(width)]

    def blocks(self, record: str) -> dict[Node, MemoryBlock]:
        """The blocks of inputs, states and saved values; `record` names their row on the tape."""
        blocks = {}
        for node in self.program.graph.nodes:
            if node.operation in ("input", "state"):
                tensor = "input" if node.operation == "input" else "states"
                blocks[node] = MemoryBlock(f"{tensor}_{node.detail}", "now", node.width)
        for node in self.saved:
            blocks[node] = MemoryBlock(on_plane("tape", self.tape.offsets[node]), record, node.width)
        for i, node in enumerate(self.program.outputs):
            blocks[node] = MemoryBlock(f"states_{i}", "after", node.width)
        return blocks

    def keep(self, given: set[Node]) -> dict[Node, MemoryBlock]:
        """Where the way back writes what the sums need and is not `given`."""
        pairs = [*self.back.matrices, *((leaf, g, g) for leaf, g in self.back.rows)]
        operands = dict.fromkeys(node.base for _, *both in pairs for node in both)
        fresh = [node for node in operands if node not in given]
        return {
            node: MemoryBlock(on_plane("kept", self.kept.take(node, node.width)), "now", node.width)
            for node in fresh
        }

    def leaf_sums(self) -> Iterable[LeafSum]:
        """The gradients of the leaves."""
        for leaf, left, g in self.back.matrices:
            groups = left.width // self.program.leaves[leaf][0]
            yield LeafSum(leaf, self.operand(left), self.operand(g), groups)
        for leaf, g in self.back.rows:
            yield LeafSum(leaf, None, self.operand(g), 1)

    def operand(self, node: Node) -> Operand:
        """Where a node lies after the scan back."""
        start = 0
        while node.operation == "slice":
            start, node = start + node.detail, node.inputs[0]
        if node.operation == "input":
            return Operand(f"input_{node.detail}", node.width, start)
        if node.operation == "state":
            return Operand(f"states_{node.detail}", node.width, start)
        if node in self.program.outputs:
            return Operand(f"states_{self.program.outputs.index(node)}", node.width, start, shift=1)
        if node in self.tape.offsets:
            return Operand("tape", node.width, start, offset=self.tape.offsets[node])
        return Operand("kept", node.width, start, offset=self.kept.offsets[node])

    def turning(self, scratch: Arena, state: int, turn: str) -> MemoryBlock:
        """The block of the gradient of a wide state: one of two, in turns."""
        width = self.program.states[state]
        offset = scratch.take(("gradient", state), 2 * width)
        return MemoryBlock(f"scratch + ({offset} + {turn} * {width}) * TILE", "lane", width)


def on_plane(tensor: str, offset: int) -> str:
    """The base of a block of all steps, behind others of `offset` numbers a row."""
    return f"{tensor} + {offset} * plane" if offset else tensor
