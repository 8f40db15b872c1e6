"""Nets with weights made by hand, as probes get them."""

from collections.abc import Callable

import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes.trained import Trained


@pytest.fixture
def net() -> Callable[..., Trained]:
    """A function that builds a net with random weights; `weights` maps a parameter to what is added to
    zeros of its shape, in place of its random values. `kind` is the class, for nets that pretend."""

    def make(task: dict, cell: dict, model="every_step", weights=None, kind=Trained) -> Trained:
        settings = {"task": task, "training": {"batch": 3}, "model": {"name": model}, "cell": cell}
        made_task = tasks.build(settings)
        model = models.build(settings, made_task.inputs, made_task.outputs)
        parameters = {name: torch.from_numpy(value) for name, value in model.initialise(rng(5)).items()}
        for name, value in (weights or {}).items():
            parameters[name] = torch.zeros_like(parameters[name]) + torch.as_tensor(value).double()
        return kind({"seed": 2}, settings, parameters, made_task, 11, 12)

    return make


@pytest.fixture
def numbers() -> Callable[[list[dict]], dict]:
    """Table rows as {(item, name): list of values in the order of their index}."""

    def table(rows: list[dict]) -> dict:
        found: dict = {}
        for row in rows:
            found.setdefault((row["item"], row["name"]), []).append(row["value"])
            assert row["index"] == len(found[row["item"], row["name"]]) - 1
        return found

    return table
