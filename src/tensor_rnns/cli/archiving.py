"""Commands for what leaves the machine: archive, and verify, which checks one on another machine."""

import sys
from pathlib import Path

import click

from tensor_rnns.cli import options


@click.command()
@options.several(options.scale, options.results)
@click.option(
    "--out", type=options.PATH, help="The zip file; left out, a name by the scale in results/archives."
)
@click.option("--weights", is_flag=True, help="With the trained weights.")
@click.option("--anonymous", is_flag=True, help="For blind review: no names, hosts, users, folders, commits.")
@click.option(
    "--dirty", is_flag=True, help="Archive even if tracked files differ from the commit; the archive says so."
)
def archive(scale: str, results: Path, out: Path | None, weights: bool, anonymous: bool, dirty: bool) -> None:
    """Write the report of a scale and all that it rests on to one zip file."""
    from tensor_rnns.archive.make import make

    name = f"tensor-rnns-{scale}{'-anonymous' if anonymous else ''}.zip"
    out = out or results / "archives" / name
    roots = options.paper_roots()
    click.echo(make(roots, scale, results, out, weights=weights, dirty=dirty, anonymous=anonymous))


@click.command()
@click.argument("archive", type=options.PRESENT)
def verify(archive: Path) -> None:
    """Check an ARCHIVE: every sum, every table, figure, verdict and page made again from its runs.

    Needs no network, GPU or torch. Ends with 0 where all is equal, 1 where something differs, which is named,
    2 where the file is no archive.
    """
    from tensor_rnns.archive.verify import verify

    outcome = verify(archive, lambda line: click.echo(line, err=True))
    for line in outcome.lines():
        click.echo(line)
    sys.exit(1 if outcome.differences else 0)
