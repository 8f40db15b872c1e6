"""Whole updates (forward, loss, backward, Adam) on a GPU, in milliseconds.

Every engine that is there and runs the cell on CUDA, the eager loop and torch.nn (cuDNN) run in turn in each
round, in one process, for one replica and for a cohort; a time ends when the device has finished. TF32 is off
for all. torch.nn has no cohort: its updates are made one after another. `python -m benchmarks.gradients`,
`benchmarks.scaling` and `benchmarks.shares` have `--device cuda`.
"""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from benchmarks import bars, command
from benchmarks.bars import EAGER, NN, figure
from benchmarks.tables import section, table
from benchmarks.timing import Variant, failure, rounds, watched
from benchmarks.variants import TORCH, Update, able, ours, theirs
from benchmarks.workloads import CELLS, TASKS, WORKLOADS, Workload, small

LARGE = {
    "G1": Workload(1024, 512, 64, 16, 64, 10, "classes", last_only=True),
    "G2": Workload(1024, 768, 64, 16, 64, 10, "classes", last_only=True),
}
LOADS = WORKLOADS | LARGE
REPLICAS = (1, 8)
OURS = command.FAST["cuda"][0]
Row = tuple[str, int, Mapping[str, Sequence[float]]]
"""Cell, replicas, and the milliseconds of every round by engine."""
AGAINST_EAGER, AGAINST_NN, MOST_UNITS = 20, 1, 128
"""The bars of a cohort of 8: against the eager loop, and against torch.nn for cells of that many units."""


def repeated(update: Update, times: int) -> Update:
    """An update made so many times in a row."""

    def several() -> None:
        for _ in range(times):
            update()

    return several


def measured(
    load: Workload, cells: Sequence[str], replicas: int, count: int, threads: int, device: torch.device
) -> tuple[dict[str, dict[str, list[float]]], list[str]]:
    """Milliseconds of every round by cell and engine, and a line for each variant that fails."""
    found: dict[str, dict[str, list[float]]] = {}
    failed = []
    for name in cells:
        updates = {
            kind: ours(name, kind, load, device, replicas)
            for kind in (*command.FAST[device.type], EAGER)
            if able(name, kind, load, device)
        }
        if name in TORCH:
            updates[NN] = repeated(theirs(name, load, device), replicas)
        failures = {kind: failure(update, device) for kind, update in updates.items()}
        failed += [f"{name}, {kind}: {words}" for kind, words in failures.items() if words]
        variants = {kind: Variant(update, threads) for kind, update in updates.items() if not failures[kind]}
        times = rounds(variants, count, device)
        found[name] = {kind: [round(value, 5) for value in values] for kind, values in times.items()}
    return found, failed


def ratio(times: Mapping[str, Sequence[float]], against: str, bar: float | None) -> str | None:
    """How many times faster than `against` ours is, and its bar."""
    mine, other = bars.best(times, OURS), bars.best(times, against)
    if mine is None or other is None:
        return None
    return figure(other / mine) + bars.verdict(other / mine, bar)


def lines(rows: Iterable[Row], hidden: int, kinds: Sequence[str]) -> str:
    """A table with a row for each cell and number of replicas."""
    header = ["cell", "replicas", *(f"{kind} ms" for kind in kinds), f"{EAGER} / {OURS}", f"{NN} / {OURS}"]
    found = []
    for name, replicas, times in rows:
        shown = [figure(statistics.median(times[kind])) if kind in times else None for kind in kinds]
        judged = replicas == REPLICAS[-1]
        against_nn = AGAINST_NN if judged and hidden <= MOST_UNITS else None
        ends = [ratio(times, EAGER, AGAINST_EAGER if judged else None), ratio(times, NN, against_nn)]
        found.append([name, replicas, *shown, *ends])
    return table(header, found)


def text(report: Mapping[str, Any]) -> str:
    """A table for each workload, and which engines are not there."""
    kinds, seen, parts = report["engines"], set(), []
    for label, entry in report["workloads"].items():
        rows = [
            (name, int(replicas), times)
            for replicas, by_cell in entry["milliseconds"].items()
            for name, times in by_cell.items()
        ]
        seen |= {kind for *_, times in rows for kind in times}
        sizes = ", ".join(f"{name} {value}" for name, value in entry["sizes"].items() if value is not None)
        title = f"{label}: {TASKS.get(label, 'random vectors')}"
        words = [sizes, lines(rows, entry["sizes"]["hidden"], kinds), command.busy(entry["watch"])]
        words += [f"Failed: {line}" for line in entry["failed"]]
        parts.append(section(title, *words))
    if missing := [kind for kind in kinds if kind not in seen]:
        parts.append(f"Engines that ran no cell here: {', '.join(missing)}.\n")
    return "\n".join(parts)


def main() -> None:
    """Print one table a workload, then everything as JSON."""
    parser = command.options(__doc__, rounds=7, device=False)
    parser.add_argument("--workloads", nargs="+", default=list(LOADS), choices=LOADS)
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=CELLS)
    parser.add_argument("--rehearse", action="store_true", help="tiny sizes, on the CPU")
    asked = parser.parse_args()
    device = command.prepared(parser, asked, "cpu" if asked.rehearse else "cuda")
    engines = [*command.FAST[device.type], EAGER, NN]
    report = {"machine": command.machine(device, asked.threads), "engines": engines, "workloads": {}}
    for label in asked.workloads:
        load, found, failed = small(LOADS[label]) if asked.rehearse else LOADS[label], {}, []
        with watched() as watch:
            for replicas in REPLICAS:
                found[str(replicas)], said = measured(
                    load, asked.cells, replicas, asked.rounds, asked.threads, device
                )
                failed += [f"{replicas} replicas, {words}" for words in said]
        report["workloads"][label] = {
            "sizes": asdict(load),
            "milliseconds": found,
            "failed": failed,
            "watch": watch.record(),
        }
    faults = [line for entry in report["workloads"].values() for line in entry["failed"]]
    command.close("gpu", asked, report, text, faults)


if __name__ == "__main__":
    main()
