"""Make again what an archive says was made of its runs: tables, drawings, verdicts, reports.

What is taken as given lies in the runs, the tables of probes and of computed experiments, and the facts of
data sets; everything else is made of these by the code that is installed, in a folder of its own.
"""

import re
from collections.abc import Iterator
from contextlib import redirect_stdout, suppress
from datetime import UTC, datetime
from html import unescape
from io import StringIO
from pathlib import Path

from tensor_rnns.analysis import stopping
from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import paths, render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import DRAWN, RECORDED
from tensor_rnns.experiments.run_folders import RECORD
from tensor_rnns.report.gather import Content
from tensor_rnns.report.html import HOME, PAGES, write_html
from tensor_rnns.report.latex import write_latex
from tensor_rnns.report.provenance import Commit
from tensor_rnns.report.recorded import join_probes

GIVEN = ("runs", "computed", "probes")
"""Folders of a scale that nothing here can make: they need training, torch or data."""
MADE = ("collected", *DRAWN, "claims.csv", "board.json", "report")
COMMIT = re.compile(r"<dt>Commit</dt><dd><code>(.*?)</code>, (\d{4}-\d\d-\d\d)")
PYTHON = re.compile(r"<dt>python \(report\)</dt><dd>(.*?)</dd>")
DIRTY = ", with uncommitted changes"


class Scale:
    """The results of one scale, `given`/`scale`, and the folder `again` in which they are made again."""

    def __init__(
        self, catalogue: Catalogue, scale: str, data: str, given: Path, again: Path, templates: Path
    ):
        self.catalogue, self.scale, self.data, self.templates = catalogue, scale, data, templates
        self.given, self.again, self.results = given / scale, again / scale, again
        self.commit = Commit("unknown", False, 0)
        self.again.mkdir(parents=True)
        for name in GIVEN if scale != RECORDED else GIVEN[:2]:
            (self.again / name).symlink_to(self.given / name, target_is_directory=True)
        (self.again / stopping.FILE.name).symlink_to(self.given / stopping.FILE.name)

    def tables(self) -> Iterator[str]:
        """Join the runs of each experiment; of recorded ones, what was taken from each, too."""
        for (paper, name), experiment in self.catalogue.experiments.items():
            home = self.again / "runs" / paper / name
            folders = sorted(path.parent for path in home.rglob(RECORD))
            joined = Path("collected", paper, name)
            if folders and ((self.given / "claims.csv").exists() or (self.given / joined).exists()):
                yield f"{paper}/{name}: {len(folders)} run folders"
                collect(folders, self.again / joined)
                if self.scale == RECORDED:
                    join_probes(experiment, home, self.again / "probes" / paper / name)

    def drawings(self) -> Iterator[str]:
        """Draw every figure and table of the experiments whose tables are given; of a record without a report
        of its own those that were drawn, as a report of another scale draws what it shows."""
        whole = self.scale != RECORDED or (self.given / "report" / HOME).exists()
        for (paper, name), artefact in self.catalogue.artefacts.items():
            home = self.given / "collected" / paper / artefact.experiment
            computed = self.given / "computed" / paper / f"{artefact.experiment}.csv"
            shown = whole or any(path.exists() for path in paths(self.given.parent, self.scale, artefact))
            if shown and (home.exists() or computed.exists()):
                # What cannot be drawn was not drawn either; if it was, the comparison says so.
                with suppress(ValueError):
                    render(self.catalogue, self.scale, paper, name, self.results)
                    yield f"{paper} {name}"

    def verdicts(self) -> int:
        """Judge every claim, where that was done; returns how many there are."""
        if not (self.given / "claims.csv").exists():
            return 0
        return len(judge(self.catalogue, self.scale, self.results))

    def report(self) -> None:
        """Write the pages and the LaTeX source of the report, where there is one."""
        home = self.given / "report" / HOME
        if home.exists():
            self.commit, python = stamp(home)
            content = Content(self.catalogue, self.scale, self.data, self.results, self.commit)
            content.versions["python (report)"] = python
            out = self.again / "report"
            with redirect_stdout(StringIO()):
                write_latex(content, out, self.templates)
                write_html(content, out, self.templates)


def stamp(home: Path) -> tuple[Commit, str]:
    """The commit and the Python that a report names, which no run can tell: both are taken as given."""
    commit = COMMIT.search(home.read_text(encoding="utf-8"))
    python = PYTHON.search((home.parent / PAGES / "notes.html").read_text(encoding="utf-8"))
    if commit is None or python is None:
        raise ValueError(f"{home}: the report names no commit or no Python")
    day = datetime.fromisoformat(commit[2]).replace(tzinfo=UTC)
    name = commit[1].removesuffix(DIRTY)
    return Commit(name, commit[1].endswith(DIRTY), int(day.timestamp())), unescape(python[1])
