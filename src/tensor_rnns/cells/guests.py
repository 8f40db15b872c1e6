"""Cells from a file outside the package."""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from tensor_rnns.cells.base import Cell


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
    """Every cell that the file defines, by name."""
    things = vars(module(path.resolve())).values()
    return {
        thing.name: thing
        for thing in things
        if isinstance(thing, type) and issubclass(thing, Cell) and "name" in vars(thing)
    }
