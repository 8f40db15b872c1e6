"""Cells from a file outside the package."""

import dataclasses
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from tensor_rnns.cells.base import Cell

SOLVED = ("inputs", "hidden", "rank")
"""Fields that a guest need not have a value for: the width is solved, a rank without default equals it."""


@cache
def module(path: Path) -> ModuleType:
    """The Python file `path`, run once in a process."""
    name = f"tensor_rnns_guest_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"guest cell {path} given; allowed: Python files that exist")
    found = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up while it is made.
    sys.modules[name] = found
    spec.loader.exec_module(found)
    return found


def families(path: Path) -> dict[str, type[Cell]]:
    """Every cell that the file defines, by name.

    ValueError for a cell without the field `hidden`, or with another field that has no default.
    """
    things = vars(module(path.resolve())).values()
    found = {
        thing.name: thing
        for thing in things
        if isinstance(thing, type) and issubclass(thing, Cell) and "name" in vars(thing)
    }
    for name, cell in found.items():
        keys = {field.name: field for field in dataclasses.fields(cell)}
        if "hidden" not in keys:
            raise ValueError(f"guest cell {name} has the fields {', '.join(keys)}; it needs hidden")
        open_fields = [key for key, field in keys.items() if field.default is field.default_factory]
        if unsolved := [key for key in open_fields if key not in SOLVED]:
            raise ValueError(
                f"guest cell {name}: {', '.join(unsolved)} has no default; allowed: hidden, rank"
            )
    return found
