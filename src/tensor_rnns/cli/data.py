"""Commands for experiment files and data: check, download, prepare."""

import sys
from pathlib import Path

import click

from tensor_rnns.cli import options
from tensor_rnns.files import write_json, writing


@click.command()
def check() -> None:
    """Check every experiment file; print all errors at once."""
    from tensor_rnns import checking

    problems = checking.problems(options.paper_roots(), Path.cwd())
    for problem in problems:
        click.echo(problem, err=True)
    if problems:
        plural = "s" * (len(problems) > 1)
        click.echo(f"{len(problems)} problem{plural} in the experiment files; nothing was run", err=True)
        sys.exit(2)
    catalogue = options.load_catalogue()
    drawn = f"{len(catalogue.artefacts)} figures and tables"
    click.echo(f"{len(catalogue.experiments)} experiments, {drawn}, {len(catalogue.claims)} claims: all well")


@click.command()
@click.argument("sources", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Download every source.")
@click.option(
    "--mirror", "mirrors", multiple=True, help="Base address tried before the public ones; may be repeated."
)
@options.with_default("into", options.RAW, options.PATH)
def download(sources: tuple[str, ...], everything: bool, mirrors: tuple[str, ...], into: Path) -> None:
    """Download SOURCES, verify size and sha256, and only then give the files their names."""
    from tensor_rnns import datasets

    known = datasets.sources()
    if bool(sources) == everything:
        given = f"{', '.join(sources)} given with --all" if sources else "no source given"
        raise ValueError(f"{given}; allowed are {', '.join(known)}, or --all alone")
    for source, files in datasets.download_all(tuple(known) if everything else sources, into, mirrors):
        sizes = {path.name: path.stat().st_size for path in files}
        write_json(into / source / "verified.json", sizes, source)


@click.command()
@click.argument("dataset")
@options.with_default("raw", options.RAW, options.PATH)
@options.with_default("into", options.READY, options.PATH)
def prepare(dataset: str, raw: Path, into: Path) -> None:
    """Parse one data set, compare its counted facts, and write it ready for training."""
    from tensor_rnns import datasets, functions

    datasets.prepare(dataset, raw, into)
    with writing(into / f"{dataset}.made") as stream:  # the recorder asks whether it was by today's code
        stream.write(functions.dataset_digest(dataset))
