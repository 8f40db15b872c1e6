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
from tensor_rnns.cells.base import Cell
from tensor_rnns.experiments import KEY
from tensor_rnns.experiments.run_folders import read_record, run_name
from tensor_rnns.experiments.streams import rng
from tensor_rnns.files import damaged
from tensor_rnns.models import Model
from tensor_rnns.rows import Rows
from tensor_rnns.tasks import Task
from tensor_rnns.training import statefile

Findings = tuple[dict[str, Tensor | np.ndarray], Rows]
"""What a probe gives of one replica: arrays by name, and rows of a table."""


def one_step_before(values: Tensor) -> Tensor:
    """`values` [T, ..] one step later, 0 at the first."""
    return torch.cat([torch.zeros_like(values[:1]), values[:-1]])


def correlation(a: Tensor, b: Tensor) -> Tensor:
    """Pearson correlation of the columns of a with those of b [N, ..]; 0 where either is constant."""
    constant = (a.amax(0) == a.amin(0)) | (b.amax(0) == b.amin(0))
    a, b = a - a.mean(0), b - b.mean(0)
    spread = (a.square().sum(0) * b.square().sum(0)).sqrt()
    return torch.where(constant, 0.0, (a * b).sum(0) / spread.clamp(min=1e-30))


@dataclass(frozen=True)
class Layer:
    """A cell with its parameters, by the names its equations use, what enters it, and its outputs."""

    cell: Cell
    parameters: Mapping[str, Tensor]
    inputs: Any
    outputs: Tensor

    def gates(self) -> tuple[Tensor, Tensor]:
        """(p_t, z_t), gate and candidate [T, B, H] at every step; ValueError where a cell gives none."""
        if not hasattr(self.cell, "gate_and_candidate"):
            raise ValueError(f"the cell {self.cell.name} does not tell its gate and candidate")
        return self.cell.gate_and_candidate(self.parameters, self.inputs, one_step_before(self.outputs))


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

    @cached_property
    def cohort(self) -> dict[str, Tensor]:
        """The parameters with a replica axis of one."""
        return {name: value[None] for name, value in self.parameters.items()}

    @cached_property
    def initial(self) -> dict[str, Tensor]:
        """The parameters that the replica began with."""
        drawn = self.model.initialise(rng(self.init_seed))
        return {name: torch.from_numpy(value) for name, value in drawn.items()}

    def require(self, probe: str, **kinds: type) -> None:
        """ValueError where the task or the model is not of the kind that `probe` looks at."""
        for part, kind in kinds.items():
            if not isinstance(given := getattr(self, part), kind):
                raise ValueError(f"the probe {probe} looks at the {part} {kind.name}, not at {given.name}")

    def tensor(self, values: np.ndarray) -> Tensor:
        """`values` in the precision of the parameters."""
        return torch.from_numpy(np.ascontiguousarray(values)).double()

    def items(self, split: str, count: int) -> tuple[Tensor, Tensor]:
        """(inputs, targets) of the first `count` items of `split`: [T, count, I], or [T, count] for symbols,
        and [.., count, O], or [.., count] for classes.

        ValueError where the split has fewer, and for a task that carries states where a batch has fewer: the
        rows of a later batch do not begin at a zero state.
        """
        batches, items = [], 0
        for batch in self.task.evaluation_of(self.data_seed, split):
            if self.task.carries_state and batch.inputs.shape[1] < count:
                rows = f"the task {self.task.name} carries states and has {batch.inputs.shape[1]} rows"
                raise ValueError(f"{count} items asked for; {rows}, which begin at a zero state")
            batches.append(batch)
            items += batch.inputs.shape[1]
            if items >= count:
                break
        if items < count:
            raise ValueError(f"{count} items asked for; the split {split} has {items}")

        def joined(arrays: list[np.ndarray]) -> Tensor:
            axis = -1 if np.issubdtype(arrays[0].dtype, np.integer) else -2
            first = np.concatenate(arrays, axis).take(range(count), axis)
            return torch.from_numpy(first) if axis == -1 else self.tensor(first)

        return joined([batch.inputs for batch in batches]), joined([batch.targets for batch in batches])

    def layers(self, inputs: Tensor) -> Iterator[Layer]:
        """Each cell in turn, run on inputs [T, B, I], or [T, B] for symbols."""
        x = self.model.entered(self.parameters, inputs, None)
        for name, cell in self.model.cells.items():
            own = {each: self.parameters[f"{name}/{each}"] for each in cell.shapes()}
            start = cell.initial_state(inputs.shape[1], dtype=torch.float64)
            outputs, _ = engine.find("eager").run(cell, own, x, start)
            yield Layer(cell, own, x, outputs)
            x = outputs

    def states(self, inputs: Tensor) -> Tensor:
        """The outputs h_1 .. h_T [T, B, H] of the first cell."""
        return next(self.layers(inputs)).outputs

    def outputs(self, states: Tensor) -> Tensor:
        """What the read-out says of `states` [.., H], at every step; for a model of one layer."""
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
