"""Commands that the jobs of the workflow are: train, select, compute, probe, collect."""

import sys
from pathlib import Path
from typing import Any

import click

from tensor_rnns.cli.common import (
    RESULTS,
    data_option,
    experiment_named,
    guests_option,
    place_options,
    refusals,
    scale_option,
)
from tensor_rnns.experiments import Replica, cohorts, resolve
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.files import read_json


def chosen_values(
    path: Path | None, curve: tuple[str, str, str, str, str, str]
) -> dict[tuple[str, str, str], dict[str, Any]] | None:
    """The values that a search chose for one curve (paper, experiment, scale, condition, variant, option)."""
    return None if path is None else {curve[3:]: read_json(path, "/".join(curve))["values"]}


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


@click.command()
@scale_option
@data_option
@place_options
@guests_option
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
    scale, data, paper, experiment, condition, variant, option, guests, stage, chunk, cohort_size, chosen,
    engine, device, threads, checkpoint_seconds, ready, state, out,
) -> None:  # fmt: skip
    """Train one chunk of replicas; goes on from its checkpoint if it has one."""
    from tensor_rnns.training import job
    from tensor_rnns.training.loop import Interrupted

    with refusals():
        values = chosen_values(chosen, (paper, experiment, scale, condition, variant, option))
        found = experiment_named(paper, experiment, guests).replicas(scale, data, stage, values)
        replicas = chunk_of(found, condition, variant, option, cohort_size, chunk)
        try:
            job.run(replicas, out, state, ready, engine, device, threads, checkpoint_seconds)
        except Interrupted as stop:
            click.echo(f"tensor-rnns: {stop}", err=True)
            sys.exit(143)


@click.command()
@scale_option
@data_option
@place_options
@guests_option
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def select(scale, data, paper, experiment, condition, variant, option, guests, runs, out) -> None:
    """Choose the grid point of one curve from its search RUNS, by validation alone."""
    from tensor_rnns.analysis import selection

    with refusals():
        asked = experiment_named(paper, experiment, guests)
        values = resolve.points(resolve.grid(asked, scale, condition, variant, option))
        of = "/".join((paper, experiment, scale, condition, variant, option))
        selection.select_from_folders(runs, asked.search["select"], values, out, of)


@click.command()
@click.option("--paper", required=True)
@click.option("--experiment", required=True)
@scale_option
@data_option
@click.option(
    "--ready", type=click.Path(path_type=Path), default=RESULTS / "data" / "ready", show_default=True
)
@click.option("--out", type=click.Path(path_type=Path), required=True)
def compute(paper: str, experiment: str, scale: str, data: str, ready: Path, out: Path) -> None:
    """Compute one experiment that needs no training."""
    from tensor_rnns import functions
    from tensor_rnns.compute import run

    with refusals():
        asked = experiment_named(paper, experiment)
        if asked.kind != "compute":
            raise ValueError(f"{paper}/{experiment} is of kind {asked.kind}; allowed is one of kind compute")
        run.run(functions.computed(asked.compute["function"]), asked, scale, out, data, ready)


@click.command()
@click.option("--paper", required=True)
@click.option("--experiment", required=True)
@scale_option
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
def probe(
    paper: str, experiment: str, scale: str, name: str, ready: Path, out: Path, runs: tuple[Path, ...]
) -> None:
    """Take small arrays from the trained weights of RUNS."""
    from tensor_rnns import functions
    from tensor_rnns.probes import run

    with refusals():
        known = experiment_named(paper, experiment).probes
        if name not in known:
            raise ValueError(f"{paper}/{experiment} has no probe {name!r}; allowed are {sorted(known)}")
        function = functions.probe(known[name]["function"])
        of = f"{table_name(paper, experiment, scale)}/{name}"
        run.run(function, known[name].get("arguments") or {}, runs, ready, out, of)


@click.command()
@click.argument("runs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--out", type=click.Path(path_type=Path), required=True)
def collect(runs: tuple[Path, ...], out: Path) -> None:
    """Join the metrics, curves and records of the RUNS of one experiment."""
    from tensor_rnns.analysis.collect import collect

    with refusals():
        collect(runs, out)
