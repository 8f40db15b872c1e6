"""The report as one HTML page that needs no other file and no network."""

import os
import re
from html import escape
from pathlib import Path

from markupsafe import Markup

from tensor_rnns.analysis.verdicts import GIVEN
from tensor_rnns.files import writing
from tensor_rnns.report import words
from tensor_rnns.report.gather import Content, Piece, Run
from tensor_rnns.report.templates import environment, in_words, tally

MOST_OPEN = 8
"""Claims of a table that stands open; a longer one is folded under its tally."""
DROPPED = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.S)
SIZE = re.compile(r'(<svg\b[^>]*?) (?:width|height)="[^"]*"')
ID = re.compile(r'\bid="([^"]+)"')
REFERENCE = re.compile(r'(\burl\(#|href="#)([^")]+)')
DESCRIPTION = re.compile(r"<dc:description>(.*?)</dc:description>", re.S)


def inlined(svg: str, prefix: str) -> str:
    """The `<svg>` element alone, fit to stand in a page.

    Every id begins with `prefix`, there is no fixed size, and the description that the figure's metadata give
    to those who cannot see it is its name.
    """
    found = DESCRIPTION.search(svg)
    said = re.sub(r"\s+", " ", found[1]).strip() if found else ""
    body = DROPPED.sub("", svg).strip()
    for _ in range(2):
        body = SIZE.sub(r"\1", body, count=1)
    body = ID.sub(lambda match: f'id="{prefix}-{match[1]}"', body)
    body = REFERENCE.sub(lambda match: f"{match[1]}{prefix}-{match[2]}", body)
    body = re.sub(r">\s+<", "><", body)
    label = escape(said or "Figure", quote=True).replace("&amp;", "&")
    return body.replace("<svg", f'<svg role="img" aria-label="{label}"', 1)


def write_html(content: Content, out: Path, templates: Path) -> Path:
    """Write `out`/index.html."""

    def link(path: Path) -> str:
        return Path(os.path.relpath(path, out)).as_posix()

    def figure(piece: Piece) -> Markup:
        svg = next(path for path in piece.files if path.suffix == ".svg")
        prefix = words.slug(piece.artefact.paper, piece.artefact.id)
        return Markup(inlined(svg.read_text(encoding="utf-8"), prefix))

    def metrics(run: Run) -> str:
        own = run.folder / "metrics.csv" if run.folder else None
        home = [run.row[name] for name in ("scale", "paper", "experiment")]
        collected = content.results.joinpath(home[0], "collected", *home[1:], "metrics.csv")
        return link(own if own and own.is_file() else collected)

    made = environment(content, templates, autoescape=True)
    made.filters |= {"tally": tally, "in_words": in_words}
    made.globals |= {
        "slug": words.slug, "symbols": words.SYMBOLS, "given": GIVEN, "most_open": MOST_OPEN, "link": link,
        "figure": figure, "metrics": metrics,
        "experiments": {(claim.paper, claim.id): part.experiment.name
                        for part in content.parts if part.runs for claim in part.experiment.claims},
        "artefacts": {(piece.artefact.paper, piece.artefact.id) for piece in content.pieces},
    }  # fmt: skip
    css, js = (Markup((templates / name).read_text(encoding="utf-8")) for name in ("style.css", "table.js"))
    page = made.get_template("report.html").render(css=css, js=js)
    with writing(out / "index.html") as stream:
        stream.write(page)
    return out / "index.html"
