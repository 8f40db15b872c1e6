"""What pages say of the recorded benchmark of the engine."""

import json
import re
import statistics
from functools import cache
from pathlib import Path
from typing import Any

HOME, MACHINE = Path("benchmarks/recorded"), "intel-r-xeon-r-processor-2-cores-avx512f"
TASKS = {"W1": "addition", "W2": "binding", "W3": "pixels", "W4": "War and Peace", "W5": "PTB words"}
OURS, EAGER, NN = "compiled", "eager", "torch.nn"
ROWS = (("tgu", OURS), ("tgu", EAGER), ("lstm", OURS), ("lstm", NN), ("gru", OURS), ("gru", NN))
"""Cells of the table, each beside what one would take instead."""
LABELS = {OURS: "ours", EAGER: "eager loop"}


@cache
def report(name: str = "engine") -> dict[str, Any]:
    """A recorded benchmark."""
    return json.loads((HOME / f"{name}-{MACHINE}.json").read_text(encoding="utf-8"))


def figure(value: float) -> str:
    """Two digits that count, whole numbers in full."""
    return f"{value:.2g}" if value < 99.5 else f"{value:.0f}"


def milliseconds(workload: str, cell: str, kind: str) -> str:
    """The median of whole updates, torch.nn's on the better threads; LookupError if it was not measured."""
    times = report()["workloads"][workload]["milliseconds"][cell]
    medians = [statistics.median(values) for name, values in times.items() if name.partition(", ")[0] == kind]
    if not medians:
        raise LookupError(kind)
    return figure(min(medians))


def updates() -> str:
    """The table of whole updates."""
    steps = {label: entry["sizes"]["steps"] for label, entry in report()["workloads"].items()}
    heads = ["ms per update", *(f"{task}, T = {steps[label]}" for label, task in TASKS.items())]
    rows = [
        [f"{cell.upper()}, {LABELS.get(kind, kind)}", *(milliseconds(label, cell, kind) for label in TASKS)]
        for cell, kind in ROWS
    ]
    return table(heads, rows)


def peak(threads: str) -> str:
    """The measured peak in GFLOP/s on so many threads."""
    return figure(report()["machine"]["peak_gigaflops"][threads])


def goals() -> str:
    """How many of the goals are met: 36 of 44."""
    return re.search(r"^(\d+ of \d+) ratios meet", bars(), re.MULTILINE)[1]


def missed() -> str:
    """A line for each goal that is missed."""
    ratios = [line for line in bars().splitlines() if line.startswith("- ")]
    of_the_peak = re.findall(r"^\| (W\d) .*\| (\S+ \(bar \S+: MISSED by .*\)) \|$", page(), re.MULTILINE)
    shares = [f"- tgu on {load}, share of the peak: {share}" for load, share in of_the_peak]
    return "\n".join([*ratios, *shares])


def rival(*words: str) -> str:
    """Milliseconds of an update of ours in a row of `rivals`, by its name."""
    return f"{statistics.median(report('rivals')['milliseconds'][' '.join(words)][OURS]):.3g}"


def outside() -> str:
    """What an update of attention and of memories takes where they run outside of the scan, by part."""
    rows = [
        [name, figure(sum(times.values())), part, f"{value / sum(times.values()):.0%}"]
        for name, times in report("rivals")["outside"].items()
        for part, value in times.items()
    ]
    return table(["network", "ms, batch of 64", "part", "of the time"], rows)


def bars() -> str:
    """The section on goals of the benchmark's own page."""
    return page().split("## Bars\n", 1)[1].split("\n## ", 1)[0]


def page() -> str:
    """The benchmark's own page."""
    return (HOME / f"engine-{MACHINE}.md").read_text(encoding="utf-8")


def table(heads: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
