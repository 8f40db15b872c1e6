"""Small trainings that the tests of the trainer share."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.engine import cross_entropy, values
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.training.learner import Learner


def replica(seed: int = 0, **training) -> Replica:
    """A GMR of 3 units on additions of length 7; `training` overrides the training block."""
    settings = {
        "task": {"name": "addition", "length": 7},
        "model": {"name": "last_output"},
        "cell": {"name": "gmr", "hidden": 3, "rank": 2},
        "training": {"optimiser": "adam", "learning_rate": 0.01, "clip_norm": 10, "batch": 5, "updates": 12}
        | training,
        "dataset": None,
    }
    return Replica("mathews2016", "addition", "smoke", "T7", "gmr", "main", "final", 0, seed, settings)


@dataclass(frozen=True)
class Chain(Task):
    """The next of 6 symbols in a text a split, read in 3 chunks of `length` steps and `batch_size` rows,
    with the state carried on from chunk to chunk."""

    name: ClassVar[str] = "chain"
    symbols: ClassVar[bool] = True
    carries_state: ClassVar[bool] = True
    lazy: ClassVar[bool] = True
    length: int
    batch_size: int

    inputs = 6
    outputs = 6
    baseline = None
    updates_per_epoch = 3

    def text(self, split):
        """The symbols of a split, [3 length + 1, batch_size]; each is mostly the one before the last plus
        one."""
        generator = rng(11, ["train", "valid", "test"].index(split))
        found = [generator.integers(0, 6, self.batch_size) for _ in range(2)]
        while len(found) <= 3 * self.length:
            slip = generator.random(self.batch_size) < 0.2
            found.append((found[-2] + 1 + slip * generator.integers(0, 6, self.batch_size)) % 6)
        return np.stack(found)

    def chunk(self, split, index):
        piece = self.text(split)[index * self.length : (index + 1) * self.length + 1]
        return Batch(piece[:-1], piece[1:], piece[1:].size)

    def batch(self, seed, update):
        return self.chunk("train", update % 3)

    def evaluation(self, split):
        yield from (self.chunk(split, index) for index in range(3))

    def loss(self, outputs, targets):
        return cross_entropy(outputs, targets, targets[:, 0].numel())

    def metrics(self, outputs, targets):
        right = (values(outputs).argmax(-1) == targets).double()
        return {"loss": self.loss(outputs, targets), "accuracy": right.mean((0, 2))}


def reader(seed: int = 0, **training) -> Replica:
    """An LSTM of two layers behind an embedding with dropout that reads the chain."""
    settings = {
        "task": {"name": "chain", "length": 5},
        "model": {"name": "every_step", "embedding": 4, "input_dropout": 0.3, "layers": 2},
        "cell": {"name": "lstm", "hidden": 3},
        "training": {"optimiser": "adam", "learning_rate": 0.02, "batch": 2, "updates": 12} | training,
        "dataset": None,
    }
    return Replica("mathews2016", "chain", "smoke", "only", "lstm", "main", "final", 0, seed, settings)


@pytest.fixture
def make_reader(monkeypatch) -> Callable[..., Replica]:
    """The maker of replicas that read the chain; `tasks.build` knows it meanwhile."""
    known = tasks.names()
    monkeypatch.setattr(tasks, "names", lambda: known | {"chain": Chain})
    return reader


@pytest.fixture
def make_reading(make_reader) -> Callable[..., Learner]:
    """A learner of such replicas with the given seeds; `model` and `cell` override their blocks."""

    def make(seeds=(0, 1), dtype=torch.float64, engine="eager", model=None, cell=None, **training) -> Learner:
        found = [make_reader(seed, **training) for seed in seeds]
        for one in found:
            one.settings["model"] |= model or {}
            one.settings["cell"] |= cell or {}
        task = tasks.build(found[0].settings)
        built = models.build(found[0].settings, task.inputs, task.outputs, engine, task.symbols)
        return Learner(built, task, found, torch.device("cpu"), dtype)

    return make


@pytest.fixture
def make_replica() -> Callable[..., Replica]:
    """The maker of small replicas."""
    return replica


@pytest.fixture
def make_learner() -> Callable[..., Learner]:
    """A learner of small replicas with the given seeds, on the reference engine unless another is named."""

    def make(seeds=(0, 1, 2), dtype=torch.float32, rates=None, engine="eager", **training) -> Learner:
        rates = rates or [0.01] * len(seeds)
        found = [
            replica(seed, **({"learning_rate": rate} | training))
            for seed, rate in zip(seeds, rates, strict=True)
        ]
        task = tasks.build(found[0].settings)
        model = models.build(found[0].settings, task.inputs, task.outputs, engine)
        return Learner(model, task, found, torch.device("cpu"), dtype)

    return make


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Folders for outputs, state and data."""
    return tmp_path / "out", tmp_path / "state", tmp_path / "ready"
