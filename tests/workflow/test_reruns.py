"""A finished run is redone exactly as far as a change reaches: jobs are counted by Snakemake's own dry
run."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

LAST = {"judge": 1, "report": 1, "all": 1}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, project, snakemake) -> Path:
    """A copy of the project with the smoke scale of addition and sizes run to the report."""
    folder = project(tmp_path_factory.mktemp("project"))
    snakemake(folder, "--quiet", "rules")
    assert (folder / "results" / "smoke" / "report" / "index.html").exists()
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
        {"train": 1, "collect": 1, "draw_figure": 2, "draw_table": 2, **LAST},
    ),
}  # fmt: skip
"""What else can be edited is counted in `test_edits`, without a real run."""


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


def test_a_new_cohort_size_cuts_the_jobs_anew(finished, planned, snakemake):
    """With cohorts of one, each of three variants with two seeds has two jobs; what is finished is not
    trained again."""
    assert planned("cohort_size=1") == {
        "train": 6, "probe": 2, "collect": 1, "draw_figure": 2, "draw_table": 2, **LAST
    }  # fmt: skip
    snakemake(finished, "--quiet", "rules", config=("cohort_size=1",))
    logs = sorted(finished.glob("results/smoke/logs/train/**/final-1.log"))
    assert len(logs) == 3
    assert all("all 1 replicas are finished; nothing to train" in log.read_text() for log in logs)
