# Why jobs failed, in one line each. What a command refuses (bad settings, a damaged file) it refuses again: such a job
# is not tried a second time. All else may pass: a full disk, a signal, a time limit, a lost node.
import atexit
import os
import re
from contextlib import ExitStack
from pathlib import Path

from snakemake import __version__
from snakemake.jobs import Job
from snakemake_interface_executor_plugins.executors.base import AbstractExecutor

from tensor_rnns.cli.asking import MAY_PASS
from tensor_rnns.files import write_csv
from tensor_rnns.training import lock

# What a training says that was asked to end, as tensor_rnns.training.loop writes it.
STOPPED = re.compile(r"tensor-rnns: stopped at update (?P<update>\d+) of ")
STATES_OF_LOGS = {}
# {name of a failed job: why}, the latest reason of each.
FAILED = {}
# {name of a training: the furthest update at which its time limit ended it}.
REACHED = {}
# What the controller holds until it ends.
LOCKS = ExitStack()
# Jobs that are not tried again: refused ones, and those of a failed group that are done.
SETTLED = set()


def state_of(path):
    """When a log was written last and how long it is; () where there is none."""
    try:
        found = os.stat(path)
        return found.st_mtime_ns, found.st_size
    except OSError:
        return ()


def last_lines(path):
    """The last lines of a log, without empty ones; none where there is no log."""
    try:
        with open(path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - 20000))
            lines = stream.read().decode(errors="replace").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.strip()]


def of_slurm(message, logs):
    """What Slurm says of a job's end: its state, or for FAILED, as it calls all that end with an exit code, the first
    error in its own log.
    """
    state = re.search(r"status is: '(\w+)'", message or "")
    if state and state[1] != "FAILED":
        return [state[1]]
    lines = [line for path in filter(None, logs or []) for line in last_lines(path)]
    matches = (re.match(r"slurmstepd[^:]*: error: (.*)", line) for line in lines)
    return [found[1] for found in matches if found][:1]


def single_jobs(job):
    """The jobs of a group, or the job itself."""
    return list(job.jobs) if job.is_group() else [job]


def name_of(job):
    """The rule and what it makes, such as `train <paper>/<experiment>/T250/lstm/main/final-0`."""
    names = [value for name, value in job.wildcards_dict.items() if name != "scale"]
    return f"{job.rule.name} {'/'.join(map(str, names))}".strip()


def note_logs(executor, job, proceed=AbstractExecutor.run_job_pre):
    """Remember the logs as they are before a job starts: what changes is of this try."""
    STATES_OF_LOGS.update(
        (path, state_of(path)) for single in single_jobs(job) for path in single.log
    )
    proceed(executor, job)


def say_why(
    executor, info, msg=None, proceed=AbstractExecutor.report_job_error, **more
):
    """Print one line for each job that failed, and mark those that another try would not help. Tries are counted
    anew once the longest job that is allowed has ended further on than those before."""
    slurm, further = of_slurm(msg, more.get("aux_logs")), False
    longest = 0 < config["longest_job"] <= info.job.resources.get("runtime", 0)
    for job in single_jobs(info.job):
        if info.job.is_group() and all(map(os.path.exists, job.output)):
            SETTLED.add(job)
            continue
        if not all(map(os.path.exists, job.input)):
            # It waits for one that failed.
            continue
        changed = [path for path in job.log if state_of(path) != STATES_OF_LOGS[path]]
        said = [line for path in changed for line in last_lines(path)[-1:]]
        if any(is_refusal(line) for line in said):
            SETTLED.add(job)
        messages = [line.removeprefix("tensor-rnns: ") for line in said]
        why = "; ".join([*slurm, *messages]) or "it left no word"
        FAILED[name_of(job)] = why
        again = " (not tried again)" if job in SETTLED else ""
        logger.error(f"{name_of(job)} failed: {why}{again}")
        if longest and slurm == ["TIMEOUT"]:
            further |= is_further(name_of(job), said)
    if further:
        # The scheduler adds one.
        info.job.attempt = 0
    proceed(executor, info, msg, **more)


def is_further(name, said):
    """Whether a training that was stopped has made updates since its time limit ended it before."""
    before = REACHED.get(name, 0)
    stopped = [match for line in said if (match := STOPPED.match(line))]
    REACHED[name] = max([before, *(int(match["update"]) for match in stopped)])
    return REACHED[name] > before


def forget(executor, info, proceed=AbstractExecutor.report_job_success):
    """A job that has ended well has not failed, however often it was tried."""
    for job in single_jobs(info.job):
        FAILED.pop(name_of(job), None)
    proceed(executor, info)


def is_refusal(line):
    """Whether a command said so of what it was given, and not of what happened to it."""
    return line.startswith("tensor-rnns: ") and not line.endswith(MAY_PASS)


def tries_left(job, granted=Job.restart_times.fget):
    """How often a job may be tried after its first time: never, where that cannot help, not even if the try that
    failed does not count."""
    return -1 if job in SETTLED else granted(job)


def keep_failed(scale):
    """Leave a table of what failed for good, for the partial report."""
    rows = [{"job": job, "reason": why} for job, why in sorted(FAILED.items())]
    write_csv(f"results/{scale}/logs/failed.csv", rows, ["job", "reason"], scale)


def list_failed():
    """Say again at the end what failed for good."""
    for job, why in sorted(FAILED.items()):
        logger.error(f"{job} failed: {why}")


def guard_state(folder):
    """Refuse a state folder in which two jobs could write one training; jobs of a cluster look from their machines."""
    locks = Path(folder).resolve() / "locks"
    try:
        lock.check(locks)
    except ValueError as error:
        raise WorkflowError(error) from error
    if not workflow.local_exec:
        beacon = locks / f"controller-{os.uname().nodename}-{os.getpid()}"
        LOCKS.enter_context(lock.held(beacon, "the workflow"))
        LOCKS.callback(beacon.unlink)
        atexit.register(LOCKS.close)
        os.environ[lock.BEACON] = str(beacon)


def guard_engine(name):
    """Refuse an engine that this machine, or a cell, has not, where training runs here; on a cluster each job does."""
    if name == "auto" or not workflow.local_exec:
        return
    from torch import cuda

    from tensor_rnns import engine

    device = "cuda" if cuda.is_available() else "cpu"
    for experiment in CATALOGUE.experiments.values():
        cells = {
            repr(replica.settings["cell"]): replica
            for stage in ("search", "final")
            for replica in replicas_of(experiment, config["scale"], stage)
        }
        for replica in cells.values():
            try:
                engine.check(name, replica.settings["cell"], device)
            except ValueError as error:
                raise WorkflowError(
                    f"{'/'.join(replica.curve_key)}: {error}"
                ) from error


# Another release may call these otherwise; there failed jobs are tried again, and their logs say why.
if __version__.startswith("9.27."):
    AbstractExecutor.run_job_pre = note_logs
    AbstractExecutor.report_job_error = say_why
    AbstractExecutor.report_job_success = forget
    Job.restart_times = property(tries_left)
