"""Between two questions for the state of jobs no more than a tenth of the youngest one's age passes."""

import asyncio
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

PACKING = Path(__file__).parents[2] / "workflow" / "rules" / "packing.smk"


@pytest.fixture
def sleep_by_age(monkeypatch, tmp_path):
    """The function of packing.smk; Snakemake's own are put back afterwards."""
    for name in ("_handle_error", "job_selector", "schedule"):
        monkeypatch.setattr(JobScheduler, name, getattr(JobScheduler, name))
    monkeypatch.setattr(RemoteExecutor, "sleep", RemoteExecutor.sleep)
    # The one directive of the file is none of Python's.
    text = PACKING.read_text(encoding="utf-8").replace('resource_scopes:\n    gpu="local",\n', "")
    (tmp_path / "packing.py").write_text(text, encoding="utf-8")
    return runpy.run_path(str(tmp_path / "packing.py"))["sleep_by_age"]


@pytest.mark.parametrize(
    ("ages", "longest", "expected"),
    [
        ((0,), 5, 5),
        ((0, 9000), 45, 5),
        ((300,), 85, 30),
        ((300, 600), 85, 30),
        ((90000,), 180, 180),
        ((), 15, 5),
    ],
)
def test_the_wait_follows_the_age_of_the_youngest(sleep_by_age, monkeypatch, ages, longest, expected):
    waited = []

    async def note(seconds):
        waited.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", note)
    now = time.monotonic()
    executor = SimpleNamespace(
        next_seconds_between_status_checks=longest,
        workflow=SimpleNamespace(executor_settings=SimpleNamespace(init_seconds_before_status_checks=5)),
        first_seen={str(place): now - age for place, age in enumerate(ages)},
        active_jobs=[SimpleNamespace(external_jobid=str(place)) for place in range(len(ages))],
    )
    asyncio.run(sleep_by_age(executor))
    assert waited == [pytest.approx(expected, abs=0.5)]
