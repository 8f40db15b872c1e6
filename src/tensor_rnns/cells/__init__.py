"""Recurrent cells: one file per family, parameters and one readable step each."""

import dataclasses
import importlib.util
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tensor_rnns.cells import named
from tensor_rnns.cells.base import Cell

__all__ = ["Cell", "build", "families", "find", "guests", "open_fields"]


def families() -> dict[str, type[Cell]]:
    """Every cell of this package by name."""
    return named.classes(sys.modules[__name__], Cell)


def build(settings: Mapping, inputs: int) -> Cell:
    """The cell of a `cell` block: its `name`, then its fields except `inputs`, which is given apart.

    A guest's block has the `file` that it stands in; while its width is not solved it takes that of its
    `budget`. An unknown name or field, a missing field or a wrong value raises ValueError with what is
    allowed.
    """
    chosen = find(settings)
    given = {key: value for key, value in settings.items() if key not in ("name", "file", "budget")}
    if "budget" in settings:
        given = {key: settings["budget"].get(key, 1) for key in open_fields(chosen)} | given
    return named.construct("cell", chosen, given, {"inputs": inputs})


def find(settings: Mapping) -> type[Cell]:
    """The class of a `cell` block; ValueError with the allowed names where there is none."""
    known = families()
    if "file" in settings:
        known |= guests(Path(settings["file"]).resolve())
    return named.find("cell", known, settings.get("name"))


def open_fields(chosen: type[Cell]) -> list[str]:
    """The fields of a cell without a default, except `inputs`."""
    return [
        field.name
        for field in dataclasses.fields(chosen)
        if field.name != "inputs" and field.default is field.default_factory
    ]


@cache
def guests(path: Path) -> dict[str, type[Cell]]:
    """Every cell that a Python file outside the package defines, by name; the file is run once in a process.

    The width of a guest is solved, and a rank without default equals it. ValueError for a cell without the
    field `hidden`, or with another field that has no default.
    """
    spec = importlib.util.spec_from_file_location(f"tensor_rnns_guest_{path.stem}", path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ValueError(f"guest cell {path} given; allowed: Python files that exist")
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its own module up while it is made.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    found = named.classes_of(module, Cell)
    for name, cell in found.items():
        fields = [field.name for field in dataclasses.fields(cell)]
        if "hidden" not in fields:
            raise ValueError(f"guest cell {name} has the fields {', '.join(fields)}; it needs hidden")
        if unsolved := [key for key in open_fields(cell) if key not in ("hidden", "rank")]:
            raise ValueError(
                f"guest cell {name}: {', '.join(unsolved)} has no default; allowed: hidden, rank"
            )
    return found
