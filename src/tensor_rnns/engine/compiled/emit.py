"""From a program and its reverse to one C++ file with a forward and a backward scan over time.

The file is text and not templates: with every width and offset a constant the compiler unrolls and vectorises
what it could not with sizes from a call, and whoever reads the file sees the step of the cell.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from tensor_rnns.engine.compiled.body import Body
from tensor_rnns.engine.compiled.products import PANEL, braced, further, is_panelled, padded
from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.pieces import alike, zeros
from tensor_rnns.engine.ir.plan import Arena, plan, read_back, saved
from tensor_rnns.engine.ir.reverse import Backward, reverse
from tensor_rnns.engine.ir.trace import Program

REALS = {torch.float32: "float", torch.float64: "double"}
HEAVY = 1 << 16
"""Multiplications by matrices in a step, for one row, above which a small batch is cut for two threads."""


def headers(names: str) -> list[str]:
    """The texts of the headers of these names."""
    return [(Path(__file__).parent / f"{name}.h").read_text() for name in names.split()]


def function(template: str, name: str, arguments: str, lines: Iterable[str]) -> str:
    """A C++ function."""
    body = "\n".join(f"  {line}" for line in lines)
    return f"{template}static INLINE void {name}({arguments}) {{\n{body}\n}}\n"


BLOCK = "template <class Block>\n"
USING = "using Vec = typename Block::vector; constexpr int W = Block::W, V = Block::V;"
CHOSEN = "const real* const* chosen, int rows"
TAPE = "const real* record, const real* before, const real* after"
READ = f"{CHOSEN}, const real* packed, {TAPE}, const real* g"
STRIDES = {"record": "RECORD * W", "before": "STATES * W", "after": "STATES * W", "kept": "KEPT * W"}


def packing(name: str, program: Program, packed: Arena) -> str:
    """The function that copies the leaves of a replica in the order of the code."""
    lines = []
    for (leaf, transposed, *part), offset in packed.offsets.items():
        rows, columns = program.sizes(leaf, transposed)
        given = f"call, replica, {leaf}, {str(transposed).lower()}, {rows}"
        if part:
            n, end = part
            lines.append(f"pack_panels({given}, {n}, {end - n}, packed + {offset});")
        else:
            lines.append(f"pack_leaf({given}, {columns}, packed + {offset});")
    return function("", name, "const Call& call, long replica, real* packed", lines)


def constant(kind: str, **values: int | list[int]) -> str:
    """A line of constants; a list makes an array."""
    parts = [
        f"{name}[] = {{{', '.join(map(str, value))}}}" if isinstance(value, list) else f"{name} = {value}"
        for name, value in values.items()
    ]
    return f"static constexpr {kind} {', '.join(parts)};"


def multiplications(program: Program, forward: int) -> int:
    """Multiplications by matrices in the first `forward` nodes, for one row; those by zeros too."""
    products = [node for node in program.graph.nodes[:forward] if node.operation == "product"]
    return sum(node.width * program.sizes(*node.detail)[0] for node in products)


def apart(width: int) -> int:
    """How far apart steps of so many numbers lie: never so that many share one set of the first cache."""
    return width + (width % 8 == 0)


def source(program: Program, dtype: torch.dtype) -> str:
    """The whole C++ file for `dtype`."""
    printed = str(program)
    backward = reverse(program)
    keep = saved(program, backward)
    again = read_back(program, backward, keep)
    inputs = dict(enumerate(program.inputs))
    tape = Arena({i: inputs[i] for i in sorted(again)} | {node: node.width for node in keep})
    once = Arena({i: width for i, width in inputs.items() if i not in again})
    read_again = tape.width + once.width  # as if all were kept: a pass over other steps has other sums
    states = Arena(dict(enumerate(program.states)))
    sums = Arena({leaf: math.prod(shape) for leaf, shape in enumerate(program.leaves)})
    places = [(tape if i in again else once).offsets[i] for i in inputs]
    addresses = {node: f"record + {tape.offsets[node]} * W" for node in keep}
    for node in program.graph.nodes:
        base = {"input": "record" if node.detail in again else "scratch", "state": "before", "gradient": "g"}
        if node.operation in base:
            offsets = places if node.operation == "input" else states.offsets
            addresses[node] = f"{base[node.operation]} + {offsets[node.detail]} * W"
    for i, node in enumerate(program.outputs):
        addresses[node] = f"after + {states.offsets[i]} * W"
    rows = [rows for rows, _ in program.leaves]
    parts = [
        "\n".join(f"// {line}".rstrip() for line in f"{printed}\n\nand back:\n{backward}".splitlines()),
        f"\nusing real = {REALS[dtype]};\n",
        constant("int", PANEL=PANEL),
        constant("bool", HEAVY=str(multiplications(program, backward.forward) > HEAVY).lower()),
        *headers("vectors functions shared matrices layouts threads call symbols pieces"),
        f"// ---- the step of {program.name} ----\n",
        constant("long", RECORD=apart(tape.width), STATES=apart(states.width), SUMS=sums.width),
        constant("int", INPUTS=len(program.inputs), COUNT=len(program.states), LEAVES=len(program.leaves)),
        constant("int", INPUT_WIDTH=list(program.inputs), INPUT_PLACE=places, ENTERING=sum(program.inputs)),
        constant("int", ON_TAPE=[int(i in again) for i in inputs]),
        constant("int", WIDTH=list(program.states), PLACE=list(states.offsets.values())),
        constant("long", OFFSETS=[*sums.offsets.values(), sums.width], ROWS=rows),
        constant("long", TABLES=len(program.tables), SYMBOLS=max([1, *(t.shape[0] for t in program.tables)])),
        forward_code(program, addresses, keep, once),
        backward_code(program, backward, addresses, read_again, states, sums),
        *headers("driver"),
    ]
    return "\n".join(parts)


def forward_code(program: Program, addresses: dict[Node, str], keep: Sequence[Node], once: Arena) -> str:
    """The functions `pack_forward` and `step`; what enters `once` lies before all else that is not kept."""
    body = Body(program, addresses)
    body.scratch = once
    stored = [*program.outputs, *keep]
    body.write(plan(stored, ()), stored, stored)
    arguments = f"{CHOSEN}, const real* packed, real* record, const real* before, real* after, real* scratch"
    parts = [
        constant("long", PACKED=body.packed.width, SCRATCH=body.scratch.width),
        packing("pack_forward", program, body.packed),
        function(BLOCK, "step", arguments, [USING, *body.lines]),
    ]
    return "\n".join(parts)


def leaf_gradients(program: Program, backward: Backward, body: Body, sums: Arena) -> list[str]:
    """The lines that add a chunk of steps to the gradients of the leaves."""

    def operand(node: Node, by: int) -> str:
        address = body.address(node)
        return f"{further(address, by)}, {STRIDES[address.split()[0]]}"

    lines = []
    times = Counter(
        leaf for leaf, left, _ in backward.matrices for _ in range(left.width // program.leaves[leaf][0])
    )
    for leaf, left, g in backward.matrices:
        rows, columns = program.leaves[leaf]
        shared = times[leaf] > 1 and is_panelled(program, leaf)
        if left.operation == "windows":
            taps, blocks = left.detail, [operand(block, 0) for block in left.inputs]
            starts = [i * columns for i in range(len(taps[0]))]
            sizes, place = f"{rows // len(taps)}, {columns}", f"sums + {sums.offsets[leaf]}"
            lines += gathered(taps, starts, sizes, blocks, operand(g, 0), place)
            continue
        for k, end, pieces in alike(~zeros(left).reshape(-1, rows)):
            place = f"sums + {sums.offsets[leaf] + k * columns}"
            if shared and pieces:
                taps, starts = [[(0, i * rows + k) for i in pieces]], [i * columns for i in pieces]
                sizes, blocks = f"{end - k}, {columns}", [operand(left, 0)]
                lines += gathered(taps, starts, sizes, blocks, operand(g, 0), place)
                continue
            for i in pieces:
                blocks = f"{operand(left, i * rows + k)}, {operand(g, i * columns)}"
                lines.append(f"outer<Block, {end - k}, {columns}>(steps, {blocks}, {place});")
    for leaf, g in backward.rows:
        block = operand(g, 0)
        lines.append(f"blockwise<Block>().row_sums(steps, {g.width}, {block}, sums + {sums.offsets[leaf]});")
    return lines


def gathered(
    taps: Sequence[Sequence], starts: Sequence[int], sizes: str, blocks: Sequence[str], g: str, place: str
) -> list[str]:
    """The call that adds the gradient of a matrix that a step applies to several pieces; `taps` as of
    `windows`, and of each piece where g `starts`."""
    reads = braced([[start or (-1, 0) for start in tap] for tap in taps])
    return [
        "{",
        f"  static constexpr long starts[] = {braced(starts)};",
        f"  static constexpr Shown taps[][{len(starts)}] = {reads};",
        f"  const Operand blocks[] = {braced([f'{{{block}}}' for block in blocks])};",
        f"  gathered<Block, {sizes}>(taps, starts, steps, blocks, {{{g}}}, {place});",
        "}",
    ]


def input_gradients(program: Program, backward: Backward, body: Body, given: set[Node]) -> None:
    """The lines of the gradients of all inputs, zeros for one that the step does not read."""
    start = 0
    for node, width in zip(backward.inputs, program.inputs, strict=True):
        if node:
            body.addresses[node] = f"inward + {start} * W"
        else:
            body.lines.append(f"clear(inward + {start} * W, {width} * W);")
        start += width
    wanted = [node for node in backward.inputs if node]
    body.write(plan(wanted, given), wanted, wanted)


def table_gradients(program: Program, backward: Backward, body: Body) -> tuple[int, list[str], list[str]]:
    """What the gradients of tables are sums of, of all steps: its width, the lines that write it down at a
    step, and those that add it up over the places of a symbol."""
    written, begun = Arena(), set()
    stores, sums = [], []

    def operand(node: Node) -> str:
        width = padded(node.width)
        if node not in written.offsets:
            place = f"call.operands + all * {written.take(node, width)} + at * {width}, {width}"
            stores.append(f"blockwise<Block>().scatter({place}, {body.address(node)}, {node.width}, rows);")
        return f"call.operands + all * {written.offsets[node]}"

    entering = enumerate(backward.inputs) if program.tables else ()
    made = [(table, f"row_of<{g.width}>(places, {operand(g)}") for table, g in entering if g]
    for table, left, g in backward.picked:
        sizes = f"{left.width}, {g.width}"
        made.append((table, f"matrix_of<{sizes}>(places, {operand(left)}, {operand(g)}"))
    for table, call in made:
        onto = "true" if table in begun else "false"
        sums.append(
            f"if (real* const out = gradient_row(call, {table}, replica, symbol)) {call}, out, {onto});"
        )
        begun.add(table)
    for table, leaf in enumerate(program.tables):
        if table not in begun:
            place = f"gradient_row(call, {table}, replica, symbol)"
            sums.append(f"if (real* const out = {place}) clear(out, {leaf.shape[1]});")
    return written.width, stores, sums


def backward_code(
    program: Program, backward: Backward, addresses: dict[Node, str], read_again: int, states: Arena,
    sums: Arena,
) -> str:  # fmt: skip
    """The functions `pack_backward`, `step_back`, `input_back` and `add_leaves`."""
    kept = Arena()
    addresses = {node: address for node, address in addresses.items() if not address.startswith("scratch")}
    given = {node for node in addresses if node.operation != "gradient"}
    operands = dict.fromkeys(base for operand in backward.operands for base in operand.bases)
    fresh = [node for node in operands if node not in given]
    for node in fresh:
        addresses[node] = f"kept + {kept.take(node, node.width)} * W"
    for i, node in enumerate(backward.states):
        if node:
            addresses[node] = f"earlier + {states.offsets[i]} * W"
    stored = [*fresh, *(node for node in backward.states if node)]
    body = Body(program, addresses)
    handed = [g for g in (*backward.states, *backward.inputs) if g]
    body.write(plan(stored, given), stored, [*backward.operands, *handed])
    for i, width in enumerate(program.states):
        if backward.states[i] is None:
            body.lines.append(f"clear(earlier + {states.offsets[i]} * W, {width} * W);")
    inward = Body(program, addresses, beside=body)
    input_gradients(program, backward, inward, given | set(stored))
    passes = leaf_gradients(program, backward, body, sums)
    operands, stores, rows = table_gradients(program, backward, inward)
    span = f"long steps, {TAPE}, const real* kept, real* sums"
    step = f"{READ}, real* earlier, real* kept, real* scratch"
    inputs = f"{READ}, const real* earlier, const real* kept, real* scratch, real* inward"
    writing = f"const Call& call, long all, long at, int rows, {TAPE}, const real* kept, const real* inward"
    places = "const Call& call, long replica, long symbol, const Places& places, long all"
    parts = [
        constant("long", PACKED_BACK=body.packed.width, SCRATCH_BACK=body.scratch.width, OPERANDS=operands),
        constant("long", KEPT=apart(kept.width), READ_AGAIN=read_again + states.width + kept.width),
        packing("pack_backward", program, body.packed),
        function(BLOCK, "step_back", step, [USING, *body.lines]),
        function(BLOCK, "input_back", inputs, [USING, *inward.lines]),
        function(BLOCK, "add_leaves", span, ["constexpr int W = Block::W;", *passes]),
        function(BLOCK, "write_operands", writing, ["constexpr int W = Block::W;", *stores]),
        function("", "add_rows", places, rows),
    ]
    return "\n".join(parts)
