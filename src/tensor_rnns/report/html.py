"""The report as HTML pages: index.html is the first screen, all else is loaded when wanted.

Pages open from disk, without network or server. Each holds its style and script; pictures are files that load
when they are seen.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from tensor_rnns.analysis.claims import form_of, selectors_of
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import GIVEN
from tensor_rnns.experiments import Claim, Experiment
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.files import writing
from tensor_rnns.report import words
from tensor_rnns.report.content import Piece, Run
from tensor_rnns.report.gather import Content
from tensor_rnns.report.sparks import HEIGHT, WIDTH, run_of, sparks
from tensor_rnns.report.templates import environment

HOME = "index.html"
PAGES = "pages"
"""The folder beside HOME that has all else."""
ON_PAGES = {"coverage": ("coverage", "statements"), "claims": ("claims",), "deviations": ("deviations",),
            "data": ("data",), "runs": ("runs", "failed"), "notes": ("notes", "versions")}  # fmt: skip
"""The pages beside those of the experiments, and the sections of each."""
SECTIONS = {"overview": HOME} | {
    section: f"{PAGES}/{page}.html" for page, sections in ON_PAGES.items() for section in sections
}
OF_RUN = {"metrics": ("metrics.csv", "metrics.csv"), "curves": ("curves.csv.gz", "curves.npz")}
"""The table of a run in its folder, and that of all runs, which stands in where the folder is gone."""
MOST_OPEN = 8
"""Claims of a table that stands open; a longer one is folded under its tally."""
SIZE = re.compile(r'<svg\b[^>]*\bviewBox="0 0 ([\d.]+) ([\d.]+)"')
DESCRIPTION = re.compile(r"<dc:description>(.*?)</dc:description>", re.S)


class Site:
    """Where each section of a report stands, and what its pages show beside texts."""

    def __init__(self, content: Content, out: Path):
        self.content, self.out = content, out
        self.homes: dict[tuple[str, str, str], str] = {}
        for piece in content.pieces:
            artefact = piece.artefact
            names = [("artefact", artefact.id), *(("claim", claim["claim"]) for claim in piece.claims)]
            self.homes |= {(kind, artefact.paper, name): artefact.experiment for kind, name in names}

    def place_of(self, kind: str, *names: str) -> tuple[str, str]:
        """(page, anchor) of a section; a claim or an artefact that no experiment shows is in its list."""
        anchor = words.slug(kind, *names)
        if not names or kind == "data":
            return SECTIONS[kind], anchor
        if kind in ("paper", "contents"):
            return HOME, anchor
        if kind in ("artefact", "claim"):
            if (kind, *names) not in self.homes:
                return self.place_of("claims" if kind == "claim" else "coverage")
            names = (names[0], self.homes[kind, *names])
        return f"{PAGES}/{names[0]}/{names[1]}.html", anchor

    def picture(self, svg: Path) -> tuple[Path, str, int, int]:
        """(copy among the pages, what it shows in words, width and height in pixels) of a drawn file."""
        text = svg.read_text(encoding="utf-8")
        copy = self.out / PAGES / "pictures" / svg.relative_to(self.content.results)
        with writing(copy) as stream:
            stream.write(text)
        description, size = DESCRIPTION.search(text), SIZE.search(text)
        width, height = (round(float(size[k]) * 4 / 3) for k in (1, 2)) if size else (640, 480)
        return copy, " ".join(unescape(description[1]).split()) if description else "Figure", width, height

    def pages(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """(file, template, its own variables) of each page."""
        yield HOME, HOME, {}
        for name in ON_PAGES:
            yield f"{PAGES}/{name}.html", f"{name}.html", {}
        for paper in self.content.papers:
            turns = [None, *(part.experiment for part in paper.parts), None]
            for part, before, after in zip(paper.parts, turns, turns[2:], strict=False):
                page, _ = self.place_of("experiment", paper.paper, part.experiment.name)
                tables = Tables(self.content.results, self.content.scale, paper.paper, part.experiment.name)
                own = {"paper": paper, "part": part, "before": before, "after": after}
                own["sparks"] = sparks(tables.collected / "curves.npz", tables.of)
                yield page, "experiment.html", own

    def seen_from(self, page: str) -> Mapping[str, Any]:
        """What a template on `page` is given: addresses that are relative to it."""

        def link(path: Path) -> str:
            return Path(os.path.relpath(path, (self.out / page).parent)).as_posix()

        def at(kind: str, *names: str, **narrowed: str) -> str:
            file, anchor = self.place_of(kind, *names)
            query = f"?{urlencode(narrowed)}" if narrowed else ""
            return f"{'' if file == page and not query else link(self.out / file)}{query}#{anchor}"

        def here(section: str) -> Markup:
            return Markup(' aria-current="page"') if SECTIONS[section] == page else Markup("")

        def picture(piece: Piece) -> Markup:
            svg = next(path for path in piece.files if path.suffix == ".svg")
            copy, *shown = self.picture(svg)
            form = '<img src="{}" alt="{}" width="{}" height="{}" loading="lazy" decoding="async">'
            return Markup(form).format(link(copy), *shown)

        def of_run(run: Run, table: str) -> str:
            own, joined = OF_RUN[table]
            tables = Tables(self.content.results, self.content.scale, run.row["paper"], run.row["experiment"])
            return link(run.folder / own if run.folder else tables.collected / joined)

        return {"link": link, "at": at, "here": here, "picture": picture, "of_run": of_run}


def narrowed(claim: Claim, experiment: Experiment, scale: str) -> dict[str, str]:
    """The choices above a table of runs that show those of a claim: its keys of one value."""
    main = experiment.main_option(scale)
    limits = [where.at(main).limits for where in selectors_of(form_of(claim))]
    named = {key: {limit.get(key) for limit in limits} for key in (*CURVE, "stage")}
    return {key.capitalize(): names[0] for key, (names, *others) in named.items()
            if names and len(names) == 1 and not others}  # fmt: skip


def write_html(content: Content, out: Path, templates: Path) -> Path:
    """Write `out`/index.html and, in `out`/pages, all that it leads to; pages of an earlier report go."""
    site = Site(content, out)
    made = environment(content, templates, autoescape=True)
    made.globals |= {
        "slug": words.slug, "symbols": words.SYMBOLS, "given": GIVEN, "most_open": MOST_OPEN,
        "pages": tuple(ON_PAGES), "run_of": run_of, "spark_size": f"{WIDTH} {HEIGHT}",
        "runs_of": {(claim.paper, claim.id): (on.name, narrowed(claim, on, content.scale))
                    for on in (part.experiment for part in content.parts if part.runs)
                    for claim in on.claims},
        "css": Markup((templates / "style.css").read_text(encoding="utf-8")),
        "js": Markup((templates / "table.js").read_text(encoding="utf-8")),
    }  # fmt: skip
    shutil.rmtree(out / PAGES, ignore_errors=True)
    for page, template, own in site.pages():
        with writing(out / page) as stream:
            stream.write(made.get_template(template).render(**site.seen_from(page), **own))
    return out / HOME
