"""The report is built from whatever is there, says what is not, and is the same byte for byte when made
twice.
"""

import os
import shutil
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import judge
from tensor_rnns.drawing.render import render
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import Damaged, read_csv, read_json, write_json
from tensor_rnns.report.build import build
from tensor_rnns.report.gather import Content, core_hours
from tensor_rnns.report.templates import curves


def files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*.*"))}


@pytest.fixture
def without_latex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tensor_rnns.report.latex.shutil.which", lambda name: None)


@pytest.mark.usefixtures("without_latex")
def test_twice_the_same_bytes(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", "embedded", results)
    build(catalogue, "smoke", "embedded", results, out=results / "smoke" / "again")
    first, second = files(results / "smoke" / "report"), files(results / "smoke" / "again")
    assert {name for name in first if "/" not in name} == {"index.html", "report.tex", "appendix.tex"}
    assert len(first) == 14
    assert first == second


def test_core_hours_are_those_of_the_jobs():
    """A job's hours are shared by its replicas alike, since they took them together."""
    done, failed = {"stage": "final", "status": "done"}, {"stage": "search", "status": "failed"}
    records = [{"core_hours": 3.0, "replicas": [done]}, {"core_hours": 7.0, "replicas": [failed, failed]},
               {"core_hours": 5.0, "replicas": [failed | {"stage": "final"}, done]}]  # fmt: skip
    assert core_hours(records) == {"final": 8.0, "search": 7.0, "failed": 9.5}


def test_seconds_per_update_are_those_of_runs_that_did_not_fail(checkout):
    """Records that were made before took the cohort's seconds for the few updates of one that failed."""
    content = Content(checkout[0], "smoke", "embedded", checkout[1], ("abcdef0", False))
    (part,) = [part for part in content.parts if any(run.failed for run in part.runs)]
    for run in part.runs:
        run.row["seconds_per_update"] = "700" if run.failed else "0.5"
    assert {row["failed"]: row["seconds"] for row in curves(part)} == {0: "0.5", 1: "0.5"}


@pytest.mark.usefixtures("without_latex")
def test_a_missing_engine_is_said_in_one_line(checkout, capsys):
    build(checkout[0], "smoke", "embedded", checkout[1])
    said = capsys.readouterr().out.splitlines()
    assert said[-1] == "no PDF was made: no LaTeX engine was found (latexmk with pdflatex)"
    assert len(said) == 4


def test_an_engine_that_lacks_a_package_costs_its_pdfs_alone(checkout, capsys, monkeypatch, tmp_path):
    """The reason is said for each, and PDFs of an earlier report go."""
    for name in ("latexmk", "pdflatex"):
        (tmp_path / name).write_text("#!/bin/sh\necho '! File `booktabs.sty'\\'' not found.'\nexit 12\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    catalogue, results = checkout
    folder = results / "smoke" / "report"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.pdf").write_bytes(b"%PDF of yesterday")
    written = build(catalogue, "smoke", "embedded", results)
    assert [path.name for path in written] == ["index.html", "report.tex", "appendix.tex"]
    assert capsys.readouterr().out.splitlines()[3:] == [
        f"no PDF was made: {folder / name}: LaTeX failed: ! File `booktabs.sty' not found."
        for name in ("report.tex", "appendix.tex")
    ]
    assert not (folder / "report.pdf").exists()


@pytest.mark.usefixtures("without_latex")
def test_a_damaged_card_of_data_that_the_report_does_not_use_is_no_matter(checkout):
    catalogue, results = checkout
    ready = results / "data" / "ready"
    (ready / "jsb.json").write_text("{}")
    build(catalogue, "smoke", "embedded", results)
    (ready / "chorales.json").write_text("{}")
    with pytest.raises(Damaged, match=r"chorales\.json: it carries no digest"):
        build(catalogue, "smoke", "embedded", results)


@pytest.mark.usefixtures("without_latex")
def test_a_paper_that_never_ran_is_named_not_an_error(checkout):
    catalogue, results = checkout
    build(catalogue, "smoke", "embedded", results)
    pages = results / "smoke" / "report" / "pages"
    late = (pages / "late2017" / "later.html").read_text()
    assert "Not run at this scale." in late[late.index('id="artefact-late2017-fig-1"') :][:600]
    assert "planned, not run" in (pages / "coverage.html").read_text()
    shutil.rmtree(results)
    build(catalogue, "smoke", "embedded", results)
    assert "Nothing has been trained at this scale." in (pages / "runs.html").read_text()


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
    assert "3 of 7 drawn" in (aside / "report" / "index.html").read_text()
    page = (aside / "report" / "pages" / "made2016" / "addition.html").read_text()
    assert "made-2" in page
    assert "make figure NAME=fig-1 SCALE=smoke</code>" in page


@pytest.mark.usefixtures("without_latex")
def test_partial_joins_anew_what_was_planned_as_it_was_trained(checkout, capsys):
    """Runs of other settings and of curves that are not planned are left out by number; two of one replica
    leave out their experiment, by name."""
    catalogue, results = checkout
    home = results / "smoke" / "runs" / "made2016" / "addition" / "T20"
    record = home / "tgu/main/final-0/record.json"
    replica = read_json(record)["replicas"][0]
    write_json(record, read_json(record) | {"replicas": [replica | {"protocol": "old"}]}, run_name(replica))
    (results / "smoke" / "collected" / "made2016" / "addition" / "runs.csv").write_text("of before")
    build(catalogue, "smoke", "embedded", results, partial=True)
    assert "left out: made2016/addition: 1 of 6 runs are not of today's plan" in capsys.readouterr().out
    joined = results / "smoke-partial" / "collected" / "made2016" / "addition" / "runs.csv"
    seeds = [(row["variant"], row["seed"]) for row in read_csv(joined)]
    assert seeds == [("gru", "0"), ("gru", "1"), ("gru", "2"), ("tgu", "1"), ("tgu", "2")]
    shutil.copytree(home / "tgu/main/final-1", home / "tgu/main/final-7")
    build(catalogue, "smoke", "embedded", results, partial=True)
    said = capsys.readouterr().out
    assert "left out: made2016/addition: " in said
    assert "a second record of {" in said
    assert not joined.exists()


@pytest.mark.usefixtures("without_latex")
def test_a_report_is_of_its_own_scale_and_its_own_runs(checkout, run_at):
    """What lies beside it, of another scale or of a paper that is left out, changes no byte, and the PDF of
    an earlier report goes."""
    catalogue, results = checkout
    build(catalogue, "smoke", "embedded", results)
    before = files(results / "smoke" / "report")
    run_at(catalogue, results, "laptop")
    render(catalogue, "laptop", "made2016", "fig-1", results)
    judge(catalogue, "laptop", results)
    record = results / "smoke" / "runs" / "made2016" / "addition" / "T20/tgu/main/final-0" / "record.json"
    replicas = [read_json(record)["replicas"][0] | {"paper": "gone2015", "hash": "another"}]
    made = read_json(record) | {"processor": "Another", "core_hours": 7.0, "replicas": replicas}
    other = results / "smoke" / "runs" / "gone2015" / "addition" / "T20/tgu/main/final-0" / "record.json"
    write_json(other, made, run_name(replicas[0]))
    (results / "smoke" / "report" / "report.pdf").write_bytes(b"%PDF of yesterday")
    build(catalogue, "smoke", "embedded", results)
    assert files(results / "smoke" / "report") == before


@pytest.mark.latex
def test_pdf_twice_the_same_bytes_from_two_folders(checkout):
    catalogue, results = checkout
    made = [
        build(catalogue, "smoke", "embedded", results, out=results / "smoke" / name)[-2:]
        for name in ("report", "again")
    ]
    assert [path.name for path in made[0]] == ["report.pdf", "appendix.pdf"]
    for first, second in zip(*made, strict=True):
        assert first.read_bytes().startswith(b"%PDF")
        assert first.read_bytes() == second.read_bytes()
