"""The command line. Each rule of the workflow is one of these lines, so that a person can copy any job."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.experiments import SCALES, Catalogue, Experiment, Replica, cohorts, resolve
from tensor_rnns.files import read_json, write_json

PAPERS = Path("workflow/papers")
SCHEMA = Path("workflow/schemas/experiment.schema.yaml")
RESULTS = Path("results")

scale_option = click.option("--scale", type=click.Choice(SCALES), default="laptop", show_default=True)
data_option = click.option(
    "--data", type=click.Choice(["embedded", "real"]), default="embedded", show_default=True
)
results_option = click.option(
    "--results", type=click.Path(path_type=Path), default=RESULTS, show_default=True
)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn an error that a person can mend into one message and exit code 2, without a traceback."""
    try:
        yield
    except (ValueError, OSError, MissingValue) as error:
        click.echo(f"tensor-rnns: {error}", err=True)
        sys.exit(2)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Replicate five documents on tensor-structured recurrent networks."""
    logging.basicConfig(level=logging.WARNING, format="%(message)s", stream=sys.stderr)
    logging.getLogger("tensor_rnns").setLevel(logging.INFO)


def experiment_named(paper: str, name: str) -> Experiment:
    """The experiment `name` of `paper`; ValueError listing the allowed names."""
    catalogue = Catalogue.load(PAPERS, [paper])
    if (paper, name) not in catalogue.experiments:
        raise ValueError(
            f"{paper} has no experiment {name!r}; allowed are {sorted(n for _, n in catalogue.experiments)}"
        )
    return catalogue.experiments[paper, name]


def place_options(function: Any) -> Any:
    """The options that name one curve: paper, experiment, condition, variant, option."""
    for name in ("option", "variant", "condition", "experiment", "paper"):
        function = click.option(f"--{name}", required=True)(function)
    return function


@main.command()
def check() -> None:
    """Check every experiment file; print all errors at once."""
    from tensor_rnns import datasets
    from tensor_rnns.analysis import measures
    from tensor_rnns.experiments.check import Names, check

    found = check(PAPERS, SCHEMA, Names(datasets.names(), measures.arguments), Path.cwd())
    for problem in found:
        click.echo(problem, err=True)
    if found:
        click.echo(f"{len(found)} problems in the experiment files; nothing was run", err=True)
        sys.exit(2)
    catalogue = Catalogue.load(PAPERS)
    click.echo(
        f"{len(catalogue.experiments)} experiments, {len(catalogue.artefacts)} figures and tables, "
        f"{len(catalogue.claims)} claims: all well"
    )


@main.command()
@click.argument("sources", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Download every source.")
@click.option(
    "--mirror", "mirrors", multiple=True, help="Base address tried before the public ones; may be repeated."
)
@click.option("--into", type=click.Path(path_type=Path), default=RESULTS / "data" / "raw", show_default=True)
def download(sources: tuple[str, ...], everything: bool, mirrors: tuple[str, ...], into: Path) -> None:
    """Download SOURCES, verify size and sha256, and only then give the files their names."""
    from tensor_rnns import datasets

    known = sorted({datasets.source_of(dataset) for dataset in datasets.names()} - {None})
    with refusals():
        if not sources and not everything:
            raise ValueError(f"no source given; allowed are {', '.join(known)}, or --all")
        for source in known if everything else sources:
            found = datasets.download(source, into, mirrors)
            write_json(into / source / "verified.json", {path.name: path.stat().st_size for path in found})


@main.command()
@click.argument("dataset")
@click.option("--raw", type=click.Path(path_type=Path), default=RESULTS / "data" / "raw", show_default=True)
@click.option(
    "--into", type=click.Path(path_type=Path), default=RESULTS / "data" / "ready", show_default=True
)
def prepare(dataset: str, raw: Path, into: Path) -> None:
    """Parse one data set, compare its counted facts, and write it ready for training."""
    from tensor_rnns import datasets

    with refusals():
        datasets.prepare(dataset, raw, into)


def chosen_values(
    path: Path | None, place: tuple[str, str, str]
) -> dict[tuple[str, str, str], dict[str, Any]] | None:
    """The values that a search chose for one curve, from its chosen.json."""
    return None if path is None else {place: read_json(path)["values"]}


def chunk_of(
    found: list[Replica], condition: str, variant: str, option: str, size: int, chunk: int
) -> list[Replica]:
    """The replicas of one train job; ValueError where the curve or the chunk does not exist."""
    mine = [r for r in found if (r.condition, r.variant, r.option) == (condition, variant, option)]
    chunks = cohorts(mine, size)
    if not chunks:
        allowed = sorted({f"{r.condition}/{r.variant}/{r.option}" for r in found})
        raise ValueError(f"no replicas for {condition}/{variant}/{option}; allowed are {allowed}")
    if chunk >= len(chunks):
        raise ValueError(
            f"chunk {chunk} of {condition}/{variant}/{option}; allowed are 0 to {len(chunks) - 1}"
        )
    return chunks[chunk]


@main.command()
@scale_option
@data_option
@place_options
@click.option("--stage", type=click.Choice(["search", "final"]), default="final", show_default=True)
@click.option("--chunk", type=int, default=0, show_default=True)
@click.option("--cohort-size", type=int, default=5, show_default=True)
@click.option(
    "--chosen", type=click.Path(path_type=Path, exists=True), help="The chosen.json of the search before."
)
@click.option("--engine", default="auto", show_default=True)
@click.option("--device", default="auto", show_default=True, help="auto, cpu or cuda.")
@click.option("--threads", type=int, default=1, show_default=True)
@click.option("--checkpoint-seconds", type=float, default=60.0, show_default=True)
@click.option(
    "--ready", type=click.Path(path_type=Path), default=RESULTS / "data" / "ready", show_default=True
)
@click.option("--state", type=click.Path(path_type=Path), default=Path(".state"), show_default=True)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def train(
    scale, data, paper, experiment, condition, variant, option, stage, chunk, cohort_size, chosen,
    engine, device, threads, checkpoint_seconds, ready, state, out,
) -> None:  # fmt: skip
    """Train one chunk of replicas; goes on from its checkpoint if it has one."""
    from tensor_rnns.training import job
    from tensor_rnns.training.cohort import Interrupted

    with refusals():
        values = chosen_values(chosen, (condition, variant, option))
        found = experiment_named(paper, experiment).replicas(scale, data, stage, values)
        replicas = chunk_of(found, condition, variant, option, cohort_size, chunk)
        try:
            job.run(replicas, out, state, ready, engine, device, threads, checkpoint_seconds)
        except Interrupted as stop:
            click.echo(f"tensor-rnns: {stop}", err=True)
            sys.exit(143)


@main.command()
@scale_option
@data_option
@place_options
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def select(scale, data, paper, experiment, condition, variant, option, runs, out) -> None:
    """Choose the grid point of one curve from its search RUNS, by validation alone."""
    from tensor_rnns.analysis import selection

    with refusals():
        asked = experiment_named(paper, experiment)
        values = resolve.points(resolve.grid(asked, scale, condition, variant, option))
        selection.select_from_folders(runs, asked.search["select"], values, out)


@main.command()
@click.option("--paper", required=True)
@click.option("--experiment", required=True)
@scale_option
@click.option("--out", type=click.Path(path_type=Path), required=True)
def compute(paper: str, experiment: str, scale: str, out: Path) -> None:
    """Compute one experiment that needs no training."""
    from tensor_rnns.compute import run

    with refusals():
        run.run(experiment_named(paper, experiment), scale, out)


@main.command()
@click.option("--paper", required=True)
@click.option("--experiment", required=True)
@click.option("--name", required=True, help="The probe's name in the experiment file.")
@click.option(
    "--ready", type=click.Path(path_type=Path), default=RESULTS / "data" / "ready", show_default=True
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    required=True,
    help="The .npz file; a .csv is written beside it.",
)
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True))
def probe(paper: str, experiment: str, name: str, ready: Path, out: Path, runs: tuple[Path, ...]) -> None:
    """Take small arrays from the trained weights of RUNS."""
    from tensor_rnns.probes import run

    with refusals():
        run.run(experiment_named(paper, experiment), name, runs, ready, out)


@main.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def collect(runs: tuple[Path, ...], out: Path) -> None:
    """Join the metrics, curves and records of the RUNS of one experiment."""
    from tensor_rnns.analysis.collect import collect

    with refusals():
        collect(runs, out)


@main.command()
@scale_option
@results_option
@click.option("--paper", required=True)
@click.argument("artefact")
def draw(scale: str, results: Path, paper: str, artefact: str) -> None:
    """Draw one figure or table."""
    from tensor_rnns.drawing.render import render

    with refusals():
        render(Catalogue.load(PAPERS), scale, paper, artefact, results)


@main.command()
@scale_option
@results_option
@click.option("--papers", default="", help="Names separated by commas; empty means all.")
def judge(scale: str, results: Path, papers: str) -> None:
    """Judge every claim and write claims.csv."""
    from tensor_rnns.analysis.judge import judge

    with refusals():
        judge(Catalogue.load(PAPERS, [name for name in papers.split(",") if name] or None), scale, results)


@main.command()
@scale_option
@data_option
@results_option
@click.option("--papers", default="", help="Names separated by commas; empty means all.")
@click.option("--partial", is_flag=True, help="Judge and draw what is there first; for runs that failed.")
def report(scale: str, data: str, results: Path, papers: str, partial: bool) -> None:
    """Write the report in HTML and LaTeX, and in PDF where a LaTeX engine is installed."""
    from tensor_rnns.report.build import build

    with refusals():
        build(
            Catalogue.load(PAPERS, [name for name in papers.split(",") if name] or None),
            scale,
            data,
            results,
            partial,
        )


@main.command()
@click.option("--paper", required=True)
@click.option("--experiment", required=True)
@results_option
def record(paper: str, experiment: str, results: Path) -> None:
    """Keep the runs of one experiment at the paper's scale in results/recorded, to be committed."""
    from tensor_rnns.report import recorded

    with refusals():
        for folder in recorded.record(Catalogue.load(PAPERS), paper, experiment, results):
            click.echo(folder)


@main.command()
@results_option
def recorded(results: Path) -> None:
    """Make the report of the recorded runs; trains nothing and needs no torch."""
    from tensor_rnns.report import recorded as kept
    from tensor_rnns.report.build import build

    with refusals():
        catalogue = Catalogue.load(PAPERS)
        kept.collect_recorded(catalogue, results)
        build(catalogue, kept.SCALE, "real", results, partial=True)


@main.command()
@scale_option
@data_option
@click.option("--cohort-size", type=int, default=5, show_default=True)
@click.option("--engine", default="auto", show_default=True)
def plan(scale: str, data: str, cohort_size: int, engine: str) -> None:
    """List what a scale trains: curves, replicas, jobs, and the engine of each on this machine's processor."""
    with refusals():
        catalogue = Catalogue.load(PAPERS)
        jobs, trainings = planned(catalogue, scale, data, cohort_size, engine)
        click.echo(f"{scale} on {data} data: {trainings} trainings in {jobs} jobs")


def planned(catalogue: Catalogue, scale: str, data: str, cohort_size: int, engine: str) -> tuple[int, int]:
    """Print a line for each stage of each experiment; returns how many jobs and trainings there are in all."""
    jobs = trainings = 0
    for (paper, name), experiment in catalogue.experiments.items():
        for stage in ("search", "final"):
            found = experiment.replicas(scale, data, stage)
            places = {r.place for r in found}
            size = experiment.cohort_size(cohort_size)
            count = sum(len(cohorts([r for r in found if r.place == place], size)) for place in places)
            jobs, trainings = jobs + count, trainings + len(found)
            if found:
                said = f"{len(places)} curves, {len(found)} replicas, {count} jobs, {engines(found, engine)}"
                click.echo(f"{paper}/{name} {stage}: {said}")
        if experiment.kind == "compute":
            click.echo(f"{paper}/{name}: computed")
    return jobs, trainings


def engines(found: list[Replica], asked: str) -> str:
    """Which engines the cells of `found` would run on, in words."""
    try:
        from tensor_rnns import engine
    except ModuleNotFoundError:
        return "engine unknown without torch"
    cells = {repr(replica.settings["cell"]): replica.settings["cell"] for replica in found}
    names = [engine.choose(asked, cell, "cpu") for cell in cells.values() if cell is not None]
    if not names:
        return "no cell to run over time"
    return "engine " + ", ".join(f"{name} ({names.count(name)} cells)" for name in sorted(set(names)))


@main.command()
@scale_option
@click.argument("name")
def target(scale: str, name: str) -> None:
    """Print the files that hold the figure or table NAME, as `make figure` asks Snakemake for them."""
    with refusals():
        catalogue = Catalogue.load(PAPERS)
        found = [a for (_, id_), a in catalogue.artefacts.items() if id_ == name]
        if not found:
            raise ValueError(
                f"no figure or table {name!r}; allowed are {sorted(i for _, i in catalogue.artefacts)}"
            )
        for artefact in found:
            kind, ends = (
                ("tables", ("tex", "csv")) if artefact.draw == "table" else ("figures", ("pdf", "svg"))
            )
            for end in ends:
                click.echo(RESULTS / scale / kind / artefact.paper / f"{artefact.id}.{end}")
