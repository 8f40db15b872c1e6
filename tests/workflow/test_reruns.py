"""A finished run is redone exactly as far as a change reaches: jobs are counted by Snakemake's own dry
run."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

LAST = {"judge": 1, "report": 1, "all": 1}
AS_MAKE = ("workflow/scripts/snakemake_locked.py",)
"""How `make` starts Snakemake: with a process that its commands share."""


@pytest.fixture(scope="module")
def failed(tmp_path_factory, project, snakemake) -> tuple[Path, dict[str, int]]:
    """A copy of the project in which a run of the smoke scale of addition and sizes failed, as the code of
    training ends in a crash, and the sizes of the files of results that are there. The code is mended."""
    folder = project(tmp_path_factory.mktemp("project"))
    loop = folder / "src" / "tensor_rnns" / "training" / "loop.py"
    text = loop.read_text()
    loop.write_text(text + "\n1 / 0\n")
    with pytest.raises(AssertionError, match="division by zero") as error:
        snakemake(folder, "--keep-going", start=AS_MAKE)
    # What failed is said again after the partial report, where it is read.
    assert "division by zero" in str(error.value).rsplit("smoke-partial/report/", 1)[1]
    loop.write_text(text)
    results = folder / "results"
    there = [path for path in results.rglob("*") if path.is_file()]
    return folder, {str(path.relative_to(results)): path.stat().st_size for path in there}


@pytest.fixture(scope="module")
def finished(failed, snakemake) -> Path:
    """The same copy, run to the report."""
    folder, _ = failed
    snakemake(folder, "--keep-going", "--quiet", "rules", start=AS_MAKE)
    return folder


@pytest.fixture(scope="module")
def planned(finished, snakemake) -> Callable[..., dict[str, int]]:
    """What a dry run would do: {rule: jobs}, {} where nothing is to be done."""

    def plan(*config: str) -> dict[str, int]:
        found = snakemake(finished, "--dry-run", config=config)
        said = found.stdout + found.stderr
        if "Nothing to be done" in said:
            return {}
        table = said[said.index("Job stats:") :]
        jobs = {m[1]: int(m[2]) for m in re.finditer(r"^(\w+) +(\d+)$", table, flags=re.MULTILINE)}
        del jobs["total"]
        return jobs

    return plan


ADDITION = "workflow/papers/mathews2016/addition.yaml"
CHANGES = {
    "a claim": (ADDITION, "passing: {within: 1810}", "passing: {within: 1800}", LAST),
    "another variant": (
        ADDITION, "variants: [tgu, gru, lstm]", "variants: [tgu, gru, lstm, irnn]",
        {"train": 1, "collect": 1, "draw_figure": 2, "draw_table": 3, **LAST},
    ),
}  # fmt: skip
"""What else can be edited is counted in `test_edits`, without a real run."""


def test_a_failed_job_leaves_a_partial_report_and_the_work_undone(failed, finished):
    """A crash fails the training; the partial report is no target; mended, the run goes on to the end."""
    _, there = failed
    assert there["smoke-partial/report/index.html"] > 1000
    for target in ("report/index.html", "claims.csv", "figures/mathews2016/fig-5.1.svg"):
        assert f"smoke/{target}" not in there
    results = finished / "results" / "smoke"
    assert "mathews2016: addition, sizes (" in (results / "report" / "index.html").read_text()
    assert (results / "runs/mathews2016/addition/T250/lstm/authors-rates/final-0/metrics.csv").exists()


def test_nothing_changed_nothing_to_do(finished, planned):
    """The second run of an unchanged project has no job, also when a file was only touched."""
    assert planned() == {}
    (finished / ADDITION).touch()
    assert planned() == {}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_reaches_what_depends_on_it(finished, planned, change):
    """The jobs after one text of one file is changed, rule by rule; the file is put back."""
    name, before, after, expected = CHANGES[change]
    path = finished / name
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after, 1))
    try:
        assert planned() == expected
    finally:
        path.write_text(text)


def test_rules_that_decide_verdicts_judge_and_draw_again(finished, planned):
    """Which seeds pair and which runs count stands beside the catalogue, not in the room of analysis."""
    path = finished / "src" / "tensor_rnns" / "experiments" / "streams.py"
    text = path.read_text()
    path.write_text(text + "\n\nCHANGED = 1\n")
    try:
        assert planned() == {"draw_figure": 2, "draw_table": 4, **LAST}
    finally:
        path.write_text(text)


def test_what_no_job_depends_on_makes_nothing_again(finished, planned):
    """Larger cohorts than there are seeds, and other data where none are used but in words."""
    assert planned("cohort_size=1000") == {}
    assert planned("data=real", "mirrors=file:///none") == {"report": 1, "all": 1}


def test_a_latex_engine_that_comes_or_goes_makes_the_report_again(finished, planned, tmp_path, monkeypatch):
    """It decides whether there is a PDF."""
    for name in ("latexmk", "pdflatex"):
        if not shutil.which(name):
            (tmp_path / name).touch(mode=0o700)
    for path in (path for folder in os.get_exec_path() for path in Path(folder).glob("*")):
        if path.name not in ("latexmk", "pdflatex") and not (tmp_path / path.name).is_symlink():
            (tmp_path / path.name).symlink_to(path)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert planned() == {"report": 1, "all": 1}


def test_files_that_no_job_here_has_made_are_made(finished, planned, snakemake):
    """As a recorder's, beside which nothing says with which settings they were trained."""
    run = "results/smoke/runs/mathews2016/addition/T250/lstm/authors-rates/final-0"
    files = [str(path.relative_to(finished)) for path in (finished / run).iterdir()]
    snakemake(finished, "--cleanup-metadata", *files)
    assert planned()["train"] == 1


def test_a_new_cohort_size_cuts_the_jobs_anew(finished, planned, snakemake):
    """With cohorts of one, each of three variants with two seeds has two jobs; what is finished is not
    trained again."""
    assert planned("cohort_size=1") == {
        "train": 6, "probe": 2, "collect": 1, "draw_figure": 2, "draw_table": 3, **LAST
    }  # fmt: skip
    snakemake(finished, "--quiet", "rules", config=("cohort_size=1",), start=AS_MAKE)
    logs = sorted(finished.glob("results/smoke/logs/train/**/final-1.log"))
    assert len(logs) == 3
    assert all("all 1 replicas are finished; nothing to train" in log.read_text() for log in logs)
