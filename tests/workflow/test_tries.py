"""A try that a time limit ended counts, unless it was the longest job and the training got further."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.jobs import Job
from snakemake_interface_executor_plugins.executors.base import AbstractExecutor

FAILURES = Path(__file__).parents[2] / "workflow" / "rules" / "failures.smk"


class Training(SimpleNamespace):
    """A job of Snakemake, which is one of a set."""

    __hash__ = object.__hash__


@pytest.fixture
def failures(monkeypatch, tmp_path):
    """The functions of failures.smk; Snakemake's own are put back afterwards."""
    for name in ("run_job_pre", "report_job_error", "report_job_success"):
        monkeypatch.setattr(AbstractExecutor, name, getattr(AbstractExecutor, name))
    monkeypatch.setattr(Job, "restart_times", Job.restart_times)
    (tmp_path / "failures.py").write_text(FAILURES.read_text(encoding="utf-8"), encoding="utf-8")
    given = {"config": {}, "logger": SimpleNamespace(error=lambda text: None)}
    return SimpleNamespace(**runpy.run_path(str(tmp_path / "failures.py"), given))


@pytest.mark.parametrize(
    ("longest", "reached", "attempts"),
    [
        (0, (3, 6), [2, 2]),
        (90, (3, 6), [2, 2]),
        (60, (3, 6), [0, 0]),
        (60, (3, 3), [0, 2]),
        (60, (3, 2), [0, 2]),
    ],
)
def test_tries_are_counted_anew_where_the_longest_job_got_further(
    failures, tmp_path, longest, reached, attempts
):
    """Of a training that asked for sixty minutes, in its second try."""
    failures.config["longest_job"] = longest
    log, left = tmp_path / "train.log", []
    for update in reached:
        log.unlink(missing_ok=True)
        job = Training(
            attempt=2, resources={"runtime": 60}, log=[str(log)], input=[], output=[],
            wildcards_dict={"variant": "gru"}, rule=SimpleNamespace(name="train"), is_group=lambda: False,
        )  # fmt: skip
        failures.STATES_OF_LOGS[str(log)] = failures.state_of(str(log))
        words = f"stopped at update {update} of 9; the checkpoint is written; another try may pass"
        log.write_text(f"tensor-rnns: {words}\n", encoding="utf-8")
        failures.say_why(
            None, SimpleNamespace(job=job), "status is: 'TIMEOUT'", proceed=lambda *_, **__: None
        )
        left.append(job.attempt)
    assert left == attempts
