"""The controller's work per job does not grow with the number of jobs: few passes, few candidates."""

import asyncio
import os
import re
import runpy
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import pytest
from snakemake.scheduling.job_scheduler import JobScheduler

RULES = Path(__file__).parents[2] / "workflow" / "rules" / "scheduler.smk"
JOBS = 130
WORKFLOW = f"""
import atexit
import threading
from snakemake.scheduling.job_scheduler import JobScheduler
include: {str(RULES)!r}
evaluated, passes, candidates, timers = [], [], [], []
select, start = JobScheduler.job_selector, threading.Timer.start

def count_pass(scheduler, ready):
    passes.append(len(ready))
    greedy = scheduler.job_selector_greedy
    scheduler.job_selector_greedy = lambda jobs, *more: candidates.append(len(jobs)) or greedy(jobs, *more)
    chosen = select(scheduler, ready)
    scheduler.job_selector_greedy = greedy
    return chosen

def count_timer(timer):
    timers.append(timer)
    start(timer)

JobScheduler.job_selector = count_pass
threading.Timer.start = count_timer
if workflow.is_main_process:
    atexit.register(lambda: print("COUNTED", len(evaluated), len(passes), max(candidates), len(timers)))

rule all:
    input: expand("out/{{i}}", i=range({JOBS}))
rule one:
    output: "out/{{i}}"
    params: digest=lambda wildcards: evaluated.append(1) or "digest"
    shell: "echo > {{output}}"
"""


@pytest.fixture
def rules(monkeypatch):
    """The functions of scheduler.smk; Snakemake's own are put back afterwards."""
    names = "_schedule_reevalutation", "open_jobs", "remaining_jobs", "job_selector", "update_input_sizes"
    for name in names:
        monkeypatch.setattr(JobScheduler, name, getattr(JobScheduler, name))
    return SimpleNamespace(**runpy.run_path(str(RULES)))


def test_many_jobs_start_few_timers_and_look_at_few_candidates(tmp_path):
    (tmp_path / "Snakefile").write_text(WORKFLOW)
    line = [sys.executable, "-m", "snakemake", "--cores", "2", "--quiet", "all"]
    began = time.monotonic()
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    counted = next(text for text in done.stdout.splitlines() if text.startswith("COUNTED"))
    evaluated, passes, candidates, timers = map(int, counted.split()[1:])
    assert len(os.listdir(tmp_path / "out")) == JOBS
    # Once for the graph and once before the job starts.
    assert evaluated <= 2 * JOBS
    assert candidates == 100 < JOBS
    assert timers <= time.monotonic() - began + 2
    # One for each job that ended and for each timer.
    assert passes <= JOBS + timers + 2


def test_one_pass_waits_however_often_one_is_asked_for(rules):
    scheduler = SimpleNamespace(_open_jobs=threading.Semaphore(0))
    before = threading.active_count()
    for _ in range(50):
        rules.schedule_one_more_pass(scheduler, 0.2)
    assert threading.active_count() == before + 1
    assert scheduler._open_jobs.acquire(timeout=20)
    assert not scheduler._open_jobs.acquire(timeout=0.5)
    rules.schedule_one_more_pass(scheduler, 0.01)
    assert scheduler._open_jobs.acquire(timeout=20)


class Job:
    """A job of a rule, or with `group` a pack of jobs."""

    def __init__(self, name, group=False):
        self.name = name
        self.is_group = lambda: group
        if not group:
            self.rule = SimpleNamespace(name=name)


def names(jobs):
    return Counter(job.name for job in jobs)


def test_every_rule_has_candidates_and_a_dry_run_all(rules):
    jobs = [Job("train") for _ in range(500)] + [Job("draw")] + [Job("pack", group=True) for _ in range(101)]
    dag = SimpleNamespace(_ready_jobs=set(jobs))
    scheduler = SimpleNamespace(dryrun=False, workflow=SimpleNamespace(dag=dag))
    assert names(rules.few_of_each_rule(scheduler)) == {"train": 100, "draw": 1, "pack": 100}
    assert rules.few_of_each_rule(SimpleNamespace(dryrun=True), lambda scheduler: jobs) == jobs


def test_started_and_finished_jobs_are_no_candidates_and_new_ones_are(rules):
    """As Snakemake's graph does it: a set, from which jobs are taken, and to which others are added."""
    jobs = [Job("train") for _ in range(130)] + [Job("draw")]
    dag = SimpleNamespace(_ready_jobs=set(jobs))
    scheduler = SimpleNamespace(dryrun=False, workflow=SimpleNamespace(dag=dag))
    started = set(rules.few_of_each_rule(scheduler)) | {Job("of another graph")}
    dag._ready_jobs -= started
    assert set(rules.few_of_each_rule(scheduler)) == dag._ready_jobs == set(jobs) - started
    with pytest.raises(KeyError):
        dag._ready_jobs.remove(jobs[-1])
    dag._ready_jobs.update([Job("draw"), Job("draw")])
    assert names(rules.few_of_each_rule(scheduler)) == {"train": 30, "draw": 2}
    dag._ready_jobs.clear()
    assert rules.few_of_each_rule(scheduler) == []


class File(str):
    """A file that counts how often its size is asked for."""

    asked: ClassVar[list[str]] = []

    async def exists(self):
        return self != "absent"

    async def size(self):
        self.asked.append(self)
        return len(self)


def test_a_file_is_looked_at_once_and_the_greedy_way_finds_every_size(rules):
    """Of more files than are kept, those of the jobs at hand are known."""
    scheduler = SimpleNamespace(_input_sizes={})

    def run_pass(*paths):
        jobs = [SimpleNamespace(input=[File(path), File("shared")]) for path in paths]
        asyncio.run(rules.size_new_files(scheduler, jobs))
        return [scheduler._input_sizes[path] for job in jobs for path in job.input]

    assert run_pass("a", "bc") == [1, 6, 2, 6]
    assert run_pass("bc", "def", "absent") == [2, 6, 3, 6, None, 6]
    assert sorted(File.asked) == ["a", "bc", "def", "shared"]
    for first in range(0, 15_000, 100):
        assert len(run_pass(*map(str, range(first, first + 100)))) == 200
    assert len(File.asked) < 15_100
    assert len(scheduler._input_sizes) <= rules.MOST_SIZES + 101


def test_a_full_machine_starts_none(rules):
    scheduler = SimpleNamespace(resources={"_cores": 2}, job_selector_greedy="greedy")
    assert rules.select_greedily(scheduler, ["train"], lambda scheduler, ready: ready) == ["train"]
    assert scheduler._job_selector == "greedy"
    scheduler.resources["_cores"] = 0
    assert rules.select_greedily(scheduler, ["train"], lambda scheduler, ready: ready) == []


def test_remaining_jobs_are_not_looked_for_while_jobs_are_selected(rules):
    def remaining(scheduler):
        return ["train"]

    scheduler = SimpleNamespace(resources={"_cores": 2}, job_selector_greedy="greedy")

    def select(scheduler, ready):
        return rules.remaining_when_asked_for(scheduler, remaining)

    assert rules.select_greedily(scheduler, ["train"], select) == []
    assert rules.remaining_when_asked_for(scheduler, remaining) == ["train"]


def test_the_share_of_the_controller_is_said(rules):
    assert re.fullmatch(
        r"controller: \d+ s of processor time in \d+ s, \d+\.\d % of a core", rules.controller_share()
    )


def test_the_release_of_the_scheduler_is_one_that_was_looked_at(rules):
    """Another release runs as it is: read its scheduler, then change the guard or remove the file."""
    assert JobScheduler.job_selector is rules.select_greedily
