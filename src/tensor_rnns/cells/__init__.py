"""Recurrent cells: one file a family, parameters and one readable step each."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping

from tensor_rnns.cells.base import Cell


def families() -> dict[str, type[Cell]]:
    """Every cell of this package by name."""
    found = {}
    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, Cell) and "name" in vars(thing):
                found[thing.name] = thing
    return found


def build(settings: Mapping, inputs: int) -> Cell:
    """The cell of a `cell` block: its `name`, then its fields except `inputs`, which is given apart.

    An unknown name, an unknown field or a missing one raises ValueError with what is allowed.
    """
    cells = families()
    name = settings.get("name")
    if name not in cells:
        raise ValueError(f"cell {name!r} is not known; allowed: {', '.join(sorted(cells))}")
    given = {key: value for key, value in settings.items() if key != "name"}
    fields = {field.name: field for field in dataclasses.fields(cells[name]) if field.name != "inputs"}
    if unknown := sorted(given.keys() - fields):
        raise ValueError(f"cell {name}: {', '.join(unknown)} given; allowed: {', '.join(fields)}")
    needed = {key for key, field in fields.items() if field.default is dataclasses.MISSING}
    if missing := sorted(needed - given.keys()):
        stated = ", ".join(given) or "nothing"
        raise ValueError(f"cell {name}: {', '.join(missing)} not given; given: {stated}")
    return cells[name](inputs=inputs, **given)
