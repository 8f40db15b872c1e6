"""The report is built from whatever is there, says what is not, and is the same byte for byte when made
twice.
"""

import shutil
from pathlib import Path

import pytest

from tensor_rnns.report.build import build


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.fixture
def without_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)


@pytest.mark.usefixtures("without_latex")
def test_twice_the_same_bytes(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", "embedded", results)
    build(catalogue, "smoke", "embedded", results, out=results / "smoke" / "again")
    first, second = files(results / "smoke" / "report"), files(results / "smoke" / "again")
    assert sorted(first) == ["index.html", "report.tex"]
    assert first == second


@pytest.mark.usefixtures("without_latex")
def test_a_missing_engine_is_said_in_one_line(checkout, capsys):
    build(checkout[0], "smoke", "embedded", checkout[1])
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "report.pdf was not made: no LaTeX engine was found (latexmk with pdflatex)"
    assert len(said) == 3


@pytest.mark.usefixtures("without_latex")
def test_a_paper_that_never_ran_is_named_not_an_error(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", "embedded", results)
    page = (results / "smoke" / "report" / "index.html").read_text()
    late = page[page.index('id="artefact-late2017-fig-1"') :]
    assert "Not run at this scale." in late[:600]
    assert "planned, not run" in page
    shutil.rmtree(results)
    build(catalogue, "smoke", "embedded", results)
    assert (
        "Nothing has been trained at this scale." in (results / "smoke" / "report" / "index.html").read_text()
    )


@pytest.mark.usefixtures("without_latex")
def test_partial_draws_and_judges_what_is_there_aside(checkout, capsys):
    catalogue, results = checkout
    drawn = {path.relative_to(results / "smoke") for path in results.glob("smoke/figures/**/*.*")}
    assert len(drawn) == 4
    shutil.rmtree(results / "smoke" / "figures")
    (results / "smoke" / "claims.csv").unlink()
    before = sorted(path for path in (results / "smoke").rglob("*"))
    build(catalogue, "smoke", "embedded", results, partial=True)
    said = capsys.readouterr().out.splitlines()
    assert sorted(path for path in (results / "smoke").rglob("*")) == before
    aside = results / "smoke-partial"
    assert {path.relative_to(aside) for path in aside.glob("figures/**/*.*")} == drawn
    assert [line for line in said if line.startswith("left out")] == [
        "left out: late2017 fig-1: later was not run at scale smoke-partial"
    ]
    assert "made-2" in (aside / "claims.csv").read_text()
    page = (aside / "report" / "index.html").read_text()
    assert "made-2" in page
    assert "3 of 7 drawn at this scale" in page
    assert "make figure NAME=fig-1 SCALE=smoke</code>" in page


@pytest.mark.latex
def test_pdf_twice_the_same_bytes_from_two_folders(checkout):
    catalogue, results = checkout
    made = [
        build(catalogue, "smoke", "embedded", results, out=results / "smoke" / name)[-1]
        for name in ("report", "again")
    ]
    first, second = (path.read_bytes() for path in made)
    assert first.startswith(b"%PDF")
    assert first == second
