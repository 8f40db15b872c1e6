"""Whole updates (forward, loss, backward, Adam) of the compiled engine, the eager loop and torch.nn.

Every variant runs in turn in each round, in one process; the tables have medians in milliseconds, and ratios
within a round: their median, the least and the most. On one replica, in float32, on inputs that are drawn
once. The eager loop (`variants.Loop`) and torch.nn run on one thread and on all that are given, and the
better one counts; both have torch's fused Adam.
"""

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import torch

from benchmarks import bars, command, flops
from benchmarks.bars import EAGER, NN, figure
from benchmarks.tables import section, table
from benchmarks.timing import Variant, by_cell, rounds, watched
from benchmarks.variants import TORCH, able, in_a_loop, ours, theirs
from benchmarks.workloads import CELLS, TASKS, WORKLOADS, Workload, block, model
from tensor_rnns import engine

OURS = "compiled"
REPLICAS = 5
COHORT_ROUNDS = 15
COUNTED = "tgu"


def measured(
    load: Workload, cells: Sequence[str], count: int, threads: int, device: torch.device
) -> dict[str, dict[str, list[float]]]:
    """Milliseconds of every round by cell and variant. A kernel that cannot be built is left out."""
    variants = {}
    for name in cells:
        if able(name, OURS, load, device):
            variants[name, OURS] = Variant(ours(name, OURS, load, device), threads)
        for number in sorted({1, threads}):
            loop = in_a_loop(model(name, load, EAGER), load, device)
            variants[name, f"{EAGER}, {number}"] = Variant(loop, number)
            if name in TORCH:
                variants[name, f"{NN}, {number}"] = Variant(theirs(name, load, device), number)
    return by_cell(variants, count, device)


def cohort(load: Workload, threads: int, count: int, device: torch.device) -> dict[str, float]:
    """Median milliseconds of one replica alone and of REPLICAS together."""
    variants = {
        replicas: Variant(ours(COUNTED, OURS, load, device, replicas), threads) for replicas in (1, REPLICAS)
    }
    alone, together = map(statistics.median, rounds(variants, count, device).values())
    return {"alone": alone, "together": together, "replicas": REPLICAS}


def picked(name: str, load: Workload, device: torch.device) -> str:
    """The engine that `auto` takes for a cell."""
    return engine.choose("auto", block(name, load), device.type, load.embedding or load.inputs)


def lines(label: str, found: bars.Rounds, picks: Mapping[str, str], threads: int) -> str:
    """The table of a workload; `picks` are what `auto` takes for each cell."""
    counts = sorted({1, threads})
    header = [
        "cell",
        "auto",
        f"{OURS} ms",
        *(f"{EAGER} ms, threads {n}" for n in counts),
        "ratio of best",
        *(f"{NN} ms, threads {n}" for n in counts),
        "ratio of best",
    ]
    ratios = {(ratio.cell, ratio.against): ratio for ratio in bars.ratios(label, found)}
    rows = []
    for name, times in found.items():
        shown = {kind: figure(statistics.median(values)) for kind, values in times.items()}
        row = [name, picks[name], shown.get(OURS)]
        for kind in (EAGER, NN):
            row += [*(shown.get(f"{kind}, {n}") for n in counts), ratios.get((name, kind))]
        rows.append(row)
    return table(header, rows)


def of_the_peak(label: str, entry: Mapping[str, Any], peak: float) -> list[str] | None:
    """A row: GFLOP/s of the products of a whole update, and their share of the peak."""
    mine = bars.best(entry["milliseconds"].get(COUNTED, {}), OURS)
    if mine is None:
        return None
    rate = 1e-6 * entry["operations"] / mine
    bar = bars.OF_THE_PEAK.get((COUNTED, label))
    return [
        label,
        f"{1e-9 * entry['operations']:.4f}",
        figure(rate),
        figure(rate / peak) + bars.verdict(rate / peak, bar),
    ]


def text(report: Mapping[str, Any]) -> str:
    """All tables of a report."""
    card, parts = report["machine"], []
    for label, entry in report["workloads"].items():
        sizes = ", ".join(f"{name} {value}" for name, value in entry["sizes"].items() if value is not None)
        parts.append(
            section(
                f"{label}: {TASKS[label]}",
                sizes,
                lines(label, entry["milliseconds"], entry["auto"], card["threads"]),
                command.busy(entry["watch"]),
            )
        )
    found = [
        r for label, entry in report["workloads"].items() for r in bars.ratios(label, entry["milliseconds"])
    ]
    judged = [ratio for ratio in found if ratio.bar is not None]
    short = [f"- {r.cell} on {r.workload} against {r.against}: {r}" for r in bars.missed(found)]
    parts.append(
        section("Bars", f"{len(judged) - len(short)} of {len(judged)} ratios meet their bar.", *short[:1])
    )
    parts[-1] += "".join(f"{line}\n" for line in short[1:])
    if card["peak_gigaflops"]:
        peak = card["peak_gigaflops"][str(card["threads"])]
        rows = [of_the_peak(label, entry, peak) for label, entry in report["workloads"].items()]
        header = ["workload", "GFLOP an update", "GFLOP/s", "share of the peak"]
        parts.append(
            section(f"Products of the {COUNTED.upper()} against the peak", table(header, filter(None, rows)))
        )
    if report["cohort"]:
        alone, together, replicas = (report["cohort"][key] for key in ("alone", "together", "replicas"))
        ratio = replicas * alone / together
        words = f"{figure(alone)} ms alone, {figure(together / replicas)} ms each of {replicas}: "
        words += f"{figure(ratio)} times cheaper{bars.verdict(ratio, bars.COHORT)}"
        busy = command.busy(report["cohort"]["watch"])
        parts.append(section(f"A cohort of {COUNTED.upper()} on W1", words, busy))
    return "\n".join(parts)


def main() -> None:
    """Print one table a workload and how far the bars are, then everything as JSON."""
    parser = command.options(__doc__, rounds=7, device=False)
    parser.add_argument("--workloads", nargs="+", default=list(WORKLOADS), choices=WORKLOADS)
    parser.add_argument("--cells", nargs="+", default=list(CELLS), choices=CELLS)
    asked = parser.parse_args()
    device = command.prepared(parser, asked, "cpu")
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "workloads": {}}
    for label in asked.workloads:
        load = WORKLOADS[label]
        with watched() as watch:
            found = measured(load, asked.cells, asked.rounds, asked.threads, device)
        report["workloads"][label] = {
            "sizes": asdict(load),
            "milliseconds": found,
            "auto": {name: picked(name, load, device) for name in asked.cells},
            "operations": flops.of_an_update(COUNTED, load),
            "watch": watch.record(),
        }
    alone = COUNTED in asked.cells and able(COUNTED, OURS, WORKLOADS["W1"], device)
    report["cohort"] = None
    if alone:
        with watched() as watch:
            report["cohort"] = cohort(WORKLOADS["W1"], asked.threads, COHORT_ROUNDS, device)
        report["cohort"]["watch"] = watch.record()
    if report["machine"]["peak_gigaflops"]:
        first, last = report["machine"]["peak_gigaflops"], command.peaks(asked.threads)
        report["machine"]["peak_gigaflops"] = {count: max(first[count], last[count]) for count in first}
    command.close("engine", asked, report, text)


if __name__ == "__main__":
    main()
