"""Proves that generated kernels wait between threads that write a number and threads that read it.

The interpreter runs a whole block at a time and would not notice. Here the lines of a step are followed as
text, twice, so that what one step leaves to the next is seen too.
"""

import re

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.engine.ir.trace import trace
from tensor_rnns.engine.triton.emit import emit
from tensor_rnns.engine.triton.engine import MEMORY

FORMS = ({"form": "cp", "rank": 4}, {"form": "tensor_train", "rank": 4}, {"form": "full"})
BLOCKS = [
    {"name": name, "hidden": hidden} | form
    for name, chosen in sorted(cells.families().items())
    for form in (FORMS if "form" in chosen.__dataclass_fields__ else ({},))
    for hidden in (9, 70, 300)
]
WAIT = "tl.debug_barrier()"
WRITE = re.compile(r"tl\.store\(([^,]+), ")
READ = re.compile(r"tl\.load\(([^,]+), ")
PLACE = re.compile(r"(.*?) \+ (lane|now|after|record)\b")


def place(address):
    """The block of memory that an address is in, and the row."""
    found = PLACE.match(address)
    return found.groups() if found else None


def a_step_later(known):
    """The same places as the next step calls them; what it has no name for is left out."""
    turned = {"turn": "(1 - turn)", "(1 - turn)": "turn"}
    moved = {}
    for (base, row), addresses in ((key, known[key]) for key in known if key):
        if row == "now":
            continue
        base = re.sub(r"\(1 - turn\)|\bturn\b", lambda found: turned[found[0]], base)
        moved[base, "now" if row == "after" else row] = addresses
    return moved


def races(loop):
    """Each line that writes what others may still read, or reads what others may not have written yet.

    A thread that reads the very address that it writes needs nobody else.
    """
    found, written, read = [], {}, {}
    for _ in range(2):
        for line in loop:
            if line.strip() == WAIT:
                written, read = {}, {}
            for address in READ.findall(line):
                key = place(address)
                if written.get(key, set()) - {address}:
                    found.append(f"read too early: {line.strip()}")
                read.setdefault(key, set()).add(address)
            for address in WRITE.findall(line):
                key = place(address)
                if read.get(key, set()) - {address}:
                    found.append(f"written too early: {line.strip()}")
                written.setdefault(key, set()).add(address)
        written, read = a_step_later(written), a_step_later(read)
    return found


def loops(cell):
    """The lines of a step there and back."""
    code = emit(trace(cell), torch.float32, "ieee", MEMORY).code
    for head in ("    for t in range(steps):\n", "    for back in range(steps):\n"):
        body = code.split(head)[1]
        yield re.match(r"(?:        .*\n)+", body)[0].splitlines()


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: "-".join(map(str, block.values())))
def test_every_cell_waits(block):
    for loop in loops(cells.build(block, 5)):
        assert races(loop) == []


def test_every_operation_waits_and_no_wait_is_needless(sink):
    """Without any one of its waits a step has a race."""
    for loop in loops(sink):
        assert races(loop) == []
        waits = [i for i, line in enumerate(loop) if line.strip() == WAIT]
        assert len(waits) > 4
        needless = [i for i in waits if not races(loop[:i] + loop[i + 1 :])]
        assert needless in ([], waits[-1:])


@pytest.mark.parametrize(
    ("read", "write"),
    [
        ("states_0 + now * 300", "states_0 + after * 300"),
        (
            "scratch + (0 + turn * 300) * TILE + lane * 300",
            "scratch + (0 + (1 - turn) * 300) * TILE + lane * 300",
        ),
    ],
    ids=["state", "gradient"],
)
def test_what_a_step_leaves_to_the_next_is_followed(read, write):
    """A state in memory, and a gradient that lies in two places in turns."""
    loop = [f"x = tl.load({read} + j + 1, mask=m)", f"tl.store({write} + j, x, mask=m)"]
    assert len(races(loop)) == (1 if "states" in read else 2)
    assert races([*loop, WAIT]) == []
