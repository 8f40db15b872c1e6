"""What `tensor-rnns plan` and `tensor-rnns status` print."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tensor_rnns import engine
from tensor_rnns.experiments import Catalogue, Experiment, Replica
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.experiments.run_folders import RECORD, read_record
from tensor_rnns.recording import begun, packing, retrace, simulate, store
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.record import holder
from tensor_rnns.recording.units import Estimate, Unit, estimate, hours_of_seeds, units

PLAN = ("trainings", "jobs", "core-h", "GPU-h", "disk MB", "memory MB", "longest h")
STATUS = ("curves", "recorded", "running", "begun", "missing", "core-h done", "predicted", "core-h left")


def amount(value: float) -> str:
    """A number in a column, with two digits that count; ? where it is not known."""
    if math.isnan(value):
        return "?"
    if float(value).is_integer():
        return f"{value:,.0f}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 1 else f"{value:.2g}"


def line(name: str, numbers: Iterable[float], heads: Sequence[str], more: str = "") -> str:
    """A row of a table whose columns are as wide as their heads."""
    parts = [f"{amount(number):>{len(head) + 2}}" for number, head in zip(numbers, heads, strict=True)]
    return f"{name:<28}{''.join(parts)}  {more}".rstrip()


def head(heads: Sequence[str], first: str = "experiment") -> str:
    """The first row of a table."""
    return f"{first:<28}{''.join(f'  {text}' for text in heads)}"


def plan(catalogue: Catalogue, scale: str, data: str, size: int, asked: str, costs: Costs) -> Iterator[str]:
    """A line for each experiment, one for all, and how far they can be trusted."""
    rows: list[list[float]] = []
    unknown = {} if "triton" in costs.coefficients else {"GPU-h: the cost model has no GPU": None}
    cells: set[str] = set()
    yield head(PLAN)
    for (paper, name), experiment in catalogue.experiments.items():
        members = list(units([experiment], size, scale, data))
        if experiment.kind == "compute":
            yield f"{paper}/{name}: computed"
        if members:
            rows.append(together([columns(unit, asked, costs, unknown) for unit in members]))
            groups = [group for unit in members for _, _, group in unit.jobs]
            cells |= {block["name"] for group in groups if (block := group[0].settings["cell"])}
            yield line(f"{paper}/{name}", rows[-1], PLAN, engines(groups, asked))
    if rows:
        whole = together(rows)
        yield line("all", whole, PLAN)
        yield f"{scale} on {data} data: {whole[0]:.0f} trainings in {whole[1]:.0f} jobs"
        if not math.isnan(whole[2]):
            jobs = list(packing.jobs_of(catalogue, scale, data, size, asked, costs))
            yield simulate.sentence(simulate.cluster(jobs, 1), len(jobs))
    yield costs.summary
    if unmeasured := sorted(cells.difference(*costs.factors.values())):
        yield f"cells of which no update was measured, taken to be as fast as others: {', '.join(unmeasured)}"
    yield from (f"?: {reason}" for reason in unknown)


def columns(unit: Unit, asked: str, costs: Costs, unknown: dict[str, None]) -> list[float]:
    """What `plan` says of a unit; what is not known is NaN, and why goes to `unknown`."""
    groups, cpu, gpu = [group for _, _, group in unit.jobs], Estimate(*[math.nan] * 4), math.nan
    try:
        cpu = estimate(unit, costs, asked)
        gpu = estimate(unit, costs, asked, "cuda").hours if "triton" in costs.coefficients else math.nan
    except ValueError as error:
        unknown[str(error)] = None
    return [sum(map(len, groups)), len(groups), cpu.hours, gpu, *cpu[1:]]


def together(rows: Sequence[Sequence[float]]) -> list[float]:
    """Rows of `columns` as one: the sums, but the largest memory and the longest chain."""
    table = np.array(rows, float)
    return [*table[:, :5].sum(axis=0), *table[:, 5:].max(axis=0)]


def engines(groups: Sequence[Sequence[Replica]], asked: str) -> str:
    """Which engines the cells of jobs would run on, in words."""
    blocks = {repr(group[0].settings["cell"]): group[0].settings["cell"] for group in groups}
    names = Counter(engine.choose(asked, block, "cpu") for block in blocks.values() if block is not None)
    listed = ", ".join(f"{name} ({count} cells)" for name, count in sorted(names.items()))
    return f"engine {listed}" if listed else "no cell to run over time"


def tallies(
    asked_units: Iterable[Unit], costs: Costs, results: Path, running: Sequence[str] = ()
) -> dict[str, list[float]]:
    """The numbers of STATUS of each experiment."""
    rows: dict[str, dict[str, float]] = {}
    for unit in asked_units:
        row = rows.setdefault("/".join(unit.name.split("/")[:2]), dict.fromkeys(STATUS, 0))
        target, hours = unit.folder(results, RECORDED), estimate(unit, costs).hours
        row["curves"] += 1
        if store.is_recorded(unit, results):
            taken = sum(read_record(path.parent)["core_hours"] for path in target.glob(f"*/{RECORD}"))
            more = hours_of_seeds(unit, store.seeds(unit, results) - unit.seeds, costs)
            row["recorded"] += 1
            row["core-h done"] += taken
            row["predicted"] += hours + more
        else:
            kept = begun.share(unit, results)
            any_run = kept or any(unit.folder(results).glob(f"*/{RECORD}"))
            row["running" if unit.name in running else "begun" if any_run else "missing"] += 1
            row["core-h left"] += hours * (1 - kept)
    return {name: list(row.values()) for name, row in rows.items()}


def status(
    asked_units: Iterable[Unit], costs: Costs, results: Path, state: Path, computed: Iterable[Experiment] = ()
) -> Iterator[str]:
    """A line per experiment: curves recorded, running, begun and missing, core-hours; then how many tables of
    the `computed` experiments are recorded as they are set today, what the others lack, how many curves older
    code trained, and who records."""
    recorder, running = holder(state)
    rows = tallies(asked_units := list(asked_units), costs, results, running)
    yield head(STATUS)
    for name, row in rows.items():
        yield line(name, row, STATUS)
    yield line("all", [sum(column) for column in zip(*rows.values(), strict=True)] or [0] * 8, STATUS)
    yield costs.summary
    if found := list(store.computed_tables(computed, results / RECORDED)):
        lacking = [f"{name} ({problem})" for name, _, problem in found if problem]
        others = f"; not {', '.join(lacking)}" if lacking else ""
        yield f"computed tables: {len(found) - len(lacking)} of {len(found)} recorded by today's code{others}"
    yield from retrace.sentences(asked_units, results)
    yield f"recorder: {recorder}, training {', '.join(running)}" if recorder else "recorder: none works here"
