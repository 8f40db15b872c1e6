"""Cells, models and tasks are found by name, so that of two classes with one name one would be lost."""

import importlib
import pkgutil
from collections import defaultdict

import pytest

from tensor_rnns import cells, models, tasks
from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.named import classes_of
from tensor_rnns.models.base import Model
from tensor_rnns.tasks.base import Task


@pytest.mark.parametrize(
    ("room", "base"), [(cells, Cell), (models, Model), (tasks, Task)], ids=["cells", "models", "tasks"]
)
def test_each_name_is_that_of_one_class(room, base) -> None:
    named = defaultdict(set)
    for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}."):
        for name, found in classes_of(importlib.import_module(module.name), base).items():
            named[name].add(found)
    assert len(named) > 10
    assert {name: found for name, found in named.items() if len(found) > 1} == {}
