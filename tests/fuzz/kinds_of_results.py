"""Run folders, arrays, state and checkpoints, damaged, and most of them sealed again."""

import gzip
import json
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import torch

from tensor_rnns import models, npz_files, tasks
from tensor_rnns.analysis.collect import collect
from tensor_rnns.experiments import Catalogue, Replica
from tensor_rnns.training import loop, statefile
from tensor_rnns.training.checkpoint import Checkpoints, Results
from tensor_rnns.training.learner import Learner
from tensor_rnns.training.settings import Training
from tests.analysis.conftest import write_run_folder
from tests.fuzz.kinds import PAPER, Trial, kind, of_bytes
from tests.fuzz.mutation import Mutation, sealed
from tests.training.conftest import replica


def replicas() -> list[Replica]:
    """Two replicas of one curve of addition."""
    experiment = Catalogue.load([PAPER.parent], ["mathews2016/addition"]).experiments[
        "mathews2016", "addition"
    ]
    found = experiment.replicas("smoke", "embedded", "final")
    return [one for one in found if one.curve_key == found[0].curve_key][:2]


@kind("run folder", 800)
def run_folders(folder: Path) -> Trial:
    """metrics.csv, curves.csv.gz or record.json damaged and sealed again; then `collect`."""
    home, chosen = folder / "final-0", replicas()
    values = {"metrics": {("test", "nll"): 0.5}, "curves": {("test", "nll"): [1, 1 / 2, 1 / 3]}}
    write_run_folder(home, chosen, lambda replica: values)
    collect([home], folder / "out")
    whole = {path.name: path.read_bytes() for path in home.iterdir()}

    def trial(mutation: Mutation) -> None:
        name = mutation.draw.choice(sorted(whole))
        content = whole[name]
        if name == "record.json" and mutation.draw.random() < 0.7:
            found = json.loads(content)
            seal = found.pop("seal")
            damaged = {"seal": seal} | (
                made if isinstance(made := mutation.data(found), dict) else {"a": made}
            )
            content = sealed(mutation, json.dumps(damaged).encode())
        elif name.endswith(".gz") and mutation.draw.random() < 0.7:
            content = gzip.compress(sealed(mutation, mutation.bytes(gzip.decompress(content))), 1)
        else:
            content = sealed(mutation, mutation.bytes(content))
        (home / name).write_bytes(content)
        try:
            collect([home], folder / "out")
        finally:
            (home / name).write_bytes(whole[name])

    return trial


@kind("npz", 800)
def arrays(folder: Path) -> Trial:
    path, seeds = folder / "a.npz", []
    held = {"x": np.arange(15.0).reshape(3, 5), "names": np.array(["é", "z"]), "bytes": np.zeros(9, np.uint8)}
    for compressed in (False, True):
        npz_files.write_npz(path, held, "mine", compressed)
        seeds.append(path.read_bytes())

    def change(mutation: Mutation, content: bytes) -> bytes:
        return sealed(mutation, mutation.bytes(content))

    return of_bytes(path, seeds, lambda: npz_files.read_npz(path, "mine"), change)


@kind("state file", 800)
def states(folder: Path) -> Trial:
    path = folder / "state"
    tensors = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([7])}
    statefile.write(path, tensors, {"update": 5, "list": [1, 2.5, None]}, "mine")

    def change(mutation: Mutation, content: bytes) -> bytes:
        return sealed(mutation, mutation.bytes(content))

    return of_bytes(path, [path.read_bytes()], lambda: statefile.read(path, "mine"), change)


@kind("finished result", 500)
def results(folder: Path) -> Trial:
    """Notes damaged and sealed again: taken as they are, or set aside in one line."""
    kept = Results(folder)
    notes = {
        "status": "done", "failed_at": None, "updates": 3, "parameters": 7, "seconds": 0.5, "cohort": 2,
        "metrics": [["test", "nll", "0.5"], ["none", "updates", 3]], "train": [[1, "0.5"], [2, "nan"]],
        "evaluated": [[2, "valid", "nll", "0.25"]], "environment": {"engine": "eager"},
    }  # fmt: skip
    path = kept.path("abc")

    def trial(mutation: Mutation) -> None:
        damaged = mutation.data(notes)
        statefile.write(path, {}, damaged if isinstance(damaged, dict) else {"a": damaged}, "abc")
        found = kept.read("abc")
        if found is None:
            shutil.rmtree(path.parent)
            raise ValueError(str(path))
        [(s, n, float(v)) for s, n, v in found[1]["metrics"]]
        [(u + 1, s, n, float(v)) for u, s, n, v in found[1]["evaluated"]]

    return trial


@kind("checkpoint", 400)
def checkpoints(folder: Path) -> Trial:
    """Tensors or notes damaged and sealed again: a state that training goes on from, or set aside."""
    found = [replica(seed) for seed in range(3)]
    task = tasks.build(found[0].settings)
    model = models.build(found[0].settings, task.inputs, task.outputs, "eager")
    learner = Learner(model, task, found, torch.device("cpu"), torch.float32)
    schedule = Training.of({"optimiser": "adam", "learning_rate": 0.01, "batch": 5, "updates": 12}, None)
    kept = Checkpoints(folder / "mine", {"threads": 1})
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    for _ in range(3):
        loss = loop.step(learner, *loop.optimiser_of(learner), state)
        state.train.append((state.update, loss))
    kept.save(state)
    path = kept.folder / "checkpoint-a"
    tensors, notes = statefile.read(path, "mine")

    def trial(mutation: Mutation) -> None:
        some, told = dict(tensors), dict(notes)
        if mutation.draw.random() < 0.5:
            told = mutation.data(notes)
        else:
            name = mutation.draw.choice(sorted(some))
            old = some.pop(name)
            match mutation.draw.randrange(6):
                case 0:
                    some[name] = old.double() if old.dtype != torch.float64 else old.float()
                case 1:
                    some[name] = old.flatten()[1:].clone()
                case 2:
                    some[name + "x"] = old
                case 3:
                    some[name] = old.unsqueeze(0)
                case 4:
                    some[name] = old * 0 + mutation.draw.choice([-5, 1, 99])
        statefile.write(path, some, told if isinstance(told, dict) else {"a": told}, "mine")
        found = kept.load(learner.device, partial(loop.check, learner, schedule))
        if found is None:
            shutil.rmtree(kept.folder)
            raise ValueError(str(path))
        while found.update < schedule.updates:
            loop.step(learner, *loop.optimiser_of(learner), found)

    return trial
