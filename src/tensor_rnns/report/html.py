"""The report as one HTML page that needs no other file and no network."""

import os
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from tensor_rnns.analysis.verdicts import GIVEN, OF_CLAIMS
from tensor_rnns.files import writing
from tensor_rnns.report import overview, words
from tensor_rnns.report.contents import MOST_OPEN, in_words, tally
from tensor_rnns.report.gather import NOT_RUN, Content, Piece
from tensor_rnns.report.protocol import curves, finals, shared
from tensor_rnns.report.svg import inlined


def environment(templates: Path) -> Environment:
    """Jinja2 with escaping, the filters of the report, and undefined names as errors."""
    made = Environment(
        loader=FileSystemLoader(templates), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    made.filters |= words.FILTERS | {"tally": tally, "in_words": in_words}
    made.globals |= {
        "slug": words.slug, "symbols": words.SYMBOLS, "verdicts": OF_CLAIMS, "given": GIVEN,
        "not_run": NOT_RUN, "curves": curves, "shared": shared, "finals": finals, "most_open": MOST_OPEN,
    }  # fmt: skip
    return made


def write_html(content: Content, out: Path, templates: Path) -> Path:
    """Write `out`/index.html."""

    def link(path: Path) -> str:
        return Path(os.path.relpath(path, out)).as_posix()

    def figure(piece: Piece) -> Markup:
        svg = next(path for path in piece.files if path.suffix == ".svg")
        prefix = words.slug(piece.artefact.paper, piece.artefact.id)
        return Markup(inlined(svg.read_text(encoding="utf-8"), prefix))

    def metrics(run: Any) -> str:
        row = run.row
        own = run.folder / "metrics.csv" if run.folder else None
        collected = (
            content.results / row["scale"] / "collected" / row["paper"] / row["experiment"] / "metrics.csv"
        )
        return link(own if own and own.is_file() else collected)

    made = environment(templates)
    pieces = [piece for paper in content.papers for part in paper.parts for piece in part.pieces]
    experiments = {(claim.paper, claim.id): part.experiment.name
                   for paper in content.papers for part in paper.parts if part.runs
                   for claim in part.experiment.claims}  # fmt: skip
    made.globals |= {
        "link": link, "figure": figure, "metrics": metrics, "experiments": experiments,
        "artefacts": {(piece.artefact.paper, piece.artefact.id) for piece in pieces},
        "command": lambda artefact: overview.command(content, artefact), "totals": overview.totals(content),
        "coverage": overview.coverage(content), "trust": overview.trust(content),
    }  # fmt: skip
    inline = {
        name: Markup((templates / name).read_text(encoding="utf-8")) for name in ("style.css", "table.js")
    }
    page = made.get_template("report.html").render(c=content, css=inline["style.css"], js=inline["table.js"])
    with writing(out / "index.html") as stream:
        stream.write(page)
    return out / "index.html"
