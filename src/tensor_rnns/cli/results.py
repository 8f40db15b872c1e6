"""Commands from tables to the report, its archive and the pages of docs/."""

import sys
from pathlib import Path

import click

from tensor_rnns.cli import options
from tensor_rnns.cli.recording import need_torch
from tensor_rnns.declared import suggestion
from tensor_rnns.experiments.records import DRAWN


@click.command()
@options.several(options.scale, options.results, options.guests)
@options.named("paper")
@click.option("--only", type=click.Choice(DRAWN), help="Write the files of one folder; left out, all.")
@click.argument("artefact")
def draw(scale: str, results: Path, guests: str, paper: str, only: str | None, artefact: str) -> None:
    """Draw one figure or table."""
    from tensor_rnns.drawing.render import render

    render(options.load_catalogue(paper, guests), scale, paper, artefact, results, only=only)


@click.command()
@options.several(options.scale, options.given_results, options.papers)
def judge(scale: str, results: Path, papers: str) -> None:
    """Judge every claim and write claims.csv."""
    from tensor_rnns.analysis.judge import judge

    judge(options.load_catalogue(papers), scale, results)


@click.command()
@options.several(options.scale, options.data, options.results, options.guests, options.papers)
@click.option("--partial", is_flag=True, help="Judge and draw what is there first; for runs that failed.")
def report(scale: str, data: str, results: Path, guests: str, papers: str, partial: bool) -> None:
    """Write the report in HTML and LaTeX, and in PDF where a LaTeX engine is installed."""
    from tensor_rnns.report.build import build

    build(options.load_catalogue(papers, guests), scale, data, results, partial)


@click.command()
@options.given_results
@click.option("--only", default="", help="Join and draw the runs of paper/experiment, without a report.")
@click.option("--headlines", is_flag=True, help="Draw what headline findings show, and no more.")
def recorded(results: Path, only: str, headlines: bool) -> None:
    """Make the report of the recorded runs; trains nothing and needs no torch."""
    from tensor_rnns.analysis.judge import judge
    from tensor_rnns.experiments.records import RECORDED
    from tensor_rnns.report.build import build, join_and_draw
    from tensor_rnns.report.recorded import check_papers, check_whole

    catalogue = options.load_catalogue(only)
    check_whole(results)
    if not only:
        check_papers(results, catalogue.papers)
    join_and_draw(catalogue, RECORDED, results, headlines=headlines)
    if not only:
        judge(catalogue, RECORDED, results)
        build(catalogue, RECORDED, "real", results)


@click.command()
@click.argument("before", type=options.PRESENT)
@click.argument("after", type=options.PRESENT)
def diff(before: Path, after: Path) -> None:
    """Print what differs between two results folders of one scale, such as results/laptop of two checkouts:
    verdicts first, then numbers, replicas, settings, artefacts, and what they were made by.

    Ends with 0 where they are equal, 1 where they differ, 2 where they cannot be compared.
    """
    from tensor_rnns.report import diff as comparing

    claims = options.load_catalogue().claims
    tolerances = {claim.id: claim.spec["tol"] for claim in claims if "tol" in claim.spec}
    first, second = comparing.read(before), comparing.read(after)
    differences = comparing.differences(first, second, tolerances)
    for heading, lines in differences.items():
        click.echo("\n  ".join([f"{heading} ({len(lines)})", *lines]))
    if differences.keys() - {comparing.MADE_BY}:
        sys.exit(1)
    click.echo(f"equal: {first.size}")


@click.command()
@options.several(options.given_results, options.papers)
@click.option("--absent", is_flag=True, help="Only what nothing stands or is planned for.")
@click.option("--write", type=options.PATH, help="Write what stands to this coverage file.")
@click.option("--guard", type=options.FILE, help="Fail where it was better.")
@options.with_default("scales", "smoke,recorded", about="What the guard compares.")
def coverage(results, papers, absent, write, guard, scales) -> None:
    """Print the papers' figures, tables and statements: absent, smoke, laptop, or recorded with n seeds."""
    from tensor_rnns.report import coverage as reach

    reach.check_scales(scales.split(","))
    catalogue = options.load_catalogue(papers)
    rows = reach.rows(catalogue, results)
    for row in rows:
        if row.absent or not absent:
            click.echo(f"{row.paper:<12} {row.kind:<9} {row.id:<28} {row.state}")
    click.echo(reach.summary(rows))
    if write:
        reach.write(write, rows)
    lost = reach.regressions(guard, rows, scales.split(",")) if guard else []
    if lost:
        raise ValueError("\n".join(["coverage has fallen back:", *lost]))


@click.command()
@options.several(options.scale, options.papers)
@click.argument("name")
def target(scale: str, papers: str, name: str) -> None:
    """Print the files of the figure or table NAME, or paper/NAME, as `make figure` asks for them."""
    known = options.load_catalogue(papers).artefacts
    artefacts = [artefact for (paper, id_), artefact in known.items() if name in (id_, f"{paper}/{id_}")]
    if not artefacts:
        allowed = {"/".join(key) if "/" in name else key[1] for key in known}
        allowed_names = f"{suggestion(name, allowed)}; `tensor-rnns coverage` lists all"
        raise ValueError(f"no figure or table {name!r}; {allowed_names}")
    for artefact in artefacts:
        for file in artefact.files:
            click.echo(options.RESULTS / scale / file)


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
@click.argument("archive", type=options.FILE)
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


@click.command()
@click.option("--write", is_flag=True, help="Write every generated text again.")
def docs(write: bool) -> None:
    """Compare what is generated in README.md and docs/ with its sources, byte for byte."""
    need_torch("docs")
    from tensor_rnns.pages import blocks, contents

    pages = [Path("README.md"), *sorted(Path("docs").glob("*.md"))]
    made = contents.texts(options.load_catalogue())
    if write:
        for page in blocks.write(pages, made):
            click.echo(page)
    elif problems := list(blocks.problems(pages, made)):
        raise ValueError("\n".join([*problems, "write them again: tensor-rnns docs --write"]))
    else:
        count = sum(1 for page in pages for _ in blocks.blocks(page))
        click.echo(f"{count} generated texts on {len(pages)} pages: all as their sources say")
