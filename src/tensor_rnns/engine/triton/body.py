"""The Triton of one step in one direction: blocks in registers where they are narrow, else in memory."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack

from tensor_rnns.engine.ir.graph import VIRTUAL, Node
from tensor_rnns.engine.ir.operations import POINTWISE
from tensor_rnns.engine.ir.plan import Step
from tensor_rnns.engine.triton.blocks import Blocks
from tensor_rnns.engine.triton.memory import MOST, axis, is_narrow, padded, plus, strided

DEPTH = 32
BREADTH = 128
"""The rows and columns of a matrix that is not kept on the chip which are read at a time."""
ABREAST = 512
"""The most columns of matrices that are read at the same time."""
KEEP_ZERO = ("copy", "detach", "negate", "multiply_number", "tanh", "relu", "sqrt")
BOTH_ZERO = ("add", "subtract", "multiply")


class Body(Blocks):
    """The lines of a plan's steps."""

    def keep(self, steps: Iterable[Step], stored: Iterable[Node]) -> None:
        """Settle which nodes are written into memory: those `stored`, and what `steps` read from there."""
        self.kept = set(stored)
        for step in steps:
            self.kept |= {node.base for node in self.from_memory(step)}

    def write(self, steps: Iterable[Step]) -> None:
        """Append the lines of `steps`."""
        for group in self.groups(steps):
            step = group[0]
            if step.product:
                self.product(group)
            elif not step.is_loop:
                self.join(step.target) if step.target.operation == "join" else self.gathered(step.target)
            elif is_narrow(step.target.width):
                for node in step.nodes:
                    self.pointwise(node)
            else:
                self.wide_loop(step)

    def from_memory(self, step: Step) -> list[Node]:
        """What a step reads from memory and not from registers."""
        if step.product:
            (left,), onto = step.reads, step.onto
            block_read = [] if self.in_one(step) and left.operation not in VIRTUAL else [left]
            return [*block_read, onto] if onto and not self.in_registers(step) else block_read
        if not step.is_loop and step.target.operation != "join":
            return step.reads
        return [part for part in step.reads if part.operation in VIRTUAL or not is_narrow(part.width)]

    def pointwise(self, node: Node) -> None:
        """An operation on each number of a narrow node by itself."""
        values = [self.get(part) for part in node.inputs]
        self.say(f"a{node.index} = {code(node, values)}")
        if all(part in self.rows for part in node.inputs):
            self.rows.add(node)
        zero = [part in self.zeros for part in node.inputs]
        if (node.operation in KEEP_ZERO and zero[0]) or (node.operation in BOTH_ZERO and all(zero)):
            self.zeros.add(node)
        self.hold(node, f"a{node.index}")

    def wide_loop(self, step: Step) -> None:
        """Operations on each number of wide nodes, some columns at a time."""
        outside = step.reads
        self.see(outside)
        names = {node: f"a{node.index}" for node in (*outside, *step.nodes)}
        with self.turns(step.target.width) as (columns, mask):
            for part in dict.fromkeys(outside):
                self.say(f"{names[part]} = {self.load(part, columns, mask)}")
            for node in step.nodes:
                self.say(f"{names[node]} = {code(node, [names[part] for part in node.inputs])}")
                if node in self.kept:
                    self.store(node, names[node], columns, mask)

    def groups(self, steps: Iterable[Step]) -> Iterator[list[Step]]:
        """Steps one by one, but products that can share a loop over the rows of their matrices together."""
        group: list[Step] = []
        for step in steps:
            if group and not self.goes_with(step, group):
                yield group
                group = []
            group.append(step)
        if group:
            yield group

    def goes_with(self, step: Step, group: Sequence[Step]) -> bool:
        """Whether a product runs through as many rows as others, and none of these makes what it reads."""
        if not all(
            part.product and self.in_registers(part) and not self.in_one(part) for part in (step, *group)
        ):
            return False
        rows = {self.chip.program.sizes(*part.product.detail)[0] for part in (step, *group)}
        columns = sum(padded(part.target.width) for part in (step, *group))
        made = {part.target for part in group}
        return len(rows) == 1 and columns <= ABREAST and not made & {node.base for node in step.reads}

    def is_whole(self, step: Step) -> bool:
        """Whether a product is one of a whole block with its matrix."""
        return step.product.inputs[0].width == self.chip.program.sizes(*step.product.detail)[0]

    def in_one(self, step: Step) -> bool:
        """Whether the matrix is on the chip too."""
        return step.product.detail in self.chip.matrices and self.is_whole(step)

    def in_registers(self, step: Step) -> bool:
        """Whether the result of a product is added up in registers as a whole."""
        return self.is_whole(step) and is_narrow(step.target.width)

    def product(self, group: Sequence[Step]) -> None:
        """Products of a block with a matrix, for each group of as many columns as the matrix has rows."""
        step = group[0]
        if self.in_one(step):
            operands = self.clean(step.product.inputs[0]), self.chip.matrices[step.product.detail]
            onto = self.whole(step.onto) if step.onto else None
            self.say(f"a{step.target.index} = {self.dot(step.product, *operands, onto)}")
            self.hold(step.target, f"a{step.target.index}")
        elif self.in_registers(step):
            self.abreast(group)
        else:
            self.piecewise(step)

    def abreast(self, group: Sequence[Step]) -> None:
        """Products that are added up in registers, each to its own sum or to that of another one."""
        names: dict[Node | None, str] = {}
        for step in group:
            names[step.target] = names.get(step.onto) or f"a{step.target.index}"
            if step.onto not in names:
                start = self.whole(step.onto) if step.onto else zeros(padded(step.target.width))
                self.say(f"{names[step.target]} = {start}")
        self.see(step.product.inputs[0] for step in group)
        parts = [(names[step.target], step.product, self.chip.columns(step.target.width)) for step in group]
        self.accumulate(parts, "")
        for step in group:
            self.hold(step.target, names[step.target])

    def piecewise(self, step: Step) -> None:
        """A product that is written into memory, for each group and some columns at a time."""
        product, target, onto = step.product, step.target, step.onto
        rows, columns = self.chip.program.sizes(*product.detail)
        groups = target.width // columns
        held = product.detail in self.chip.matrices
        breadth = padded(columns) if held else min(padded(columns), BREADTH)
        self.see([*product.inputs, *([onto] if onto else [])])
        n, end = self.chip.columns(breadth), columns
        with ExitStack() as loops:
            if groups > 1:
                loops.enter_context(self.within(f"for group in range({groups}):"))
            if columns > breadth:
                loops.enter_context(self.within(f"for n in range(0, {columns}, {breadth}):"))
                n = f"(n + {n})"
            index = f"(group * {columns} + {n})" if groups > 1 else n
            mask = f"inside & ({n} < {end})"
            start = self.load(onto, index, mask) if onto else zeros(breadth)
            self.say(f"total = {start}")
            self.accumulate([("total", product, n)], f"group * {rows} + " if groups > 1 else "")
            self.store(target, "total", index, mask)

    def accumulate(self, parts: Sequence[tuple[str, Node, str]], start: str) -> None:
        """Add to variables the products of blocks in memory, from a column on, with those columns of matrices
        of as many rows. All is read before it is used: the program waits for memory once."""
        product = parts[0][1]
        rows, _ = self.chip.program.sizes(*product.detail)
        held = self.chip.matrices.get(product.detail)
        depth = padded(rows) if held else min(padded(rows), DEPTH)
        blocks: dict[Node, str] = {}
        with ExitStack() as loops:
            k, down = self.chip.columns(depth), self.chip.depth(depth)
            if rows > depth:
                loops.enter_context(self.within(f"for k in range(0, {rows}, {depth}):"))
                k, down = f"k + {k}", f"(k + {down})"
            mask = self.chip.mask(rows) if k == self.chip.columns(rows) else f"inside & ({k} < {rows})"
            for _, product, columns in parts:
                (left,) = product.inputs
                if left not in blocks:
                    blocks[left] = f"x{product.index}"
                    self.say(f"{blocks[left]} = {self.load(left, f'({start}{k})' if start else k, mask)}")
                if not held:
                    self.say(f"w{product.index} = {self.chip.matrix(product, down, columns)}")
            for name, product, _ in parts:
                operands = blocks[product.inputs[0]], held or f"w{product.index}"
                self.say(f"{name} = {self.dot(product, *operands, name)}")

    def dot(self, product: Node, left: str, matrix: str, onto: str | None) -> str:
        """A product of matrices, added to a block."""
        more = f", {onto}" if onto else ""
        precision = self.chip.precision(product)
        return f"tl.dot({left}, {matrix}{more}, input_precision={precision}, out_dtype=REAL)"

    def join(self, node: Node) -> None:
        """Blocks side by side in a row, and zeros between them."""
        self.see(part for part in node.inputs if not is_narrow(part.width))
        end = 0
        for part, start in zip(node.inputs, node.detail, strict=True):
            self.gap(node, end, start)
            with self.turns(part.width) as (columns, mask):
                value = self.get(part) if is_narrow(part.width) else self.load(part, columns, mask)
                self.store(node, value, plus(columns, start), mask)
            end = start + part.width
        self.gap(node, end, node.width)

    def gap(self, node: Node, start: int, end: int) -> None:
        """Zeros in these columns of a node."""
        if end > start:
            with self.turns(end - start) as (columns, mask):
                self.store(node, "0.0", plus(columns, start), mask)

    def gathered(self, node: Node) -> None:
        """A node each of whose numbers is made of several of its inputs' or of one elsewhere in its row."""
        self.see(node.inputs)
        name = f"a{node.index}"
        with self.turns(node.width) as (columns, mask):
            getattr(self, node.operation)(node, name, columns, mask)
            if not is_narrow(node.width):
                self.store(node, name, columns, mask)
        if is_narrow(node.width):
            self.zeros.add(node)
            self.hold(node, name)

    def pick(self, node: Node, name: str, columns: str, mask: str) -> None:
        """Numbers by the indices of a table, or zero."""
        index = f"place{node.index}"
        table = self.chip.table(node, columns)
        if is_narrow(node.width):
            self.chip.once(("table", node), index, table)
        else:
            self.say(f"{index} = {table}")
        self.say(f"{name} = {self.load(node.inputs[0], index, f'inside & ({index} >= 0)')}")

    def spaced(self, node: Node, columns: str) -> str:
        """The columns of number c of the middle axis of a layout."""
        outer, count, inner = node.detail
        if outer == 1:
            return f"({columns} + c * {inner})" if inner > 1 else f"({columns} + c)"
        rest = f" + {columns} % {inner}" if inner > 1 else ""
        start = f"{columns} // {inner} * {count * inner}" if inner > 1 else f"{columns} * {count}"
        return f"({start} + c * {inner}{rest})" if inner > 1 else f"({start} + c)"

    def reduced(self, node: Node, name: str, columns: str, mask: str) -> None:
        """Sums over the middle axis, or the greatest there; NaN if one is."""
        x = f"x{node.index}"
        read = self.load(node.inputs[0], self.spaced(node, columns), mask)
        self.say(f"{name} = {zeros(block(node.width))}")
        with self.within(f"for c in range({node.detail[1]}):"):
            if node.operation == "sum":
                self.say(f"{name} += {read}")
            else:
                self.say(f"{x} = {read}")
                self.say(f"{name} = tl.where((c == 0) | ({x} > {name}) | ({x} != {x}), {x}, {name})")

    sum = greatest = reduced

    def contract(self, node: Node, name: str, columns: str, mask: str) -> None:
        """Sums of products of two blocks over the axes that the result does not have."""
        sizes, *operands, onto = node.detail
        axes = range(len(sizes))
        index = {k: axis(columns, onto[k], sizes[k], node.width) if onto[k] else f"i{k}" for k in axes}
        added = [k for k in axes if not onto[k]]
        self.say(f"{name} = {zeros(block(node.width))}")
        with ExitStack() as loops:
            for k in sorted(added, key=lambda k: -max(strides[k] for strides in operands)):
                loops.enter_context(self.within(f"for i{k} in range({sizes[k]}):"))
            for factor, part, strides in zip("xy", node.inputs, operands, strict=True):
                read = strided((index[k], strides[k]) for k in axes) or "0"
                read = f"({read})" if " " in read else read
                self.say(f"{factor}{node.index} = {self.load(part, read, mask)}")
            self.say(f"{name} += x{node.index} * y{node.index}")


def block(width: int) -> int:
    """How many columns a variable has that holds a block, or part of a wide one."""
    return padded(width) if is_narrow(width) else MOST


def zeros(columns: int) -> str:
    """A block of zeros."""
    return f"tl.full((TILE, {columns}), 0.0, REAL)"


def code(node: Node, values: Sequence[str]) -> str:
    """An operation on single numbers of these variables."""
    number = repr(node.detail) if isinstance(node.detail, float) else ""
    operation = POINTWISE[node.operation]
    number = number if number.lstrip("-")[:1].isdigit() else f'float("{number}")'
    return (operation.triton or operation.code).format(*values, n=number)
