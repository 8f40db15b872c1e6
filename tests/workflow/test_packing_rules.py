"""What jobs ask a cluster for, and that between two questions for their state no more than a tenth of the age
of the youngest one passes."""

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
def packing(monkeypatch, tmp_path):
    """The functions of packing.smk, on a cluster; Snakemake's own are put back afterwards."""
    for name in ("_handle_error", "job_selector", "schedule"):
        monkeypatch.setattr(JobScheduler, name, getattr(JobScheduler, name))
    monkeypatch.setattr(RemoteExecutor, "sleep", RemoteExecutor.sleep)
    # The one directive of the file is none of Python's.
    text = PACKING.read_text(encoding="utf-8").replace('resource_scopes:\n    gpu="local",\n', "")
    (tmp_path / "packing.py").write_text(text, encoding="utf-8")
    cluster = {
        "workflow": SimpleNamespace(local_exec=False, is_main_process=True),
        "config": {"longest_job": 60},
    }
    return SimpleNamespace(**runpy.run_path(str(tmp_path / "packing.py"), cluster))


@pytest.fixture
def sleep_by_age(packing):
    return packing.sleep_by_age


def test_a_job_asks_for_no_more_minutes_than_the_longest_that_is_allowed(packing, monkeypatch):
    """And for as many megabytes as ever."""
    asked = {
        what: packing.asked_for("train", what, otherwise)
        for what, otherwise in (("minutes", 25), ("memory", 2000))
    }
    monkeypatch.setitem(packing.asked_for.__globals__, "cluster_jobs", lambda scale: ({}, {}))
    wildcards = SimpleNamespace(scale="paper", items={"scale": "paper"}.items)
    assert [asked["minutes"](wildcards, attempt) for attempt in (1, 2, 3)] == [25, 50, 60]
    assert [asked["memory"](wildcards, attempt) for attempt in (1, 3)] == [2000, 6000]
    packing.config["longest_job"] = 0
    assert asked["minutes"](wildcards, 3) == 75


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
