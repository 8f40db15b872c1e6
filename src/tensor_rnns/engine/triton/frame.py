"""What stands around the loop of a kernel: its head, and what a program finds out before it."""

from collections.abc import Iterable, Sequence

from tensor_rnns.engine.ir.arena import Arena
from tensor_rnns.engine.triton.chip import Chip

START = (
    "replica, tile = tl.program_id(0).to(tl.int64), tl.program_id(1)",
    "replicas = tl.num_programs(0)",
    "lane = tl.arange(0, TILE)[:, None]",
    "rows = tile * TILE + lane",
    "inside = rows < batch",
)


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
