"""The first screen stays small at a thousand runs of five documents; its time is printed, not judged."""

import re
from pathlib import Path

import pytest

from benchmarks.first_screen import measure
from tensor_rnns.analysis.judge import judge
from tensor_rnns.experiments import Catalogue
from tensor_rnns.report.build import build
from tests.report.conftest import COMPUTED_FILE, PAPER, TRAINED, VALUES, write_home, write_runs

PAPERS = ("one2011", "two2012", "three2013", "four2014", "five2015")
SECTIONS = 24
"""Computed experiments of each, beside the one that is trained: as many as the longest document has."""
MOST_BYTES, MOST_NODES = 500_000, 10_000


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    """The folder of the report of five documents with 200 runs each, below paper_roots of their own."""
    home = tmp_path_factory.mktemp("large") / "checkout"
    with pytest.MonkeyPatch.context() as patch:
        write_home(home, patch)
        patch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)
        for order, paper in enumerate(PAPERS):
            folder = home / f"root{order}" / paper
            folder.mkdir(parents=True)
            (folder / "paper.yaml").write_text(f"{PAPER}order: {order}\n")
            (folder / "values.csv").write_text(VALUES.replace("made-", f"made-{order}-"))
            trained = TRAINED.replace("smoke: {seeds: 3", "smoke: {seeds: 100")
            (folder / "addition.yaml").write_text(trained.replace("made-", f"made-{order}-"))
            for number in range(SECTIONS):
                own = COMPUTED_FILE.replace("fig-2", f"fig-{number + 20}").replace("made-", f"made-{order}-")
                (folder / f"section-{number}.yaml").write_text(own)
        catalogue = Catalogue.load([home / f"root{order}" for order in range(len(PAPERS))])
        for paper in PAPERS:
            write_runs(catalogue, home / "results", "smoke", paper)
        judge(catalogue, "smoke", home / "results")
        yield build(catalogue, "smoke", "embedded", home / "results")[0].parent


@pytest.mark.browser
def test_the_first_screen_is_small_at_a_thousand_runs_of_five_documents(browser, large):
    runs = sum(
        page.read_text(encoding="utf-8").count('<tr id="run-') for page in large.rglob("addition.html")
    )
    assert runs == 1000
    page = large / "index.html"
    found = measure(browser, page, loads=3)
    print(found)
    assert len(re.findall(r'<section id="paper-', page.read_text(encoding="utf-8"))) == len(PAPERS)
    assert found["bytes"] < MOST_BYTES
    assert found["nodes"] < MOST_NODES
    assert found["painted"] > 0
    assert found["usable"] <= found["loaded"]
