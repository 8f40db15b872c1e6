"""A trained replica brought back from its run folder, ready to be looked at."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import datasets, engine, models, tasks
from tensor_rnns.experiments import KEY
from tensor_rnns.experiments.run_folders import read_record, run_name
from tensor_rnns.files import damaged
from tensor_rnns.models import Model
from tensor_rnns.rows import Rows
from tensor_rnns.tasks import Task
from tensor_rnns.training import statefile

Findings = tuple[dict[str, Tensor | np.ndarray], Rows]
"""What a probe gives of one replica: arrays by name, and rows of a table."""


@dataclass(frozen=True)
class Trained:
    """One replica: its key, settings, kept weights (float64), task, streams of data and of initial values."""

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
        return {name: self.parameters[f"cell/{name}"] for name in self.model.cell.shapes()}

    @cached_property
    def cohort(self) -> dict[str, Tensor]:
        """The parameters with a replica axis of one."""
        return {name: value[None] for name, value in self.parameters.items()}

    def require(self, probe: str, **kinds: type) -> None:
        """ValueError where the task or the model is not of the kind that `probe` looks at."""
        for part, kind in kinds.items():
            if not isinstance(found := getattr(self, part), kind):
                raise ValueError(f"the probe {probe} looks at the {part} {kind.name}, not at {found.name}")

    def tensor(self, values: np.ndarray) -> Tensor:
        """`values` in the precision of the parameters."""
        return torch.from_numpy(np.ascontiguousarray(values)).double()

    def items(self, split: str, count: int) -> tuple[Tensor, Tensor]:
        """(inputs, targets) of the first `count` items of `split`: [T, count, I], or [T, count] for symbols,
        and [.., count, O], or [.., count] for classes.

        ValueError where the split has fewer, and for a task that carries states where a batch has fewer: the
        rows of a later batch do not begin at a zero state.
        """
        inputs, targets, found = [], [], 0
        for batch in self.task.evaluation_of(self.data_seed, split):
            if self.task.carries_state and batch.inputs.shape[1] < count:
                rows = f"the task {self.task.name} carries states and has {batch.inputs.shape[1]} rows"
                raise ValueError(f"{count} items asked for; {rows}, which begin at a zero state")
            inputs.append(batch.inputs)
            targets.append(batch.targets)
            found += batch.inputs.shape[1]
            if found >= count:
                break
        if found < count:
            raise ValueError(f"{count} items asked for; the split {split} has {found}")
        joined = []
        for arrays in (inputs, targets):
            whole = np.issubdtype(arrays[0].dtype, np.integer)
            array = np.concatenate(arrays, axis=-1 if whole else -2)
            array = array[..., :count] if whole else array[..., :count, :]
            joined.append(torch.from_numpy(array.copy()) if whole else self.tensor(array))
        return joined[0], joined[1]

    def states(self, inputs: Tensor) -> Tensor:
        """The outputs h_1 .. h_T [T, B, H] of the first cell on inputs [T, B, I], or [T, B] for symbols."""
        start = self.model.cell.initial_state(inputs.shape[1], dtype=torch.float64)
        with torch.no_grad():
            x = self.model.entered(self.parameters, inputs, None)
            outputs, _ = engine.find("eager").run(self.model.cell, self.cell_parameters, x, start)
        return outputs

    def gates(self, inputs: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        """(p_t, z_t), gate and candidate [T, B, H] of the first cell at every step; `states` are those of
        `inputs`.

        ValueError for a cell that does not tell them.
        """
        cell = self.model.cell
        if not hasattr(cell, "gate_and_candidate"):
            raise ValueError(f"the cell {cell.name} does not tell its gate and candidate")
        before = torch.cat([torch.zeros_like(states[:1]), states[:-1]])
        with torch.no_grad():
            x = self.model.entered(self.parameters, inputs, None)
            return cell.gate_and_candidate(self.cell_parameters, x, before)

    def outputs(self, states: Tensor) -> Tensor:
        """What the read-out says of `states` [.., H], at every step; for a model of one layer."""
        with torch.no_grad():
            return states @ self.parameters["read_out/W"] + self.parameters["read_out/b"]


def trained_replicas(run: Path, ready: Path) -> Iterator[Trained]:
    """Every replica of a run folder that did not fail; those of equal task, batch and data share one task.

    Damaged where a file of the folder is, or where the weights are those of other replicas.
    """
    record, path = read_record(run), run / "weights.safetensors"
    weights, _ = statefile.read(path, run_name(record["replicas"][0]))
    built: dict[str, Task] = {}
    for replica in record["replicas"]:
        if replica["status"] != "done":
            continue
        settings = replica["settings"]
        same = [settings["task"], settings["training"].get("batch"), settings["dataset"]]
        place = json.dumps(same, sort_keys=True)
        if place not in built:
            dataset = datasets.load(ready, settings["dataset"]) if settings["dataset"] else None
            built[place] = tasks.build(settings, dataset)
        prefix = f"seed{replica['seed']}/point{replica['point']}/"
        parameters = {
            name.removeprefix(prefix): value.double()
            for name, value in weights.items()
            if name.startswith(prefix)
        }
        if not parameters:
            raise damaged(path, f"it holds no weights of {prefix}")
        key = {name: replica[name] for name in KEY}
        yield Trained(key, settings, parameters, built[place], replica["data_seed"], replica["init_seed"])
