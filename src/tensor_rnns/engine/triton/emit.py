"""From a program and its reverse to one Python file with a kernel over time and one back.

One launch per direction: a launch per operation would cost more than the operation, and between steps the
states would have to leave the chip.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from tensor_rnns.engine.ir.graph import Node
from tensor_rnns.engine.ir.plan import Arena, plan
from tensor_rnns.engine.ir.trace import Program
from tensor_rnns.engine.triton.body import Body, zeros
from tensor_rnns.engine.triton.memory import Chip, Layout, MemoryBlock, is_narrow, padded

REALS = {torch.float32: "tl.float32", torch.float64: "tl.float64"}
FUNCTIONS = Path(__file__).parent / "functions.py"
IMPORTS = "import triton\nimport triton.language as tl\n"
TILE = 16
"""Rows of the batch that a program has: the fewest that a product takes."""
NAMES = """In the kernels a7 is node %7 in registers, c16 are columns 0 to 15, in9 says which numbers of a
block of 9 columns are there, now is the row of a step in [steps, replicas, batch], plane their number."""
FORWARD = "The states after every step, behind those before the first; with `keep` the tape of all steps."
BACKWARD = "Gradients of the states before the first step, of inputs, and what `sums_of_products` needs."

START = (
    "replica, tile = tl.program_id(0).to(tl.int64), tl.program_id(1)",
    "replicas = tl.num_programs(0)",
    "lane = tl.arange(0, TILE)[:, None]",
    "rows = tile * TILE + lane",
    "inside = rows < batch",
)


@dataclass(frozen=True)
class Emitted:
    """The code of a file with the kernels `forward` and `backward`, their layout, and the `scratch` memory in
    numbers of a row of a program there and back."""

    code: str
    layout: Layout
    scratch: tuple[int, int]


def emit(program: Program, dtype: torch.dtype, precision: str, memory: int) -> Emitted:
    """Both kernels of a program.

    `precision` is that of products in float32 ("ieee" or "tf32"), `memory` the bytes of shared memory that a
    program may have.
    """
    layout = Layout(program)

    def chip() -> Chip:
        return Chip(program, memory, dtype.itemsize, precision, layout.tables)

    scratch, scratch_back = Arena(), Arena()
    over_time, back = forward(layout, chip(), scratch), backward(layout, chip(), scratch_back)
    functions = FUNCTIONS.read_text().split(IMPORTS)[1]
    head = f"{layout.printed}\n\nand back:\n{layout.back}\n\n{NAMES}"
    code = [
        *(f"# {line}".rstrip() for line in head.splitlines()),
        "",
        IMPORTS,
        f"REAL = tl.constexpr({REALS[dtype]})",
        f'PRECISION = tl.constexpr("{precision}")',
        f"TILE = tl.constexpr({TILE})",
        functions,
        "",
        *over_time,
        "",
        "",
        *back,
        "",
    ]
    return Emitted("\n".join(code), layout, (scratch.width, scratch_back.width))


def numbered(program: Program, *kinds: str) -> list[str]:
    """The names of the tensors of each input or each state."""
    counts = dict.fromkeys(("input", "input_gradient"), len(program.inputs))
    return [f"{kind}_{i}" for kind in kinds for i in range(counts.get(kind, len(program.states)))]


def forward(layout: Layout, chip: Chip, scratch: Arena) -> list[str]:
    """The kernel over time."""
    program, narrow = layout.program, layout.narrow
    stored = [*program.outputs, *layout.saved]
    steps = plan(stored, ())
    chip.hold(steps)
    states = [node for node in program.graph.nodes if node.operation == "state" and node.detail in narrow]
    body = Body(chip, layout.blocks("record"), {node: f"state_{node.detail}" for node in states}, scratch)
    body.keep(steps, stored)
    body.write(steps)
    carried = [body.clean(program.outputs[i]) for i in narrow]
    loop = [
        "now = (t * replicas + replica) * batch + rows",
        "after = now + replicas * batch",
        *(["record = (t * keep * replicas + replica) * batch + rows"] if layout.saved else []),
        *body.lines,
        *(f"state_{i} = {value}" for i, value in zip(narrow, carried, strict=True)),
        *body.rest(bool(layout.wide)),
    ]
    lines = [
        *(["start = replica * batch + rows"] if narrow else []),
        *(f"state_{i} = {first(chip, f'states_{i}', program.states[i])}" for i in narrow),
        "for t in range(steps):",
        *indent(loop),
    ]
    return kernel("forward", FORWARD, numbered(program, "input", "states"), chip, scratch, lines, "keep")


def first(chip: Chip, tensor: str, width: int) -> str:
    """What reads the rows of a program from the first [replicas, batch, width] numbers of a tensor."""
    address = MemoryBlock(tensor, "start", width).at(chip.columns(width))
    return f"tl.load({address}, mask={chip.mask(width)}, other=0.0)"


def backward(layout: Layout, chip: Chip, scratch: Arena) -> list[str]:
    """The kernel back over time."""
    program, back = layout.program, layout.back
    memory = layout.blocks("now")
    given = set(memory)
    kept = layout.keep(given)
    sources = [program.graph.find("gradient", i) for i in range(len(program.states))]
    turning = {sources[i]: layout.turning(scratch, i, "turn") for i in layout.wide}
    turned = {back.states[i]: layout.turning(scratch, i, "(1 - turn)") for i in layout.wide if back.states[i]}
    earlier, inward = ([node for node in nodes if node] for nodes in (back.states, back.inputs))
    steps = plan([*kept, *earlier], given)
    done = {node for step in steps for node in step.nodes if is_narrow(node.width)}
    done -= {step.onto for step in steps}  # a product was added onto them
    later = plan(inward, (given | done | set(kept) | set(earlier)) - set(inward))
    chip.hold([*steps, *later])
    names = {sources[i]: f"gradient_{i}" for i in layout.narrow}
    body = Body(chip, memory | kept | turning | turned, names, scratch)
    body.keep([*steps, *later], [*kept, *turned, *inward])
    from_outside(layout, body, sources)
    body.write(steps)
    earlier_states(layout, body, scratch)
    for i, node in enumerate(back.inputs):
        if node:
            body.memory[node] = MemoryBlock(f"input_gradient_{i}", "now", node.width)
    if inward:
        with body.within("if INWARD:"):
            body.write(later)
    loop = [
        "t = steps - 1 - back",
        "now = (t * replicas + replica) * batch + rows",
        *(["after = now + replicas * batch"] if any(" after " in line for line in body.lines) else []),
        *(["turn = back % 2"] if layout.wide else []),
        *body.lines,
        *(f"gradient_{i} = earlier_{i}" for i in layout.narrow),
        *body.rest(bool(layout.wide)),
    ]
    before, behind = ends(layout, chip, scratch)
    lines = ["start = replica * batch + rows", *before, "for back in range(steps):", *indent(loop), *behind]
    kinds = ("input", "states", "output_gradient", "final_gradient", "initial_gradient", "input_gradient")
    tensors = numbered(program, *kinds)
    return kernel("backward", BACKWARD, tensors, chip, scratch, lines, "INWARD: tl.constexpr")


def earlier_states(layout: Layout, body: Body, scratch: Arena) -> None:
    """Hand the gradients of the states before a step on, zeros where the step does not read a state."""
    for i, (width, g) in enumerate(zip(layout.program.states, layout.back.states, strict=True)):
        if i in layout.narrow:
            body.say(f"earlier_{i} = {body.clean(g) if g else zeros(padded(width))}")
        elif g is None:
            body.copy("0.0", layout.turning(scratch, i, "(1 - turn)"), width)


def from_outside(layout: Layout, body: Body, sources: Sequence[Node]) -> None:
    """Add the gradients of the outputs to those of the states after a step."""
    for i, (node, width) in enumerate(zip(sources, layout.program.states, strict=True)):
        given = MemoryBlock(f"output_gradient_{i}", "now", width)
        with body.within(f"if {given.base} is not None:"), body.turns(width) as (columns, mask):
            more = f"tl.load({given.at(columns)}, mask={mask}, other=0.0)"
            if i in layout.narrow:
                body.say(f"gradient_{i} += {more}")
            else:
                body.store(node, f"{body.load(node, columns, mask)} + {more}", columns, mask)
        if i in layout.narrow and node in body.kept:
            body.hold(node, f"gradient_{i}")


def ends(layout: Layout, chip: Chip, scratch: Arena) -> tuple[list[str], list[str]]:
    """What takes the gradients of the states after the last step in, and those before the first out."""
    before, behind = Body(chip, {}, {}, scratch), Body(chip, {}, {}, scratch)
    for i, width in enumerate(layout.program.states):
        if i in layout.narrow:
            before.say(f"gradient_{i} = {first(chip, f'final_gradient_{i}', width)}")
            target = MemoryBlock(f"initial_gradient_{i}", "start", width).at(chip.columns(width))
            behind.say(f"tl.store({target}, gradient_{i}, mask={chip.mask(width)})")
        else:
            given, wanted = (
                MemoryBlock(f"{end}_gradient_{i}", "start", width) for end in ("final", "initial")
            )
            before.copy(given, layout.turning(scratch, i, "0"), width)
            behind.copy(layout.turning(scratch, i, "(steps % 2)"), wanted, width)
    return [*before.lines, *(["tl.debug_barrier()"] if layout.wide else [])], behind.lines


def indent(lines: Iterable[str]) -> list[str]:
    """Lines one level further in."""
    return [f"    {line}" for line in lines]


def kernel(
    name: str, words: str, tensors: Sequence[str], chip: Chip, scratch: Arena, lines: Sequence[str], last: str
) -> list[str]:
    """A kernel of those `tensors` that it uses: where a program stands, what is on its chip, then `lines`.

    `last` is its last argument: "keep", which says whether the tape has all steps, or another.
    """
    text = "\n".join([*chip.lines, *lines])
    leaves = sorted(chip.leaves)
    used = [tensor for tensor in tensors if f"{tensor} " in text]
    used += [f"leaf_{leaf}" for leaf in leaves]
    used += [memory for memory in ("tape", "kept", "scratch", "tables") if f"{memory} " in text]
    start = list(START)
    if "* plane" in text:
        steps = "(1 + (steps - 1) * keep)" if last == "keep" else "steps"
        start.append(f"plane = replicas.to(tl.int64) * batch * {steps}")
    if scratch.width:
        start.append(f"scratch += (replica * tl.num_programs(1) + tile) * TILE * {scratch.width}")
    for leaf in leaves:
        rows, columns = chip.program.leaves[leaf]
        start.append(f"leaf_{leaf} += replica * {rows * columns}")
    numbers = '"steps", "batch", "keep"' if last == "keep" else '"steps", "batch"'
    return [
        f"@triton.jit(do_not_specialize=[{numbers}])",
        f"def {name}(",
        *indent(f"{argument}," for argument in (*used, "steps", "batch", last)),
        "):",
        *indent([f'"""{words}"""', *start, *chip.lines, *lines]),
    ]
