"""The report of the project's own papers, with stand-ins for drawings: small first screen, short article."""

import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import paths, table_of
from tensor_rnns.drawing.tables import RECORD, Table
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv, write_csv
from tensor_rnns.report.build import build

ROOT = Path(__file__).parents[2]
MOST_PAGES = 50
"""Of the article; what it has no room for is in the appendix."""
MOST_OF_FIRST_SCREEN = 300_000
"""Bytes of index.html, of five documents at most."""
ROWS = 28
"""Of a stand-in for a table, as many as the longest printed one has."""


def stand_in_drawings(catalogue: Catalogue, results: Path, aside: Path) -> None:
    """A figure of the usual size and a table of ROWS rows under the name of every artefact."""
    figure, axes = plt.subplots(figsize=(6.3, 3.7))
    axes.plot([1, 2, 3])
    for ending in ("svg", "pdf"):
        figure.savefig(aside / f"figure.{ending}")
    plt.close(figure)
    keys = {"column": "error", "shown": "0.25", "n": 5, "failed": 0}
    rows = [dict.fromkeys(RECORD, "") | keys | {"row": k, "row_title": f"row {k}"} for k in range(ROWS)]
    table = Table(["row"], rows)
    for artefact in catalogue.artefacts.values():
        for path in paths(results, "laptop", artefact):
            path.parent.mkdir(parents=True, exist_ok=True)
            if path.suffix in (".svg", ".pdf"):
                shutil.copy(aside / f"figure{path.suffix}", path)
            elif path.suffix == ".csv":
                table.write_csv(path, table_of(artefact, "laptop"))
            elif path.suffix == ".tex":
                with open(path, "w", encoding="utf-8") as stream:
                    table.write_tex(stream)
            else:
                path.write_bytes(b"")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a report in which all is drawn, nothing has run, and one claim in twenty is amiss."""
    catalogue, results = Catalogue.load(ROOT / "workflow" / "papers"), tmp_path_factory.mktemp("results")
    stand_in_drawings(catalogue, results, tmp_path_factory.mktemp("aside"))
    judge(catalogue, "laptop", results)
    claims = list(read_csv(results / "laptop" / "claims.csv", of="laptop"))
    for claim in claims[::20]:
        claim["verdict"] = "not reproduced"
    write_csv(results / "laptop" / "claims.csv", claims, list(claims[0]), "laptop")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SOURCE_DATE_EPOCH", "1479686400")
        patch.chdir(ROOT)
        return build(catalogue, "laptop", "embedded", results)[0].parent


def test_the_first_screen_is_small_however_much_was_drawn(report):
    assert (report / "index.html").stat().st_size < MOST_OF_FIRST_SCREEN
    assert len(list(report.rglob("*.svg"))) > 40


def test_every_link_between_the_pages_leads_to_an_anchor(report):
    ids, links = {}, []
    for path in report.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        ids[path.resolve()] = set(re.findall(r' id="([^"]+)"', text))
        links += [(path, *link) for link in re.findall(r' href="([^"#?]*)(?:\?[^"#]*)?#([^"]*)"', text)]
    assert len(links) > 2000
    dead = [
        (path.name, address, anchor)
        for path, address, anchor in links
        if anchor not in ids.get((path.parent / address).resolve() if address else path.resolve(), ())
    ]
    assert dead == []


def test_no_heading_leaves_out_a_level(report):
    for path in report.rglob("*.html"):
        levels = [1, *map(int, re.findall(r"<h(\d)", path.read_text(encoding="utf-8")))]
        assert all(below <= above + 1 for above, below in pairwise(levels)), path


@pytest.mark.latex
def test_the_article_is_short_and_the_appendix_has_the_rest(report):
    said = subprocess.run(
        ["pdfinfo", report / "report.pdf"], capture_output=True, text=True, check=True
    ).stdout
    assert (report / "appendix.pdf").is_file()
    assert 10 < int(re.search(r"Pages:\s+(\d+)", said)[1]) <= MOST_PAGES
    article, appendix = (
        (report / name).read_text(encoding="utf-8") for name in ("report.tex", "appendix.tex")
    )
    assert "not reproduced" in article
    assert "not judged: " not in article
    shown = [re.findall(r"\\(?:includegraphics\[.*?\]|input)\{(.*?)\}", text) for text in (article, appendix)]
    assert set(shown[0]).isdisjoint(shown[1])
    assert min(map(len, shown)) > 20
