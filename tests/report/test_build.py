"""The report is built from whatever is there, says what is not, and is the same byte for byte when made twice."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns.report.build import build


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_twice_the_same_bytes(checkout, tmp_path):
    catalogue, results = checkout
    build(catalogue, "smoke", results, results / "smoke" / "report", pdf=False)
    build(catalogue, "smoke", results, results / "smoke" / "again", pdf=False)
    first, second = files(results / "smoke" / "report"), files(results / "smoke" / "again")
    assert sorted(first) == ["index.html", "report.tex"]
    assert first == second


def test_a_paper_that_never_ran_is_named_not_an_error(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", results, pdf=False)
    page = (results / "smoke" / "report" / "index.html").read_text()
    late = page[page.index('id="artefact-late2017-fig-1"') :]
    assert "Not run at this scale." in late[:600]
    assert "planned, not run" in page
    shutil.rmtree(results)
    build(catalogue, "smoke", results, pdf=False)
    assert "Nothing has been trained at this scale." in (results / "smoke" / "report" / "index.html").read_text()


@pytest.mark.latex
def test_pdf(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", results)
    first = (results / "smoke" / "report" / "report.pdf").read_bytes()
    assert first.startswith(b"%PDF")
    build(catalogue, "smoke", results)
    assert (results / "smoke" / "report" / "report.pdf").read_bytes() == first
