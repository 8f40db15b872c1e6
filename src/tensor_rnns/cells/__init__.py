"""Recurrent cells: one file a family, parameters and one readable step each."""

import dataclasses
import sys
from collections.abc import Mapping
from pathlib import Path

from tensor_rnns.cells import guests, named
from tensor_rnns.cells.base import Cell

__all__ = ["Cell", "build", "families", "find", "open_fields"]


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
        known |= guests.families(Path(settings["file"]))
    return named.find("cell", known, settings.get("name"))


def open_fields(chosen: type[Cell]) -> list[str]:
    """The fields of a cell without a default, except `inputs`."""
    return [
        field.name
        for field in dataclasses.fields(chosen)
        if field.name != "inputs" and field.default is field.default_factory
    ]
