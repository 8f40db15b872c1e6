"""A trained replica brought back from its run folder, ready to be looked at."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor

from tensor_rnns import datasets, models, tasks
from tensor_rnns.engine import eager
from tensor_rnns.experiments import KEY
from tensor_rnns.files import read_json
from tensor_rnns.models import Model
from tensor_rnns.tasks import Task


@dataclass(frozen=True)
class Trained:
    """One replica: its key, settings, kept weights (float64), task, and the streams of its data and of its
    initial values."""

    key: Mapping[str, Any]
    settings: Mapping[str, Any]
    parameters: Mapping[str, Tensor]
    task: Task
    data_seed: int
    init_seed: int

    @cached_property
    def model(self) -> Model:
        """The model of the replica, run by the reference engine."""
        return models.build(self.settings, self.task.inputs, self.task.outputs, "eager", self.task.symbols)

    @property
    def cell_parameters(self) -> dict[str, Tensor]:
        """The parameters of the cell alone, by the names its equations use."""
        return {
            name.removeprefix("cell/"): value
            for name, value in self.parameters.items()
            if name.startswith("cell/")
        }

    def tensor(self, values: np.ndarray) -> Tensor:
        """`values` in the precision of the parameters."""
        return torch.from_numpy(np.ascontiguousarray(values)).double()

    def states(self, inputs: Tensor) -> Tensor:
        """The outputs h_1 .. h_T [T, B, H] of the cell on inputs [T, B, I]."""
        start = self.model.cell.initial_state(inputs.shape[1], dtype=inputs.dtype)
        with torch.no_grad():
            outputs, _ = eager.run(self.model.cell, self.cell_parameters, inputs, start)
        return outputs


def trained_replicas(run: Path, ready: Path) -> Iterator[Trained]:
    """Every replica of a run folder that did not fail."""
    weights = load_file(run / "weights.safetensors")
    tasks_by_settings: dict[str, Task] = {}
    for replica in read_json(run / "record.json")["replicas"]:
        if replica["status"] != "done":
            continue
        settings = replica["settings"]
        dataset = datasets.load(ready, settings["dataset"]) if settings["dataset"] else None
        task = tasks_by_settings.setdefault(replica["protocol"], tasks.build(settings, dataset))
        prefix = f"seed{replica['seed']}/point{replica['point']}/"
        parameters = {
            name.removeprefix(prefix): value.double()
            for name, value in weights.items()
            if name.startswith(prefix)
        }
        key = {name: replica[name] for name in KEY}
        yield Trained(key, settings, parameters, task, replica["data_seed"], replica["init_seed"])
