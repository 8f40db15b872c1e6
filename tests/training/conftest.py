"""Small trainings that the tests of the trainer share."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.experiments import Replica
from tensor_rnns.training.learner import Learner


def replica(seed: int = 0, **training) -> Replica:
    """A GMR of 3 units on additions of length 7; `training` overrides the training block."""
    settings = {
        "task": {"name": "addition", "length": 7},
        "model": {"shell": "last_output"},
        "cell": {"name": "gmr", "hidden": 3, "rank": 2},
        "training": {"optimiser": "adam", "learning_rate": 0.01, "clip_norm": 10, "batch": 5, "updates": 12}
        | training,
        "dataset": None,
    }
    return Replica("mathews2016", "addition", "smoke", "T7", "gmr", "main", "final", 0, seed, settings)


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
