"""The truth table of a task on pairs of bits, as its targets give it (mathews2016 table 3.2)."""

from tensor_rnns import tasks
from tensor_rnns.rows import Rows, row

LETTERS = {0.0: "F", 1.0: "T"}
"""False is represented as 0, true as 1."""


def compute(*, task: str) -> Rows:
    """Rows for each point: the bits `input 1`, `input 2` and the target `output`.

    An item is a point, its two inputs written as T and F; true comes first. One batch of `task` holds all
    points; ValueError for a batch that is no table of two bits and one.
    """
    batch = tasks.build({"task": {"name": task}, "training": {"batch": 4}}).batch(0, 0)
    points = {
        tuple(map(float, x)): tuple(map(float, y)) for x, y in zip(batch.inputs, batch.targets, strict=True)
    }
    bits = {(a, b) for a in LETTERS for b in LETTERS}
    if set(points) != bits or any(len(y) != 1 or y[0] not in LETTERS for y in points.values()):
        raise ValueError(f"{task} gives the points {points}; allowed: one bit for each of {sorted(bits)}")
    return [
        row("".join(LETTERS[bit] for bit in x), name, value)
        for x, y in sorted(points.items(), reverse=True)
        for name, value in zip(("input 1", "input 2", "output"), (*x, *y), strict=True)
    ]
