# Snakemake's graph of jobs, made cheap: of thousands of jobs it asks the same function for its arguments again and
# again, expands the parameters of every job for an environment whose name has none, and in a dry run describes in full
# what it was asked not to print.
import functools

from snakemake import __version__, common, rules
from snakemake.executors.dryrun import Executor as DryRun
from snakemake.jobs import Job, Reason
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.settings.enums import Quietness


def print_what_is_asked_for(executor, job, printjob=DryRun.printjob):
    """Describe a job of a dry run, unless rules are not to be printed."""
    quiet = executor.workflow.output_settings.quiet or ()
    if not {Quietness.RULES, Quietness.ALL} & set(quiet):
        printjob(executor, job)


def environment_of(job, expand=Job.conda_env_spec.fget):
    """The environment of a job: that of the last job of its rule."""
    if (
        job._conda_env_spec is None
        and job.rule._expanded_conda_env is not rules._NOT_CACHED
    ):
        job._conda_env_spec = job.rule._expanded_conda_env
    return expand(job)


def free_what_was_taken(scheduler, job, free=JobScheduler._free_resources):
    """Give back what a job has taken; in a dry run nothing was."""
    if not scheduler.dryrun:
        free(scheduler, job)


def to_be_made(reason, decided=Reason.__bool__):
    """Whether a job is to run: also where it has not made its files itself, so that nothing says what they rest on."""
    return decided(reason) or (reason.no_metadata and not reason.finished)


# Private parts, as in scheduler.smk.
if __version__.startswith("9.27."):
    cached = functools.lru_cache(maxsize=10_000)(common.get_function_params)
    common.get_function_params = rules.get_function_params = cached
    DryRun.printjob = print_what_is_asked_for
    Job.conda_env_spec = property(environment_of)
    JobScheduler._free_resources = free_what_was_taken
    if workflow.is_main_process:
        Reason.__bool__ = to_be_made
