"""Commands that the jobs of the workflow are: train, select, compute, probe, collect."""

import sys
from pathlib import Path

import click

from tensor_rnns.cli import options
from tensor_rnns.cli.asking import MAY_PASS
from tensor_rnns.experiments import Replica, cohorts, resolve
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.experiments.selector import Curve
from tensor_rnns.files import read_json


def chunk_of(replicas: list[Replica], curve: Curve, size: int, chunk: int) -> list[Replica]:
    """The replicas of one train job; ValueError where the curve or the chunk does not exist."""
    name = "/".join(curve)
    chunks = cohorts([replica for replica in replicas if replica.curve_key[2:] == curve], size)
    if not chunks:
        allowed = sorted({"/".join(replica.curve_key[2:]) for replica in replicas})
        raise ValueError(f"no replicas for {name}; allowed are {allowed}")
    if chunk >= len(chunks):
        raise ValueError(f"chunk {chunk} of {name}; allowed are 0 to {len(chunks) - 1}")
    return chunks[chunk]


@click.command()
@options.several(options.scale, options.data, options.curve, options.guests)
@options.with_default("stage", "final", click.Choice(["search", "final"]))
@options.with_default("chunk", 0, click.IntRange(0))
@options.cohort_size
@click.option("--chosen", type=options.PRESENT, help="The chosen.json of the search before.")
@options.with_default("seeds", 0, click.IntRange(0), "Final seeds, where the experiment file says fewer.")
@options.engine
@options.with_default("device", "auto", click.Choice(["auto", "cpu", "cuda"]))
@options.with_default("threads", 1, click.IntRange(1))
@options.with_default(
    "checkpoint-seconds", 60.0, options.Finite(0), variable="TENSOR_RNNS_CHECKPOINT_SECONDS"
)
@options.ready
@options.with_default("state", Path(".state"), options.PATH)
@options.out
def train(
    scale, data, paper, experiment, condition, variant, option, guests, stage, chunk, cohort_size, chosen,
    seeds, engine, device, threads, checkpoint_seconds, ready, state, out,
) -> None:  # fmt: skip
    """Train one chunk of replicas; goes on from its checkpoint if it has one."""
    from tensor_rnns.training import job
    from tensor_rnns.training.loop import Interrupted

    options.check_guests(guests)
    curve = condition, variant, option
    of = "/".join((paper, experiment, scale, *curve))
    values = {curve: read_json(chosen, of)["values"]} if chosen else None
    planned = options.experiment_named(paper, experiment, guests).replicas(scale, data, stage, values, seeds)
    replicas = chunk_of(planned, curve, cohort_size, chunk)
    try:
        job.run(replicas, out, state, ready, engine, device, threads, checkpoint_seconds)
    except Interrupted as stop:
        click.echo(f"tensor-rnns: {stop}; {MAY_PASS}", err=True)
        sys.exit(143)


@click.command()
@options.several(options.scale, options.data, options.curve, options.guests, options.runs, options.out)
def select(scale, data, paper, experiment, condition, variant, option, guests, runs, out) -> None:
    """Choose the grid point of one curve from its search RUNS, never by the test split."""
    from tensor_rnns.analysis import selection

    asked = options.experiment_named(paper, experiment, guests)
    curve = condition, variant, option
    if not asked.search or curve not in (allowed := list(resolve.curves(asked, scale))):
        names = list(map("/".join, allowed)) if asked.search else "those of an experiment with a search"
        raise ValueError(f"no search of {'/'.join((paper, experiment, *curve))}; allowed are {names}")
    values = resolve.points(resolve.grid(asked, scale, condition, variant, option))
    of = "/".join((paper, experiment, scale, condition, variant, option))
    selection.select_from_folders(runs, asked.search["select"], values, out, of)


@click.command()
@options.several(options.experiment, options.scale, options.data, options.ready, options.out)
def compute(paper: str, experiment: str, scale: str, data: str, ready: Path, out: Path) -> None:
    """Compute one experiment that needs no training."""
    from tensor_rnns import functions
    from tensor_rnns.compute import run

    asked = options.experiment_named(paper, experiment)
    if asked.kind != "compute":
        raise ValueError(f"{paper}/{experiment} is of kind {asked.kind}; allowed is one of kind compute")
    function = functions.computed(asked.compute["function"])
    run.run(function, asked, scale, out, data, ready, functions.computed_digest(asked, scale, data))


@click.command()
@options.several(options.experiment, options.scale)
@click.option("--name", required=True, help="The probe's name in the experiment file.")
@options.ready
@click.option("--out", type=options.PATH, required=True, help="The .npz file; a .csv is written beside it.")
@options.runs
def probe(
    paper: str, experiment: str, scale: str, name: str, ready: Path, out: Path, runs: tuple[Path, ...]
) -> None:
    """Take small arrays from the trained weights of RUNS."""
    from tensor_rnns import functions
    from tensor_rnns.probes import run

    known = options.experiment_named(paper, experiment).probes
    if name not in known:
        raise ValueError(f"{paper}/{experiment} has no probe {name!r}; allowed are {sorted(known)}")
    function = functions.probe(known[name]["function"])
    of = f"{table_name(paper, experiment, scale)}/{name}"
    run.run(function, known[name].get("arguments") or {}, runs, ready, out, of)


@click.command()
@click.argument("runs", nargs=-1, required=True, type=options.FOLDER)
@options.out
def collect(runs: tuple[Path, ...], out: Path) -> None:
    """Join the metrics, curves and records of the RUNS of one experiment."""
    from tensor_rnns.analysis.collect import collect

    collect(runs, out)
