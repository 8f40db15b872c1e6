"""The recorder: trains units in their order with the commands of the rules, and records each as it ends.

It has no memory of its own. What is recorded lies in results/recorded, the finished jobs of an incomplete
curve in its folder begun, what is in progress in checkpoints; a killed recorder is started again and loses
the minute since the last one. Train jobs hold their own locks, so that neither a second recorder nor a
workflow beside it is a second writer.
"""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tensor_rnns import datasets, functions
from tensor_rnns.datasets.fetch import mirror_url
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import read_json, write_json
from tensor_rnns.recording import begun, store
from tensor_rnns.recording.units import Unit
from tensor_rnns.training import lock

LOCK, NOTE = "recorder.lock", "recorder.json"
PROGRAM = (sys.executable, "-c", "from tensor_rnns.cli import main; main()")
INTERRUPTED = 143
"""What a train job exits with that was asked to stop and has written its checkpoint."""
POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Settings:
    """Where and how is recorded; ValueError for a mirror that is none."""

    results: Path
    state: Path
    roots: str
    mirrors: Sequence[str]
    cohort_size: int
    engine: str
    jobs: int
    hours: float | None
    dirty: bool
    device: str = "cpu"

    def __post_init__(self) -> None:
        for mirror in self.mirrors:
            mirror_url(mirror, "")

    @property
    def ready(self) -> Path:
        """The folder of prepared data sets."""
        return self.results / "data" / "ready"


@contextmanager
def alone(state: Path) -> Iterator[Callable[[Sequence[str]], None]]:
    """Be the only recorder of a state folder while the block runs; yields a function that notes what is being
    trained, for `tensor-rnns status`. ValueError where another one works."""
    state.mkdir(parents=True, exist_ok=True)
    who = {"pid": os.getpid(), "host": socket.gethostname(), "since": time.strftime("%Y-%m-%d %H:%M")}
    with open(state / LOCK, "a") as stream:
        if not lock.taken(stream):
            raise ValueError(f"recording asked for; {holder(state)[0]} records here, allowed is one")

        def note(names: Sequence[str]) -> None:
            write_json(state / NOTE, who | {"running": list(names)}, NOTE)

        note([])
        yield note


def holder(state: Path) -> tuple[str, list[str]]:
    """The recorder that works on a state folder, in words, and the curves that it trains; "" for none."""
    try:
        with open(state / LOCK) as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                who = read_json(state / NOTE, NOTE)
                return f"process {who['pid']} on {who['host']} since {who['since']}", who["running"]
    except (OSError, ValueError):
        pass
    return "", []


def lower_session(leader: int) -> None:
    """Give the session that a process has begun the priority of this one: Linux shares the processor among
    sessions first (`man 7 sched`, autogroups), and nice alone counts within one."""
    with suppress(OSError):
        Path(f"/proc/{leader}/autogroup").write_text(str(os.nice(0)))


@dataclass
class Recorder:
    """Trains and records units until none is left, the hours are over, or it is asked to stop; `together`,
    none before all are trained: a claim is not judged on a part of a block of seeds."""

    settings: Settings
    say: Callable[[str], None]
    note: Callable[[Sequence[str]], None]
    together: bool = False
    stopping: threading.Event = field(default_factory=threading.Event)
    running: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def run(self, units: Sequence[Unit]) -> int:
        """Record `units` in their order; returns how many were recorded."""
        for name in (signal.SIGTERM, signal.SIGINT):
            signal.signal(name, lambda *_: self.stopping.set())
        timer = threading.Timer((self.settings.hours or 0) * 3600, self.stopping.set)
        timer.daemon = True
        if self.settings.hours is not None:
            timer.start()
        with ThreadPoolExecutor(self.settings.jobs) as pool:
            done = sum(pool.map(self.record, units))
        if self.together and done < len(units):
            self.say(f"{done} of {len(units)} curves trained; the block is recorded whole, so none of it yet")
            return 0
        return done if not self.together or self.keep_block(units) else 0

    def record(self, unit: Unit) -> bool:
        """Train and record one unit; whether that was done. What fails is said, and the next one follows."""
        if self.stopping.is_set():
            return False
        started, results = time.monotonic(), self.settings.results
        self.mark(unit, self.running.append)
        try:
            with self.turn:
                ready = all(self.call(line, unit) for line in preparations(unit, self.settings))
                begun.bring(unit, results)
            if not ready or not self.train(unit):
                return False
            if not self.together:
                self.keep([unit])
        except Exception as error:
            self.failed.append(unit.name)
            self.say(f"{unit.name}: not recorded, {type(error).__name__}: {error}")
            return False
        finally:
            self.mark(unit, self.running.remove)
        did = "trained" if self.together else "recorded"
        self.say(f"{unit.folder(results, RECORDED)}: {did} after {time.monotonic() - started:.0f} s")
        return True

    def keep_block(self, units: Sequence[Unit]) -> bool:
        """Record the trained units of a block, whole; whether that was done. What fails is said."""
        try:
            self.keep(units)
        except Exception as error:
            self.failed += [unit.name for unit in units]
            self.say(f"{len(units)} curves trained, none of them recorded, {type(error).__name__}: {error}")
            return False
        return True

    def keep(self, units: Sequence[Unit]) -> None:
        """Record trained units, all or none."""
        with self.turn:
            settings = self.settings
            sources = [(unit, unit.folder(settings.results)) for unit in units]
            store.keep(sources, settings.results, settings.ready, settings.dirty)
            for unit in units:
                begun.drop(unit, settings.results)

    def train(self, unit: Unit) -> bool:
        """Run the jobs of a unit that are not done, and keep each that ends; whether all are done."""
        for line, run in commands(unit, self.settings):
            if line and not self.call(line, unit):
                return False
            if run is not None and (line or not begun.has(unit, run, self.settings.results)):
                with self.turn:
                    begun.keep(unit, run, self.settings.results)
        return True

    def mark(self, unit: Unit, change: Callable[[str], None]) -> None:
        """Note that a unit begins or ends."""
        with self.turn:
            change(unit.name)
            self.note(self.running)

    def call(self, line: Sequence[str], unit: Unit) -> bool:
        """Run one command to its end; when asked to stop, hand that on. Whether it did its work; ValueError
        with its last line where it failed."""
        if self.stopping.is_set():
            return False
        log = self.settings.results / unit.scale / "logs" / "record" / f"{unit.name}.log"
        log.parent.mkdir(parents=True, exist_ok=True)
        alone = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        with open(log, "a", encoding="utf-8") as out:
            print("tensor-rnns", *line, file=out, flush=True)
            streams = {"stdin": subprocess.DEVNULL, "stdout": out, "stderr": out}
            # A session of its own: Ctrl-C is for the recorder, which asks the job to write its checkpoint.
            job = subprocess.Popen([*PROGRAM, *line], env=alone, start_new_session=True, **streams)
        lower_session(job.pid)
        asked = False
        while (code := job.poll()) is None:
            if self.stopping.is_set() and not asked:
                job.terminate()
                asked = True
            time.sleep(POLL_SECONDS)
        # Who is stopping the recorder may have stopped its job first.
        if code and not asked and not (code == INTERRUPTED and self.stopping.wait(POLL_SECONDS)):
            last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1]
            raise ValueError(f"{line[2]} ended with {code}: {last[:300]} (log: {log})")
        return code == 0


def preparations(unit: Unit, settings: Settings) -> Iterator[list[str]]:
    """The commands that bring the unit's data sets, where they are not there yet or it is not known that they
    were prepared by today's code; each is to have done its work before the next is asked for."""
    raw, ready = str(settings.results / "data" / "raw"), str(settings.ready)
    for name in filter(None, dict.fromkeys(group[0].settings["dataset"] for _, _, group in unit.jobs)):
        stamp, today = settings.ready / f"{name}.made", functions.dataset_digest(name)
        there = stamp.exists() and (settings.ready / f"{name}.json").exists()
        if not there or stamp.read_text(encoding="utf-8") != today:
            if source := datasets.entry(name).source:
                mirrors = [word for mirror in settings.mirrors for word in ("--mirror", mirror)]
                yield ["--roots", settings.roots, "download", source, *mirrors, "--into", raw]
            yield ["--roots", settings.roots, "prepare", name, "--raw", raw, "--into", ready]


def commands(unit: Unit, settings: Settings) -> Iterator[tuple[list[str], Path | None]]:
    """The commands that train a unit, as the rules `train` and `select` print them, with the run folder that
    each makes; none ([]) for a job that is done. Each is to be run before the next is asked for."""
    home, roots = unit.folder(settings.results), ["--roots", settings.roots]
    names = ("paper", "experiment", "condition", "variant", "option")
    protocol = ["--scale", unit.scale, "--data", unit.data]
    for name, value in zip(names, unit.name.split("/"), strict=True):
        protocol += [f"--{name}", value]
    size = str(unit.experiment.cohort_size(settings.cohort_size))
    searched = [str(home / f"search-{number}") for number in range(len(unit.search))]
    finals = unit.finals(None) if not searched else []
    for stage, number, group in unit.jobs:
        if searched and (stage, number) == ("final", 0):
            yield [*roots, "select", *protocol, "--out", str(home / store.CHOSEN), *searched], None
            finals = unit.finals(store.choice(unit, home))
        run, seeds = home / f"{stage}-{number}", {replica.seed for replica in group}
        wanted = group if stage == "search" else [it for it in finals if it.seed in seeds]
        looked_at = stage == "final" and unit.probes
        if begun.holds(run, wanted) and (not looked_at or (run / store.WEIGHTS).exists()):
            yield [], run
            continue
        train = [
            *roots, "train", *protocol, "--stage", stage, "--chunk", str(number), "--cohort-size", size,
            "--engine", settings.engine, "--device", settings.device, "--threads", "1",
            "--seeds", str(unit.seeds), "--ready", str(settings.ready), "--state", str(settings.state),
            "--out", str(run),
            *(["--chosen", str(home / store.CHOSEN)] if searched and stage == "final" else []),
        ]  # fmt: skip
        yield train, run
