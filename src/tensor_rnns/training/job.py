"""One train job: a chunk of replicas from its settings to four files, whatever happened before.

Finished replicas are taken from the state folder, an unfinished cohort goes on from its checkpoint, and the
files are assembled from the results alone, so that they hold the same bytes after any number of kills.
"""

import ctypes
import gc
import logging
import math
import re
import signal
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from tensor_rnns import datasets, engine, tasks
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.digest import code_of, digest
from tensor_rnns.experiments.records import CURVES, METRICS
from tensor_rnns.experiments.run_folders import RECORD, run_name
from tensor_rnns.files import number, write_csv, write_json
from tensor_rnns.training import first_batch, lock, loop, record, revisions, statefile
from tensor_rnns.training.checkpoint import Checkpoints, Results
from tensor_rnns.training.engine_selection import dtype_of, model_of
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.numerics import numerics
from tensor_rnns.training.progress import Progress

log = logging.getLogger(__name__)
TRAINED = (
    "engine", "device", "host", "threads", "commit", "dirty", "processor", "instruction_set", "versions",
)  # fmt: skip
"""What the record says of where each replica was trained."""
IDENTITY = ("hash", "protocol", "searched", "settings", "data_seed", "init_seed")
"""What the record says of a replica beside its key."""


def code_parts(settings: Mapping[str, Any]) -> list[str | int]:
    """What of the code the result of a replica depends on: its cell, model and task, engine and training."""
    return [code_of(settings), revisions.ENGINE, revisions.TRAINING]


def name_of(replica: Replica, chosen_engine: str, device: str, data: str = "") -> str:
    """The name of a finished result: settings, streams, code, the sum of the data set if there is one,
    engine, device, instruction set and revisions."""
    machine = [chosen_engine, device, record.instruction_set() if device == "cpu" else ""]
    return digest([replica.hash, *code_parts(replica.settings), *machine, data])


@contextmanager
def stop_signal() -> Iterator[threading.Event]:
    """An event that SIGTERM sets, so that the loop can write its checkpoint and leave."""
    asked = threading.Event()
    before = signal.signal(signal.SIGTERM, lambda *_: asked.set())
    try:
        yield asked
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def no_garbage() -> Iterator[None]:
    """Python looks for no garbage in what was there before the block, which is most of what there is."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def result_of(
    learner: Learner, state: loop.State, kept: Tensor, buffers: Mapping, metrics: Mapping, index: int
) -> tuple[dict, dict]:
    """Tensors (parameters and buffers) and notes of one finished replica of a cohort."""
    layout = learner.layout
    events = (int(column[index]) for column in (state.failed_at, state.stopped_at, state.best_update))
    failed, stopped, best = (None if update == loop.NEVER else update for update in events)
    updates = failed or stopped or state.update
    recovers = learner.replicas[index].settings["training"].get("recovery") is not None
    facts = {
        "parameters": layout.width,
        "updates": updates,
        "baseline": None if learner.task.baseline is None else float(learner.task.baseline),
        "best_update": best,
        "recovered": int(state.recovered[index]) if recovers else None,
    }
    rows = [["none", name, value] for name, value in facts.items() if value is not None]
    rows += [[split, name, number(float(value[index]))] for (split, name), value in metrics.items()]
    losses = [(u, float(v[index])) for u, v in state.train if u <= updates]
    notes = {
        "status": "failed" if failed else "done",
        "failed_at": failed,
        "updates": updates,
        "parameters": layout.width,
        "metrics": rows,
        "train": [[u, number(loss)] for u, loss in losses if math.isfinite(loss)],
        "evaluated": [[u, s, n, number(float(v[index]))] for u, s, n, v in state.evaluated if u <= updates],
        "seconds": state.seconds,
        "trained": state.update,
        "cohort": len(learner.replicas),
    }
    views = layout.views(kept[index : index + 1])
    views |= {name: value[index : index + 1] for name, value in buffers.items()}
    return {name: value[0].clone() for name, value in views.items()}, notes


def give_back() -> None:
    """Let the C library, where it is glibc, give the system the free pages between pieces in use: with
    tensors of many megabytes they grew to 6 GB in 20,000 updates."""
    if (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)


def train_cohort(
    learner: Learner, names: Sequence[str], checkpoints: Checkpoints, results: Results, title: str,
    checkpoint_seconds: float, environment: Mapping[str, Any],
) -> None:  # fmt: skip
    """Train one cohort to its end, from its checkpoint if it has one, and keep every replica's result."""
    training = loop.Training.of(learner.replicas[0].settings["training"], learner.task.updates_per_epoch)
    state = checkpoints.load(learner.device, partial(loop.check, learner, training))
    if state is None:
        optimiser, _ = loop.optimiser_of(learner)
        state = loop.start(learner, optimiser)
    reads = getattr(learner.task, "reads", None)
    progress = Progress(title, training.updates, state.update, reads=reads)

    def save(state: loop.State) -> None:
        checkpoints.save(state)
        give_back()

    with stop_signal() as asked, no_garbage():
        try:
            loop.train(learner, training, state, progress, save, asked.is_set, checkpoint_seconds)
        finally:
            progress.close()
    kept, buffers, metrics = loop.finish(learner, training, state)
    for index, name in enumerate(names):
        tensors, notes = result_of(learner, state, kept, buffers, metrics, index)
        trained = dict(environment) | {"dirty": checkpoints.dirty}
        results.write(name, tensors, notes | {"members": list(names), "environment": trained})


def run(
    replicas: Sequence[Replica], out: Path, state_folder: Path, ready: Path, engine_name: str = "auto",
    device_name: str = "auto", threads: int = 1, checkpoint_seconds: float = 60.0,
) -> None:  # fmt: skip
    """Train `replicas` (one chunk, one shape) and write metrics.csv, curves.csv.gz, record.json,
    weights.safetensors.

    Raises `loop.Interrupted` after SIGTERM, with the checkpoint written, and ValueError for settings that
    the cell, model, task or optimiser refuses.
    """
    began = time.monotonic()
    device = torch.device(
        ("cuda" if torch.cuda.is_available() else "cpu") if device_name == "auto" else device_name
    )
    settings = replicas[0].settings
    engine.check(engine_name, settings.get("cell"), device.type)
    dataset = datasets.load(ready, settings["dataset"]) if settings["dataset"] else None
    task = tasks.build(settings, dataset)
    with numerics(threads, device.type):
        chosen_engine, model = model_of(settings, task, engine_name, device)
    data = dataset.facts["sha256"] if dataset else ""
    names = [name_of(replica, chosen_engine, device.type, data) for replica in replicas]
    results = Results(state_folder / "results")
    title = f"{'/'.join(replicas[0].curve_key[1:])} {replicas[0].stage}"
    environment = record.environment(device, threads, chosen_engine)
    lock.check_reach()
    locks = state_folder / "locks"
    with numerics(threads, device.type), lock.held(locks / digest(names), title), ExitStack() as more:
        members = unfinished(names, results, state_folder / "cohorts")
        if 0 < len(members) < len(names):
            # Another job, cut differently, may be at these very replicas: wait for it and look again.
            more.enter_context(lock.held(locks / digest(members), title))
            members = unfinished(names, results, state_folder / "cohorts")
        keys = ["engine", "device", "threads", "instruction_set"]
        keys += ["gpu"] if device.type == "cuda" else []
        machine = {key: environment[key] for key in keys}
        folder = state_folder / "cohorts" / digest(members)
        checkpoints = Checkpoints(folder, {"replicas": members} | machine, environment["dirty"])
        if members:
            first_batch.check_answers(model, task, first_batch.sound(task))
            chosen = [replicas[names.index(name)] for name in members]
            learner = Learner(model, task, chosen, device, dtype_of(settings), engine_name=chosen_engine)
            train_cohort(learner, members, checkpoints, results, title, checkpoint_seconds, environment)
        else:
            log.info("%s: all %d replicas are finished; nothing to train", title, len(names))
        write_outputs(replicas, names, results, out, environment, time.monotonic() - began)
        checkpoints.remove()


def unfinished(names: list[str], results: Results, cohorts: Path) -> list[str]:
    """Which of `names` to train: those without a result, or the whole of an interrupted cohort that holds
    some of them.

    A cohort that was killed while its results were written goes on as it was, so that all its members have
    the bits of one unbroken run.
    """
    missing, begun = [], []
    for name in names:
        if (result := results.read(name)) is None:
            missing.append(name)
        else:
            begun.append(result[1].get("members", []))
    for candidate in (names, missing, *begun) if missing else ():
        if not set(missing) <= set(candidate) <= set(names):
            continue
        if any((cohorts / digest(candidate)).glob("checkpoint-?")):
            return candidate
    return missing


def write_outputs(
    replicas: Sequence[Replica], names: Sequence[str], results: Results, out: Path, environment: Mapping,
    seconds: float,
) -> None:  # fmt: skip
    """The four files of a run folder, from the finished results alone.

    The record says of each replica where and with which commit it was trained, which may be long before this
    job; `environment` and the most memory that was held are those of this job, which put the files together.
    """
    metrics, curves, runs, weights, hours = [], [], [], {}, 0.0
    for replica, name in zip(replicas, names, strict=True):
        result = results.read(name)
        if result is None:
            raise RuntimeError(f"{name}: its result was there a moment ago and cannot be read")
        tensors, notes = result
        key = replica.key
        metrics += [key | {"split": s, "name": n, "value": v} for s, n, v in notes["metrics"]]
        points = [(update, "train", "loss", value) for update, value in notes["train"]] + notes["evaluated"]
        curves += [key | {"split": s, "name": n, "update": u, "value": v} for u, s, n, v in points]
        # What a cohort took belongs to its members alike, also where one failed or stopped before the others.
        own = notes["seconds"] / notes["cohort"]
        hours += own * notes["environment"]["threads"] / 3600
        runs.append(
            key
            | {name: notes[name] for name in ("status", "failed_at", "updates", "parameters")}
            | {name: notes["environment"].get(name) for name in TRAINED}
            | {name: getattr(replica, name) for name in IDENTITY}
            | {"code": digest(code_parts(replica.settings))}
            | {"seconds_per_update": own / max(notes.get("trained", notes["updates"]), 1)}
        )
        weights |= {f"seed{replica.seed}/point{replica.point}/{n}": tensor for n, tensor in tensors.items()}
    of = run_name(replicas[0].key)
    (out / RECORD).unlink(missing_ok=True)  # an older one says nothing of the tables that come now
    write_csv(out / "metrics.csv", metrics, METRICS, of)
    write_csv(out / "curves.csv.gz", curves, CURVES, of)
    statefile.write(out / "weights.safetensors", weights, {}, of)
    # Not getrusage, which counts the memory of the process that started this one too.
    peak = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="utf-8"))
    memory = {"peak_megabytes": int(peak[1]) / 1024} if peak else {}
    job = {"core_hours": hours, "job_seconds": seconds, **memory}
    write_json(out / RECORD, {"replicas": runs, **job, **environment}, of)
