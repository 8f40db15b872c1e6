"""What can happen to train jobs on a cluster; each condition of the paper faults2024 meets one fault."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
HALF_WAY = 25
UPDATES = 300
LIMIT = 400.0
SBATCH = """\
place=--nodelist=one
case "$*" in
  *condition=preempted*) place="--nodelist=one --partition=cheap --gpus=2" ;;
  *condition=drained*) place=--nodelist=two ;;
esac
SLURM_CONF={folder}/slurm.conf exec {sbatch} "$@" $place
"""


def titles(length: int) -> Iterator[str]:
    """The first `length` characters of every process's command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            yield path.read_bytes()[:length].decode(errors="replace")


@dataclass(frozen=True)
class Met:
    """What a fault cost a training: updates done twice, and seconds until it was further than before."""

    twice: int
    seconds: float


@dataclass(frozen=True)
class Update:
    """One update of a training: its number, process and Slurm job, and when, in monotonic seconds."""

    job: str
    process: int
    number: int
    moment: float


class Scenes:
    """A checkout whose train jobs meet faults, on one private Slurm of two nodes."""

    def __init__(self, cluster, checkout: Path) -> None:
        self.cluster, self.checkout = cluster, checkout
        self.home = checkout.parent / "faults"
        self.began = time.monotonic()
        self.log = checkout / "controller.log"
        for name in ("hold", "updates", "disk"):
            (self.home / name).mkdir(parents=True, exist_ok=True)
        programs = cluster.folder / "bin"
        sbatch = shutil.which("sbatch", path=cluster.variables["PATH"])
        self.script(programs / "sbatch", SBATCH.format(folder=cluster.folder, sbatch=sbatch))
        train = HERE / "train_with_faults.py"
        self.script(programs / "tensor-rnns", f'exec {sys.executable} {train} "$@"')
        cluster.variables |= {
            "PATH": f"{programs}:{Path(sys.executable).parent}:{cluster.variables['PATH']}",
            "PYTHONPATH": str(checkout / "src"),
            "FAULTS": str(self.home),
            "TENSOR_RNNS_CHECKPOINT_SECONDS": "1",
            "OMP_NUM_THREADS": "1",
        }

    @staticmethod
    def script(path: Path, text: str) -> None:
        path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
        path.chmod(0o755)

    def start(self, line: list[str]) -> None:
        """Start the controller in a session of its own; what it says is appended to `log`."""
        with open(self.log, "a", encoding="utf-8") as log:
            self.controller = subprocess.Popen(
                line,
                cwd=self.checkout,
                env=os.environ | self.cluster.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def slurm(self, *command: str) -> str:
        """What a command of Slurm prints; an assertion where it fails."""
        done = self.cluster.run(*command, within=30)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def hold(self, *conditions: str) -> None:
        """Slow these trainings down until they are released."""
        for condition in conditions:
            (self.home / "hold" / condition).touch()

    def release(self, condition: str) -> None:
        (self.home / "hold" / condition).unlink()

    def updates(self, condition: str) -> list[Update]:
        """The updates that a training has made, in all of its tries."""
        path = self.home / "updates" / condition
        lines = path.read_text(encoding="utf-8").split("\n")[:-1] if path.exists() else []
        return [Update(job, int(p), int(n), float(t)) for job, p, n, t in map(str.split, lines)]

    def wait(self, what: str, until: Callable[[], object]) -> None:
        """Wait for `until`; fails and says `what` was awaited once time is up or the controller has ended."""
        while not until():
            alive = self.controller.poll() is None and time.monotonic() - self.began < LIMIT
            assert alive, f"waited for {what}\n{self.slurm('squeue', '--states=all')}"
            time.sleep(0.1)

    def half_way(self, condition: str) -> list[Update]:
        """The updates of a training once it is on its way and has kept a checkpoint."""
        self.wait(f"{condition} to be half-way", lambda: len(self.updates(condition)) >= HALF_WAY)
        return self.updates(condition)

    def dead(self, condition: str) -> None:
        """Wait until nothing of the job is left on its node, then let the next try run freely.

        A job that is launched again before is held by Slurm (launch failed requeued held).
        """
        process, steps = self.updates(condition)[-1].process, f"slurmstepd: [{self.job(condition)}."
        self.wait(f"the end of the first try of {condition}", lambda: not Path(f"/proc/{process}").exists())
        self.release(condition)
        self.wait(f"the steps of {condition} to end", lambda: not any(map(steps.__eq__, titles(len(steps)))))

    def node_is_done(self, condition: str, node: str) -> None:
        """Wait until the controller of Slurm has heard that the node is done with the job.

        It does not wait for that from a node that is down. Where the message comes once the job runs again,
        Slurm 22.05 takes its nodes away, and the next srun of the job ends slurmctld by a null pointer.
        """
        log, heard = self.cluster.folder / "slurmctld.log", f"JobId={self.job(condition)} Node={node}"
        self.wait(
            f"{node} to be done with {condition}",
            lambda: f"_slurm_rpc_epilog_complete: {heard}" in log.read_text(encoding="utf-8"),
        )

    def recovered(self, condition: str, since: float) -> Met:
        """Wait until another process has made an update that the first had not; what that took."""

        def further() -> tuple[Update, Update, Update] | None:
            made = self.updates(condition)
            old = [update for update in made if update.process == made[0].process]
            # A resumed training first tries one update of a new state, to see what a checkpoint must hold.
            new = [update for update in made if update.process != made[0].process and update.number > 1]
            beyond = [update for update in new if update.number > old[-1].number]
            return (old[-1], new[0], beyond[0]) if beyond else None

        self.wait(f"{condition} to recover", further)
        last, first, beyond = further()
        assert first.number > 2, f"{condition} began anew after {last.number} updates"
        return Met(last.number - first.number + 1, beyond.moment - since)

    def job(self, condition: str) -> str:
        """The number of the latest job of a condition."""
        return self.updates(condition)[-1].job

    def requeued(self, condition: str) -> None:
        """Wait until Slurm has taken the job back; then start it without the two minutes that Slurm waits."""
        ask = ("squeue", "--noheader", "--states=all", "--format=%T", f"--jobs={self.job(condition)}")
        self.wait(f"{condition} to be requeued", lambda: self.slurm(*ask) == "PENDING\n")
        self.slurm("scontrol", "update", f"jobid={self.job(condition)}", "StartTime=now")


def preempted(scenes: Scenes) -> Met:
    """A job of a partition with a higher priority takes its place; Slurm requeues it."""
    scenes.half_way("preempted")
    since = time.monotonic()
    scenes.slurm("sbatch", "--partition=urgent", "--gpus=1", "--output=/dev/null", "--wrap=true")
    scenes.dead("preempted")
    scenes.requeued("preempted")
    return scenes.recovered("preempted", since)


def limited(scenes: Scenes) -> Met:
    """Its time limit is reached."""
    scenes.half_way("limited")
    since = time.monotonic()
    scenes.slurm("scontrol", "update", f"jobid={scenes.job('limited')}", "EndTime=now+1")
    scenes.dead("limited")
    return scenes.recovered("limited", since)


def memory(scenes: Scenes) -> Met:
    """It takes more memory than it asked for, and is killed."""
    scenes.half_way("memory")
    since = time.monotonic()
    scenes.dead("memory")
    return scenes.recovered("memory", since)


def drained(scenes: Scenes) -> Met:
    """Its node is drained, which leaves it running, then set down, and resumed later."""
    scenes.half_way("drained")
    since = time.monotonic()
    scenes.slurm("scontrol", "update", "nodename=two", "state=drain", "reason=test")
    scenes.slurm("scontrol", "update", "nodename=two", "state=down", "reason=test")
    scenes.dead("drained")
    scenes.node_is_done("drained", "two")
    scenes.slurm("scontrol", "update", "nodename=two", "state=resume")
    scenes.requeued("drained")
    return scenes.recovered("drained", since)


def cancelled(scenes: Scenes) -> Met:
    """Somebody cancels it."""
    scenes.half_way("cancelled")
    since = time.monotonic()
    scenes.slurm("scancel", scenes.job("cancelled"))
    scenes.dead("cancelled")
    return scenes.recovered("cancelled", since)


def disk(scenes: Scenes) -> Met:
    """The file system of its state is full until something is removed from it."""
    scenes.half_way("disk")
    since = time.monotonic()
    ballast = scenes.home / "disk" / "ballast"
    with suppress(OSError), open(ballast, "wb", buffering=0) as stream:
        while True:
            stream.write(b"x" * 1024)
    scenes.dead("disk")
    ballast.unlink()
    return scenes.recovered("disk", since)


def clock(scenes: Scenes) -> Met:
    """The wall clock jumps to and fro by a year while it trains."""
    scenes.half_way("clock")
    scenes.release("clock")
    return Met(0, 0.0)


def orphan(scenes: Scenes, line: list[str]) -> Met:
    """The controller is killed with SIGKILL and the same command is typed again."""
    writer = scenes.half_way("orphan")[-1].process
    since = time.monotonic()
    scenes.controller.kill()
    scenes.controller.wait()
    scenes.start(line)
    logs = scenes.checkout / "results/smoke/logs/train/faults2024/chorales/orphan"
    waits = f"is being written by process {writer} on"
    scenes.wait("the twin to wait", lambda: any(waits in path.read_text() for path in logs.rglob("*.log")))
    seconds = time.monotonic() - since
    scenes.release("orphan")
    scenes.wait("orphan to end", lambda: scenes.updates("orphan")[-1].number == UPDATES)
    assert {update.process for update in scenes.updates("orphan")} == {writer}, "two writers"
    return Met(0, seconds)


def table(met: dict[str, Met], said: list[str]) -> Iterator[str]:
    """Lines of a table: fault, what the controller printed of it, updates done twice, seconds."""
    yield "| fault | what is printed | updates done twice | seconds to recover |"
    yield "|---|---|---|---|"
    for name, fault in met.items():
        lines = [
            line.partition(" failed: ")[2] for line in said if f"/{name}/gru/main/final/0 failed" in line
        ]
        caused = globals()[name].__doc__.partition("\n")[0].removesuffix(".")
        printed = "; then: ".join(dict.fromkeys(lines)) or "nothing"
        yield f"| {caused} | {printed} | {fault.twice} | {fault.seconds:.0f} |"


FAULTS = (preempted, limited, memory, drained, cancelled, disk, clock)
