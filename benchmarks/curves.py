"""Updates of curves of the catalogue, as training makes them, beside what the cost model says of a core.

    python -m benchmarks.curves --device cuda
    python -m benchmarks.curves --curves he2017/addition/L4/tlstm_3d/m32 --engines auto

A row for each curve and engine: milliseconds of an update of its first final job, all replicas of which are
trained at once, hours of all updates of that job (an evaluated batch counts as part of one), and how many
times as fast as the model's core that is. The data are zeros in their true sizes.
"""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch

from benchmarks import command
from benchmarks.bars import figure
from benchmarks.costs import updating
from benchmarks.tables import table
from benchmarks.timing import Variant, failure, rounds, watched
from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.units import Unit, chosen, units
from tensor_rnns.recording.work import work_of

ENGINES = {"cpu": ("auto",), "cuda": ("triton", "graphed")}
CURVES = (
    "barone2016/addition/only/lr/fresh",
    "barone2016/copy/only/lrd/main",
    "barone2016/copy-variants/lag/lrd/main",
    "barone2016/pixels/only/lr_128/to-30000",
    "barone2016/ptb/only/lrd_6985_64_tied_dropout/scaled-down",
    "comparison/common-ground/pixels/dense/main",
    "he2017/memorization/L1/tlstm_2d/main",
    "he2017/memorization/L10/tlstm_2d/main",
    "he2017/memorization/L10/tlstm_3d/main",
    "he2017/pixels/scan_L5/tlstm_2d/pooled",
    "he2017/pixels/scan_L3/tlstm_3d/pooled",
    "he2017/pixels/scan_L5/tlstm_3d/pooled",
    "kelley2016/wikipedia/only/grtn/streams-32",
)
"""Long and short, narrow and wide, from the documents that wait for a GPU."""


def found(patterns: Sequence[str]) -> list[Unit]:
    """The curves at the paper's scale; ValueError for one that there is not."""
    names = sorted({"/".join(name.split("/")[:2]) for name in patterns})
    catalogue = Catalogue.load(["workflow/papers"], names)
    return chosen(list(units(catalogue.experiments.values(), 5)), patterns)


def measured(
    unit: Unit, engines: Sequence[str], count: int, device: torch.device
) -> Iterator[dict[str, Any]]:
    """A row for each engine, all timed in turn; one that fails has its reason in place of times."""
    replicas = unit.final[0]
    work = work_of(replicas[0])
    core = Costs.read().seconds(work, len(replicas)) * 1e3
    with ExitStack() as open_:
        ready, rows = {}, {}
        for engine in engines:
            rows[engine] = {"curve": unit.name, "engine": engine, "updates": work.updates, "core_ms": core}
            try:
                ran, update = open_.enter_context(updating(replicas, device, engine))
            except (RuntimeError, ValueError) as error:
                rows[engine]["failed"] = str(error).partition("\n")[0]
                continue
            rows[engine]["engine"] = ran
            reason = failure(update, device) if engine in (ran, "auto") else f"runs {ran}"
            if reason:
                rows[engine]["failed"] = f"{engine}: {reason}"
            else:
                ready[engine] = Variant(update, 1)
        times: dict[Any, list[float]] = {}
        reason = failure(lambda: times.update(rounds(ready, count, device)), device)
        for engine in ready:
            taken = [round(value, 4) for value in times.get(engine, ())]
            rows[engine] |= {"failed": reason} if reason else {"milliseconds": taken}
    yield from rows.values()


def text(report: Mapping[str, Any]) -> str:
    """The table."""
    header = ["curve", "engine", "updates, with evaluations", "ms", "hours", "a core: ms", "times a core"]
    rows = []
    for row in report["curves"]:
        cells = [row["curve"], row["engine"], f"{row['updates']:,.0f}"]
        if "failed" in row:
            rows.append([*cells, row["failed"], None, figure(row["core_ms"]), None])
            continue
        ms = statistics.median(row["milliseconds"])
        times = figure(row["core_ms"] / ms)
        rows.append([*cells, figure(ms), figure(ms * row["updates"] / 3.6e6), figure(row["core_ms"]), times])
    return f"{table(header, rows)}\n\n{command.busy(report['watch'])}\n"


def main() -> None:
    """Print the table, then everything as JSON."""
    parser = command.options(__doc__, rounds=3)
    parser.add_argument(
        "--curves", nargs="+", default=CURVES, help="paper/experiment/condition/variant/option"
    )
    parser.add_argument("--engines", nargs="+", help="by default auto, on CUDA triton and graphed")
    asked = parser.parse_args()
    device = command.prepared(parser, asked, asked.device)
    report: dict[str, Any] = {"machine": command.machine(device, asked.threads), "curves": []}
    with watched() as watch:
        for unit in found(asked.curves):
            report["curves"] += measured(unit, asked.engines or ENGINES[device.type], asked.rounds, device)
    command.close("curves", asked, report | {"watch": watch.record()}, text)


if __name__ == "__main__":
    main()
