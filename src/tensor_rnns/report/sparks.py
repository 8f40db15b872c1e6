"""The curve of each run as a small picture for its row: which way the loss went, from where, and to where."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tensor_rnns.analysis.curves import read_curves
from tensor_rnns.drawing.tables import shown

WIDTH, HEIGHT, POINTS = 96, 18, 32
OF_RUN = ("condition", "variant", "option", "stage", "point", "seed")


@dataclass(frozen=True)
class Spark:
    """Corners of a line in a box of WIDTH by HEIGHT, and in words what it shows."""

    corners: str
    label: str


def sparks(table: Path, of: str) -> dict[tuple[str, ...], Spark]:
    """{run: its first curve} of the joined curves `table` that hold `of`; {} where there is no such file."""
    by_run: dict[tuple[str, ...], Spark] = {}
    for row in read_curves(table, of).to_dict("records") if table.is_file() else ():
        if (run := tuple(str(row[name]) for name in OF_RUN)) not in by_run:
            by_run[run] = drawn(row["value"].tolist(), " ".join(filter(None, (row["split"], row["name"]))))
    return by_run


def run_of(row: Mapping[str, str]) -> tuple[str, ...]:
    """The run within its experiment that a row belongs to."""
    return tuple(row[name] for name in OF_RUN)


def drawn(values: Sequence[float], name: str) -> Spark:
    """The line through at most POINTS of the finite values, on a logarithmic scale where all are positive."""
    finite = [value for value in values if math.isfinite(value)]
    step = max(1, math.ceil(len(finite) / POINTS))
    kept = [*finite[:-1:step], *finite[-1:]]
    heights = list(map(math.log, kept)) if min(kept, default=0) > 0 else kept
    top = max(heights, default=0)
    right, down = WIDTH / max(1, len(kept) - 1), (HEIGHT - 2) / (top - min(heights, default=0) or 1)
    corners = (f"{right * k:.0f},{1 + down * (top - height):.1f}" for k, height in enumerate(heights))
    ends = f" from {shown(kept[0])} to {shown(kept[-1])}" if kept else ": no finite value"
    return Spark(" ".join(corners), name + ends)
