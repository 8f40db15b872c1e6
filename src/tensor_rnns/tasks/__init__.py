"""Streams of batches with their loss, metric and baseline: one file a task, named after it."""

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from tensor_rnns.tasks.base import Batch, Task, stack

__all__ = ["Batch", "Task", "build", "stack"]


def build(settings: Mapping, dataset: Any = None) -> Task:
    """The task that settings["task"]["name"] names.

    An unknown name or option raises ValueError with what is allowed. `dataset` is a loaded data set, or None
    for a task that makes its own data.
    """
    names = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")
    name = settings["task"].get("name")
    if name not in names:
        raise ValueError(f"task {name!r} is not known; allowed: {', '.join(names)}")
    return importlib.import_module(f"{__name__}.{name}").build(settings, dataset)
