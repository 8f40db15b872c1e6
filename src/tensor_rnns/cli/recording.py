"""Commands about the paper's scale: what it costs, recording it, and how far that is."""

import os
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from tensor_rnns.cli import options
from tensor_rnns.cli.start_warm import warm_process
from tensor_rnns.experiments import Catalogue, digest
from tensor_rnns.experiments import engines as known
from tensor_rnns.recording import COSTS

TREES, SIZES = Path(".snakemake/syntax_trees.json"), Path(".snakemake/sizes.json")
"""Where commands keep what they found of the code, as the workflow does, and of the sizes of trainings."""
state = options.with_default("state", Path(".state"), options.PATH)
costs_table = options.with_default("costs", COSTS, options.PATH, "The cost model.")
mirrors = click.option(
    "--mirror", "mirrors", multiple=True, envvar="TENSOR_RNNS_MIRROR",
    help="Base address of a mirror, tried before the public ones; may be repeated.",
)  # fmt: skip


def need_torch(asked: str) -> None:
    """ValueError where there is no torch."""
    if find_spec("torch") is None:
        raise ValueError(f"{asked} asked for; allowed with torch: install tensor-rnns[train]")


def checked_catalogue(papers: str, guests: str = "") -> Catalogue:
    """What stands below the roots; ValueError with every problem of files not found well before, by line.

    While the command runs, it has what an earlier one found of the code and of the sizes of trainings.
    """
    from tensor_rnns import checking
    from tensor_rnns.recording.work import kept_sizes

    options.check_guests(guests)
    if problems := checking.problems(options.paper_roots(), Path.cwd(), checking.CHECKED):
        raise ValueError("\n".join(problems))
    for kept in (digest.kept(TREES), kept_sizes(SIZES)):
        click.get_current_context().with_resource(kept)
    return options.load_catalogue(papers, guests)


@click.command()
@options.several(options.scale, options.data, options.guests, options.papers)
@options.several(options.cohort_size, options.engine, costs_table)
def plan(scale: str, data: str, guests: str, papers: str, cohort_size: int, engine: str, costs: Path) -> None:
    """List what a scale trains and costs by experiment: trainings, jobs, core-hours, GPU-hours, disk, memory,
    the longest chain of jobs, and engines."""
    known.check(engine)
    need_torch("plan")
    from tensor_rnns.recording import cost, tables

    model, catalogue = cost.Costs.read(costs), checked_catalogue(papers, guests)
    for line in tables.plan(catalogue, scale, data, cohort_size, engine, model):
        click.echo(line)


@click.command()
@options.several(options.scale, options.data, options.guests, options.papers, options.engine)
@options.with_default(
    "cohort-sizes", "1,2,5,10,20", about="Replicas per job, separated by commas: one simulation for each."
)
@options.with_default("workers", "1,8,64,512", about="Workers of each cluster: processors as measured.")
@options.with_default(
    "speed", 1.0, options.Finite(0, min_open=True),
    "How many times as fast a worker trains as the measured processor; a guess, for a GPU.",
)  # fmt: skip
@click.option("--figure", type=options.PATH, help="Draw it, too: an SVG file.")
@costs_table
def simulate(scale, data, guests, papers, engine, cohort_sizes, workers, speed, figure, costs) -> None:
    """Simulate clusters that run a scale: when it is done, and how busy they are."""
    known.check(engine)
    need_torch("simulate")
    from tensor_rnns.recording import cost, packing
    from tensor_rnns.recording import simulate as simulation

    model, catalogue = cost.Costs.read(costs).faster(speed), checked_catalogue(papers, guests)
    outcomes = {}
    for size in options.numbers("cohort-sizes", cohort_sizes):
        jobs = list(packing.jobs_of(catalogue, scale, data, size, engine, model))
        for number in options.numbers("workers", workers):
            outcomes[number, size] = simulation.cluster(jobs, number)
    for line in (*simulation.table(outcomes), model.summary):
        click.echo(line)
    if figure:
        simulation.draw(outcomes, figure)


@click.command()
@options.several(
    options.papers, options.curves, options.given_results, options.cohort_size, state, costs_table
)
@click.option(
    "--undecided",
    is_flag=True,
    help="Claims instead that are undecided or that so few seeds could not refute, the cheapest first.",
)
def status(papers, curves, results, cohort_size, state, costs, undecided) -> None:
    """Print by experiment the paper scale's curves recorded, running, begun and missing, core-hours left, and
    which computed tables are not recorded."""
    need_torch("status")
    from tensor_rnns.recording import cost, tables, units

    options.refuse_together(("--curves", "--undecided"))
    model, catalogue = cost.Costs.read(costs), checked_catalogue(papers)
    if undecided:
        from tensor_rnns.recording import extension  # which imports the statistics

        lines = extension.undecided(catalogue, model, results, cohort_size)
    else:
        known = units.units(catalogue.experiments.values(), cohort_size)
        chosen = units.chosen(list(known), options.named_list(curves))
        computed = () if curves else catalogue.experiments.values()
        lines = tables.status(chosen, model, results, state, computed)
    for line in lines:
        click.echo(line)


EITHER = (
    ("--curves", "--from"), ("--curves", "--claim"), ("--from", "--claim"), ("--rehearse", "--from"),
    ("--rehearse", "--claim"), ("--dearest", "--from"), ("--dearest", "--claim"), ("--hours", "--from"),
    ("--jobs", "--from"), ("--mirror", "--from"), ("--device", "--from"), ("--engine", "--from"),
)  # fmt: skip
"""Options of `record` of which the second would let the first be ignored."""
LONGEST = 100_000
"""Hours of a record at most: eleven years, which a timer can wait for."""


@click.command()
@options.several(options.papers, options.curves)
@options.with_default(
    "hours", None, options.Finite(0, LONGEST), "Stop after so many hours; left out, when nothing is left."
)
@options.with_default("jobs", 1, click.IntRange(1), "Train so many curves at once, each on one core.")
@mirrors
@click.option(
    "--from",
    "source",
    type=options.PRESENT,
    help="Import runs and computed tables of this folder; train nothing.",
)
@click.option("--claim", help="Train more seeds for this claim, undecided or not refutable by so few.")
@click.option("--seeds", type=click.IntRange(1), help="With --claim: how many more; left out, 5.")
@click.option("--dirty", is_flag=True, help="Record runs of code that was not committed, too.")
@options.with_default("device", "cpu", click.Choice(["cpu", "cuda"]))
@click.option("--dearest", is_flag=True, help="Record the most expensive curves first; of use on a GPU.")
@click.option("--rehearse", is_flag=True, help="The smoke scale on embedded data, into other --results.")
@options.with_default("nice", 19, click.IntRange(0, 19), "Priority of the trainings; 19 is the lowest.")
@options.several(options.results, options.cohort_size, options.engine, state, costs_table)
def record(
    papers, curves, hours, jobs, mirrors, source, claim, seeds, dirty, device, dearest, rehearse, nice,
    results, cohort_size, engine, state, costs,
) -> None:  # fmt: skip
    """Train the paper's scale, curve by curve, and keep each in results/recorded/runs.

    First come the curves that bring the most judged statements for a core-hour. SIGTERM and Ctrl-C end it
    with checkpoints; the same command goes on. It ends with 1 where a curve failed or was refused.
    """
    known.check(engine)
    need_torch("record")
    if rehearse and results.resolve() == options.RESULTS.resolve():
        raise ValueError(f"--rehearse into {results} asked for; allowed is another folder: --results")
    options.refuse_together(*EITHER)
    if seeds and not claim:
        raise ValueError(f"--seeds {seeds} given without --claim; allowed are both")
    import torch

    from tensor_rnns.engine import check
    from tensor_rnns.recording import cost, extension, order
    from tensor_rnns.recording import record as recorder

    check(engine, None, device)
    if device == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"--device cuda asked for, and torch {torch.__version__} sees none; allowed is cpu")
    more = mirrors, cohort_size, engine, jobs, hours, dirty, device
    settings = recorder.Settings(results, state, ",".join(options.paper_roots()), *more)
    catalogue = checked_catalogue(papers)
    if not dirty:
        order.check_checkout()
    with recorder.alone(state) as note:
        if source:
            sys.exit(1 if import_all(catalogue, settings, source) else 0)
        if claim:
            to_run = extension.units_of_claim(catalogue, settings, claim, seeds or 5)
        else:
            protocol = ("smoke", "embedded") if rehearse else ()
            model, only = cost.Costs.read(costs), options.named_list(curves)
            to_run = order.next_units(catalogue, settings, model, dearest, protocol, only)
        os.nice(max(0, nice - os.nice(0)))
        worker = recorder.Recorder(settings, click.echo, note, together=bool(claim))
        with TemporaryDirectory(prefix="tensor-rnns-") as folder, warm_process(Path(folder) / "warm") as warm:
            if warm:
                recorder.lower_session(warm.pid)
            count = worker.run(to_run)
        click.echo(f"{count} of {len(to_run)} curves recorded, {len(worker.failed)} failed")
    sys.exit(1 if worker.failed else 0)


def import_all(catalogue: Catalogue, settings: Any, source: Path) -> int:
    """Record what lies complete below the results folder `source`; how much was refused, which is said."""
    from tensor_rnns.recording import store, units

    experiments, tally = catalogue.experiments.values(), Counter()
    planned = units.units(experiments, settings.cohort_size)
    for kept, line in store.import_runs(planned, source, settings.results, settings.ready, settings.dirty):
        tally[kept] += 1
        click.echo(line)
    for kept, line in store.import_computed(experiments, source, settings.results):
        tally["table" if kept else False] += 1
        click.echo(line)
    click.echo(f"recorded curves: {tally[True]}, computed tables: {tally['table']}; refused: {tally[False]}")
    return tally[False]


@click.command()
@options.several(options.papers, options.curves, options.given_results, mirrors)
@click.option("--older", is_flag=True, help="Only curves that older code than today's has trained.")
@options.with_default(
    "seconds", 2.0, options.Finite(0, min_open=True), "Train each for about so long; its first loss at least."
)
def retrace(papers, curves, results, mirrors, older, seconds) -> None:
    """Train recorded curves again for their first updates, and compare their losses with the recorded ones.

    They are the same to the bit where no change of the code since, and no other machine, has changed the
    training. It writes results/recorded/retraced.csv, and ends with 1 where a first loss is off by more than
    a hundredth, or a curve could not be trained.
    """
    need_torch("retrace")
    from tensor_rnns.recording import record as recorder
    from tensor_rnns.recording import retrace as again
    from tensor_rnns.recording import store, units

    experiments = checked_catalogue(papers).experiments.values()
    chosen = units.chosen(list(units.units(experiments, 1)), options.named_list(curves))
    recorded = [unit for unit in chosen if store.is_recorded(unit, results)]
    if older:
        recorded = [unit for unit in recorded if store.is_of_older_code(unit, results)]
    settings = recorder.Settings(
        results, Path(".state"), ",".join(options.paper_roots()), mirrors, 1, "auto", 1, None, True
    )
    tally = Counter()
    for number, unit in enumerate(recorded, 1):
        outcome, line = again.outcome(unit, settings, seconds)
        tally[outcome] += 1
        click.echo(f"[{number}/{len(recorded)}] {unit.name}: {line}")
    click.echo(", ".join(f"{outcome}: {count}" for outcome, count in tally.items()) or "no curve is recorded")
    sys.exit(1 if tally[again.OFF] or tally[again.FAILED] else 0)
