# Short jobs share a job of a cluster, as many as tensor_rnns.recording.packing says by what they are predicted to
# take. Snakemake knows such packs as groups. Of a group it loses all when one job fails, and it asks for the state
# of jobs of seconds as seldom as for that of jobs of days; both are mended here.
import asyncio
import dataclasses
import os
import tempfile
import time
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from snakemake import __version__
from snakemake.jobs import GroupJob
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

from tensor_rnns.cli.start_warm import warm_process


# The GPUs of a job of a cluster are shared by the jobs in it.
resource_scopes:
    gpu="local",


@cache
def cluster_jobs(scale):
    """({job: its pack}, {job: what it is predicted to take}) of a scale; nothing where there is no torch."""
    if find_spec("torch") is None:
        return {}, {}
    from tensor_rnns.recording import packing
    from tensor_rnns.recording.cost import Costs

    costs = Costs.read()
    device = "cuda" if config["gpus"] and "triton" in costs.coefficients else "cpu"
    asked = config["data"], config["cohort_size"], config["engine"], costs, device
    packs = packing.packed(packing.jobs_of(CATALOGUE, scale, *asked))
    names = {
        job.key: f"pack-{number}"
        for number, pack in enumerate(packs)
        for job in pack
        if len(pack) > 1
    }
    return names, {job.key: job for pack in packs for job in pack}


def key_of(rule, wildcards):
    """What the job of a rule is called there."""
    names = [value for name, value in wildcards.items() if name != "scale"]
    if rule.startswith("draw_"):
        names.insert(1, artefact_of(wildcards).experiment)
    return rule, *names


def prepare_groups():
    """Let jobs share a pack that do not depend on each other, and a pack ask for no more GPUs than one job."""
    settings = workflow.group_settings
    if "pack" not in settings.group_components:
        components = {**settings.group_components, "pack": 10**6}
        workflow.group_settings = dataclasses.replace(
            settings, group_components=components
        )
        if "gpu" not in workflow.global_resources:
            workflow.register_resource("gpu", max(1, config["gpus"]))


def pack(rule):
    """The function that says in which pack a job of the rule goes to a cluster. What runs in a job of a cluster is
    one pack."""

    def of(wildcards):
        if workflow.local_exec:
            return None
        prepare_groups()
        name = "pack"
        if workflow.is_main_process:
            name = cluster_jobs(wildcards.scale)[0].get(key_of(rule, wildcards))
        if name:
            workflow.parent_groupids[name] = "pack"
        return name

    return of


def asked_for(rule, what, otherwise):
    """The function that says how many minutes or megabytes a job of the rule asks a cluster for."""

    def of(wildcards, attempt):
        if workflow.local_exec or not workflow.is_main_process:
            return otherwise
        job = cluster_jobs(wildcards.scale)[1].get(key_of(rule, wildcards))
        asked = getattr(job, what)(attempt) if job else otherwise * attempt
        return bounded(asked) if what == "minutes" else asked

    return of


def bounded(minutes):
    """What a job may ask for of the minutes that it is predicted to need."""
    return min(minutes, config["longest_job"] or minutes)


def finish_or_try_alone(
    scheduler, job, postprocess_job=True, handle=JobScheduler._handle_error
):
    """Of a pack that failed, what is done stays done, and each other job is tried again by itself."""
    if not job.is_group() or len(job) == 1 or scheduler.workflow.dryrun:
        return handle(scheduler, job, postprocess_job)
    dag = scheduler.workflow.dag
    scheduler.running.remove(job)
    scheduler._free_resources(job)
    dag._running.remove(job)
    done = [part for part in job if all(map(os.path.exists, part.output))]
    alone = [[part] for part in job if part not in done]
    parts = []
    for members in [done] * bool(done) + alone:
        part = GroupJob(job.groupid, frozenset(members), dag.workflow.global_resources)
        part.finalize()
        part.attempt = job.attempt
        dag._group.update(dict.fromkeys(members, part))
        parts.append(part)
    logger.info(
        f"{job.groupid}: {len(done)} of {len(job)} jobs are done, the others are tried by themselves"
    )

    def take(part):
        scheduler.running.add(part)
        dag.register_running({part})
        scheduler.update_available_resources([part])

    if done:
        take(parts[0])
        scheduler._tofinish.append(parts[0])
        scheduler._finish_jobs()
    for part in parts[bool(done) :]:
        # What waits for one that failed is not tried, nor has it been.
        if all(map(dag._ready, part)):
            take(part)
            handle(scheduler, part, postprocess_job)
        else:
            part.attempt = max(1, job.attempt)


def select_and_clear(scheduler, ready, select=JobScheduler.job_selector):
    """The jobs to start now; what a pack will make is removed before, so that what exists later is of it. The
    minutes of a pack are a sum, to which the bound applies once more."""
    chosen = select(scheduler, ready)
    for job in chosen if scheduler.workflow.is_main_process else ():
        if job.is_group():
            scheduler.workflow.async_run(job.remove_existing_output())
            if minutes := job.resources.get("runtime"):
                job._resources["runtime"] = bounded(minutes)
    return chosen


def schedule_in_a_pack(scheduler, schedule=JobScheduler.schedule):
    """In a job of a cluster, jobs go on when one has failed, and several share the time to import torch."""
    inside = scheduler.workflow.remote_exec and scheduler.workflow.local_exec
    if not inside or len(scheduler.workflow.dag) == 1:
        return schedule(scheduler)
    scheduler.keepgoing = True
    with (
        tempfile.TemporaryDirectory() as folder,
        warm_process(Path(folder) / "warm"),
    ):
        return schedule(scheduler)


async def sleep_by_age(executor):
    """Wait before the next question for no longer than a tenth of the age of the youngest job."""
    now, longest = time.monotonic(), executor.next_seconds_between_status_checks
    first = executor.workflow.executor_settings.init_seconds_before_status_checks
    known = getattr(executor, "first_seen", {})
    executor.first_seen = {
        job.external_jobid: known.get(job.external_jobid, now)
        for job in executor.active_jobs
    }
    age = now - max(executor.first_seen.values(), default=now)
    await asyncio.sleep(min(longest, max(first, age / 10)))


# Private parts, as in scheduler.smk.
if __version__.startswith("9.27."):
    JobScheduler._handle_error = finish_or_try_alone
    JobScheduler.job_selector = select_and_clear
    JobScheduler.schedule = schedule_in_a_pack
    RemoteExecutor.sleep = sleep_by_age
