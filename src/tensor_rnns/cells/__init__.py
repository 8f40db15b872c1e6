"""Recurrent cells: one file a family, parameters and one readable step each."""

import sys
from collections.abc import Mapping

from tensor_rnns.cells import named
from tensor_rnns.cells.base import Cell

__all__ = ["Cell", "build", "families"]


def families() -> dict[str, type[Cell]]:
    """Every cell of this package by name."""
    return named.classes(sys.modules[__name__], Cell)


def build(settings: Mapping, inputs: int) -> Cell:
    """The cell of a `cell` block: its `name`, then its fields except `inputs`, which is given apart.

    An unknown name or field, a missing field or a wrong value raises ValueError with what is allowed.
    """
    chosen = named.find("cell", families(), settings.get("name"))
    given = {key: value for key, value in settings.items() if key != "name"}
    return named.construct("cell", chosen, given, {"inputs": inputs})
