# Snakemake's scheduler, made as cheap for thousands of jobs as for hundreds. Each of its passes starts a timer for
# another one a second later, so that passes never get fewer, and each looks at every job and solves an integer programme
# over those that are ready (snakemake issues 2967, 3744, 3804). Neither can be set from a workflow.
import itertools
import threading
import time
from collections import defaultdict
from types import SimpleNamespace

from snakemake import __version__
from snakemake.scheduling.job_scheduler import JobScheduler

CANDIDATES = 100
MOST_SIZES = 5_000
STARTED = time.monotonic()


def controller_share():
    """What Snakemake itself has used of a core since it began to read the workflow, in words."""
    used, passed = time.process_time(), time.monotonic() - STARTED
    return f"controller: {used:.0f} s of processor time in {passed:.0f} s, {100 * used / passed:.1f} % of a core"


def schedule_one_more_pass(scheduler, delay):
    """Another pass after `delay` seconds, unless one is waiting already."""

    def wake():
        scheduler.pass_is_waiting = False
        scheduler._open_jobs.release()

    if not getattr(scheduler, "pass_is_waiting", False):
        scheduler.pass_is_waiting = True
        timer = threading.Timer(delay, wake)
        # Snakemake need not wait for it to end.
        timer.daemon = True
        timer.start()


class ReadyJobs(set):
    """The ready jobs, kept by rule too, so that a pass need not look at all of them."""

    def __init__(self, jobs=()):
        super().__init__()
        self.by_rule = defaultdict(dict)
        self.update(jobs)

    def of_rule(self, job):
        return self.by_rule[job.name if job.is_group() else job.rule.name]

    def add(self, job):
        super().add(job)
        self.of_rule(job)[job] = None

    def update(self, jobs):
        for job in jobs:
            self.add(job)

    def remove(self, job):
        super().remove(job)
        del self.of_rule(job)[job]

    def clear(self):
        super().clear()
        self.by_rule.clear()

    def __isub__(self, jobs):
        for job in self & jobs:
            self.remove(job)
        return self


def few_of_each_rule(scheduler, ready=JobScheduler.open_jobs.fget):
    """The jobs to choose from: the first ready ones of each rule, which ask for much the same. A dry run takes all."""
    if scheduler.dryrun:
        return ready(scheduler)
    dag = scheduler.workflow.dag
    if not isinstance(dag._ready_jobs, ReadyJobs):
        dag._ready_jobs = ReadyJobs(dag._ready_jobs)
    by_rule = dag._ready_jobs.by_rule.values()
    return [job for jobs in by_rule for job in itertools.islice(jobs, CANDIDATES)]


def remaining_when_asked_for(scheduler, remaining=JobScheduler.remaining_jobs.fget):
    """The jobs that have not ended; none while jobs are selected, since the greedy way does not look at them."""
    return [] if getattr(scheduler, "is_selecting", False) else remaining(scheduler)


def select_greedily(scheduler, ready, select=JobScheduler.job_selector):
    """The jobs to start now; none where no core is free."""
    if scheduler.resources["_cores"] == 0:
        return []
    scheduler._job_selector = scheduler.job_selector_greedy
    scheduler.is_selecting = True
    try:
        return select(scheduler, ready)
    finally:
        scheduler.is_selecting = False


async def size_new_files(scheduler, jobs, size=JobScheduler.update_input_sizes):
    """The sizes of what ready jobs read: what makes it has ended, so that a file is looked at once, not in each pass."""
    known = scheduler._input_sizes
    if len(known) > MOST_SIZES:
        known.clear()
    new = {path for job in jobs for path in job.input if path not in known}
    await size(scheduler, [SimpleNamespace(input=new)])


# Private parts: of this release alone. With another one nothing but time is lost.
if __version__.startswith("9.27."):
    JobScheduler._schedule_reevalutation = schedule_one_more_pass
    JobScheduler.open_jobs = property(few_of_each_rule)
    JobScheduler.remaining_jobs = property(remaining_when_asked_for)
    JobScheduler.job_selector = select_greedily
    JobScheduler.update_input_sizes = size_new_files
