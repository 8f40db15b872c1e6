"""The task of the page is learnt by a model as it stands there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from tensor_rnns import models, tasks
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.training import first_batch, loop
from tensor_rnns.training.learner import Learner

PAGE = Path(__file__).parents[2] / "docs" / "tasks.md"
NAMES = {
    "dataclass": dataclass, "ClassVar": ClassVar, "np": np, "Iterator": Iterator, "Tensor": Tensor,
    "Batch": Batch, "Task": Task, "cross_entropy": cross_entropy, "rng": rng,
}  # fmt: skip


def test_the_task_of_the_page_can_be_learnt(monkeypatch):
    """Built from its keys, it gives batches of its form, and a GRU learns it from one-hot symbols."""
    (code,) = re.findall(
        r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL
    )
    names = dict(NAMES)
    exec(code, names)
    known = tasks.names()
    monkeypatch.setattr(tasks, "names", lambda: known | {"echo": names["Echo"]})
    settings = {
        "task": {"name": "echo", "length": 7, "lag": 1, "symbols_known": 3},
        "model": {"name": "every_step"},
        "cell": {"name": "gru", "hidden": 8},
        "training": {"optimiser": "adam", "learning_rate": 0.03, "batch": 16, "updates": 120},
        "dataset": None,
    }
    task = tasks.build(settings)
    first_batch.sound(task)
    batch = task.batch(4, 9)
    np.testing.assert_array_equal(batch.inputs[:-1], batch.targets[1:])
    np.testing.assert_array_equal(batch.inputs, task.batch(4, 9).inputs)
    model = models.build(settings, task.inputs, task.outputs, "eager", task.symbols)
    replicas = [Replica("p", "e", "smoke", "c", "v", "main", "final", 0, seed, settings) for seed in (0, 1)]
    learner = Learner(model, task, replicas, torch.device("cpu"), torch.float32)
    optimiser, limit = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    before = learner.evaluate(state.parameters, "test")
    for _ in range(120):
        loop.step(learner, optimiser, limit, state)
    after = learner.evaluate(state.parameters, "test")
    assert before["accuracy"].max() < 0.6
    assert after["accuracy"].min() > 0.85
