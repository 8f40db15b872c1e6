"""Streams of batches with their loss, metric and baseline: one file per task."""

import sys
from collections.abc import Mapping
from typing import Any

from tensor_rnns.cells import named
from tensor_rnns.tasks.base import Batch, Task

__all__ = ["Batch", "Task", "build", "names"]


def names() -> dict[str, type[Task]]:
    """Every task of this package by name."""
    return named.classes(sys.modules[__name__], Task)


def build(settings: Mapping, dataset: Any = None) -> Task:
    """The task of settings["task"] (its `name`, then options), with the batch size of settings["training"].

    `dataset` is a loaded data set, or None for a task that makes its own data. An unknown name or option, or
    a wrong value, raises ValueError with what is allowed.
    """
    chosen = named.find("task", names(), settings["task"].get("name"))
    given = {key: value for key, value in settings["task"].items() if key != "name"}
    provided = {"batch_size": settings["training"].get("batch"), "dataset": dataset}
    return named.construct("task", chosen, given, provided)
