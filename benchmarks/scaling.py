"""Time and memory of an update against T, H, rank, batch and the number of replicas, with the slopes.

One size at a time changes; the others are those of a workload. A slope is that of a straight line through the
logarithms: 1 is proportional. The eager loop runs in turn with the engine as far as one update of it takes no
longer than --limit; larger sizes are left out and marked. A fixed cost of every update pulls the slope over
all sizes down; that of the last two sizes says where it leads.
"""

import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from benchmarks import command, memory
from benchmarks.bars import EAGER, figure
from benchmarks.tables import section, table
from benchmarks.timing import Variant, failure, rounds, synchronise, watched
from benchmarks.variants import able, ours
from benchmarks.workloads import CELLS, WORKLOADS, Workload

REPLICAS = "replicas"
LIMIT_SECONDS = 3.0
Points = Mapping[str, Mapping[str, Mapping[str, float]]]
"""Milliseconds and bytes by size and engine."""


@dataclass(frozen=True)
class Sweep:
    """What changes, its sizes, and the workload and changes of it that give the other sizes."""

    size: str
    workload: str
    values: tuple[int, ...]
    changed: Mapping[str, int]

    def load(self, value: int) -> tuple[Workload, int]:
        """The workload at one size, and its replicas."""
        load = replace(WORKLOADS[self.workload], **self.changed)
        return (load, value) if self.size == REPLICAS else (replace(load, **{self.size: value}), 1)


SWEEPS = {
    "T": Sweep("steps", "W1", (100, 300, 1000, 3000, 10_000), {}),
    "H": Sweep("hidden", "W2", (4, 8, 16, 32, 64, 128, 256, 512), {}),
    "rank": Sweep("rank", "W2", (2, 8, 32, 128), {"hidden": 64}),
    "batch": Sweep("batch", "W2", (1, 4, 16, 64, 256), {}),
    "S": Sweep(REPLICAS, "W1", (1, 2, 5, 10, 20, 50), {}),
}


def slope(sizes: Sequence[float], values: Sequence[float]) -> float | None:
    """d log(value) / d log(size) of the straight line of least squares; None for fewer than two points."""
    if len(sizes) < 2:
        return None
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def point(
    name: str, kinds: Sequence[str], load: Workload, replicas: int, asked: Any, device: torch.device
) -> dict[str, dict[str, float]]:
    """Median milliseconds, and the memory in bytes where it can be measured, of each engine at one size.

    An engine whose second update takes longer than the limit has that time under "over", and no median; one
    that fails has the reason under "failed".
    """
    variants, found = {}, {}
    for kind in kinds:
        update = ours(name, kind, load, device, replicas)
        if words := failure(update, device):
            found[kind] = {"failed": words}
            continue
        began = time.perf_counter()
        update()
        synchronise(device)
        taken = time.perf_counter() - began
        found[kind] = {"over": 1e3 * taken} if taken > asked.limit else {}
        if taken <= asked.limit:
            variants[kind] = Variant(update, asked.threads)
    for kind, values in rounds(variants, asked.rounds, device).items():
        found[kind]["milliseconds"] = statistics.median(values)
    if memory.measurable(device):
        for kind, variant in variants.items():
            found[kind]["bytes"] = memory.growth(variant.update, device)
    return found


def swept(
    sweep: Sweep, name: str, kinds: Sequence[str], asked: Any, device: torch.device
) -> dict[str, dict[str, dict[str, float]]]:
    """`point` by size; an engine that was over the limit or failed is not asked for larger sizes."""
    found, left = {}, list(kinds)
    for value in sweep.values:
        load, replicas = sweep.load(value)
        at = [kind for kind in left if able(name, kind, load, device)]
        found[str(value)] = point(name, at, load, replicas, asked, device)
        left = [kind for kind in at if "milliseconds" in found[str(value)][kind]]
    return found


def by_size(points: Points) -> list[tuple[str, Mapping[str, Mapping[str, float]]]]:
    """Points from the smallest size to the largest."""
    return sorted(points.items(), key=lambda item: int(item[0]))


def slopes(points: Points, kind: str, what: str, last: int = 0) -> float | None:
    """The slope of one engine's milliseconds or bytes over the `last` sizes that have them, 0 for all."""
    pairs = [
        (int(size), by_kind[kind][what])
        for size, by_kind in by_size(points)
        if by_kind.get(kind, {}).get(what, 0) > 0
    ][-last:]
    return slope([size for size, _ in pairs], [value for _, value in pairs])


def lines(size: str, points: Points) -> str:
    """The table of a sweep: a row per size, then the slopes."""
    kinds = list(dict.fromkeys(kind for by_kind in points.values() for kind in by_kind))
    header = [size, *(f"{kind} ms" for kind in kinds), "ratio", *(f"{kind} MB" for kind in kinds)]
    rows = []
    for value, by_kind in by_size(points):
        times = [by_kind.get(kind, {}) for kind in kinds]
        shown = [figure(t["milliseconds"]) if "milliseconds" in t else over(t) for t in times]
        both = [t["milliseconds"] for t in times if "milliseconds" in t]
        ratio = figure(both[-1] / both[0]) if len(both) == len(kinds) > 1 else None
        sizes = [figure(t["bytes"] / 1e6) if "bytes" in t else None for t in times]
        rows.append([value, *shown, ratio, *sizes])
    for title, last in (("slope", 0), ("slope of the last two", 2)):
        found = [[slopes(points, kind, what, last) for kind in kinds] for what in ("milliseconds", "bytes")]
        shown = [[None if one is None else f"{one:.2f}" for one in some] for some in found]
        rows.append([title, *shown[0], None, *shown[1]])
    return table(header, rows)


def over(times: Mapping[str, float]) -> str:
    """What stands for a time that was too long, or not asked for."""
    if "over" in times:
        return f"over ({math.ceil(times['over'] / 1e3)} s)"
    return "failed" if "failed" in times else "left out"


def text(report: Mapping[str, Any]) -> str:
    """A table for each cell and sweep."""
    words = [section("How memory is measured", memory.__doc__.partition("\n\n")[2].strip())]
    for size, entry in report["sweeps"].items():
        fixed = ", ".join(f"{name} {value}" for name, value in entry["fixed"].items())
        for name, points in entry["cells"].items():
            words.append(
                section(f"{name} against {size}", f"{entry['workload']}: {fixed}", lines(size, points))
            )
        words.append(command.busy(entry["watch"]) + "\n")
    return "\n".join(words)


def main() -> None:
    """Print a table for each cell and each size that changes, then everything as JSON."""
    parser = command.options(__doc__, rounds=5)
    parser.add_argument("--sizes", nargs="+", default=list(SWEEPS), choices=SWEEPS)
    parser.add_argument("--cells", nargs="+", default=["tgu"], choices=CELLS)
    parser.add_argument(
        "--limit", type=float, default=LIMIT_SECONDS, help=f"seconds per update ({LIMIT_SECONDS:g})"
    )
    asked = parser.parse_args()
    device = command.prepared(parser, asked, asked.device)
    kinds = (*command.FAST[device.type], EAGER)
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "sweeps": {}}
    for size in asked.sizes:
        sweep = SWEEPS[size]
        load = sweep.load(sweep.values[0])[0]
        fixed = {key: getattr(load, key) for key in ("steps", "hidden", "rank", "batch") if key != sweep.size}
        with watched() as watch:
            cells = {name: swept(sweep, name, kinds, asked, device) for name in asked.cells}
        entry = {"workload": sweep.workload, "fixed": fixed, "cells": cells, "watch": watch.record()}
        report["sweeps"][size] = entry
    command.close("scaling", asked, report, text)


if __name__ == "__main__":
    main()
