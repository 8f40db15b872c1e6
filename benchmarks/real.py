"""The project's own tasks in the sizes of the workloads, on made-up data where they read any.

The values of pixels and texts play no part in the time of an update.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from benchmarks.variants import RATE
from benchmarks.workloads import Workload, settings
from tensor_rnns import models, tasks
from tensor_rnns.datasets import Dataset
from tensor_rnns.experiments import Replica
from tensor_rnns.training.learner import Learner

IMAGES = {"train": 60_000, "valid": 100, "test": 100}
SIDE = 28
SYMBOLS = {"train": 900_000, "valid": 30_000, "test": 30_000}
"""Images and symbols of each split, about as many as in the sets of the papers."""
BITS = 8


def task_of(label: str, load: Workload) -> dict[str, Any]:
    """The `task` block of a workload."""
    return {
        "W1": {"name": "addition", "length": load.steps},
        "W2": {
            "name": "variable_binding",
            "length": load.steps,
            "patterns": load.inputs - BITS,
            "bits": BITS,
        },
        "W3": {"name": "pixels"},
        "W4": {"name": "characters", "bptt": load.steps},
        "W5": {"name": "words", "bptt": load.steps},
    }[label]


def dataset(label: str, load: Workload) -> Dataset | None:
    """Random images of 28 x 28 pixels in 10 classes, or a random text; None for a task that makes its own."""
    rng = np.random.default_rng(1)
    arrays: dict[str, np.ndarray] = {}
    facts: Mapping[str, Any] = {}
    if label in ("W1", "W2"):
        return None
    if label == "W3":
        facts = {"classes": load.outputs}
        for split, count in IMAGES.items():
            arrays[f"{split}_images"] = rng.integers(0, 256, (count, SIDE, SIDE), np.uint8)
            arrays[f"{split}_labels"] = rng.integers(0, load.outputs, count, np.uint8)
    else:
        arrays["vocabulary"] = np.array([f"symbol {i}" for i in range(load.inputs)])
        for split, count in SYMBOLS.items():
            arrays[f"{split}_tokens"] = rng.integers(0, load.inputs, count, np.uint16)
    return Dataset(label, arrays, facts)


def learner(label: str, name: str, load: Workload, engine: str, device: torch.device) -> Learner:
    """One replica of the cell `name` on the task of a workload, as a train job has it."""
    whole = settings(name, load) | {"task": task_of(label, load), "dataset": None}
    whole["training"] = {"optimiser": "adam", "learning_rate": RATE, "batch": load.batch}
    task = tasks.build(whole, dataset(label, load))
    made = models.build(whole, task.inputs, task.outputs, engine, task.symbols)
    replica = Replica("", "", "", "", name, "main", "final", point=0, seed=0, settings=whole)
    return Learner(made, task, [replica], device, torch.float32)
