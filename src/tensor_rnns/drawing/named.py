"""Panels that an artefact lists by the names of their numbers: {title, series: [{item, ...}]}."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from tensor_rnns.drawing.style import look, plain


@dataclass(frozen=True)
class Series:
    """One line, or points of one look: that of `cell` where it is given."""

    item: str
    label: str | None = None
    cell: str | None = None

    @property
    def title(self) -> str:
        """What the series is called in the legend."""
        return self.label or self.item


@dataclass(frozen=True)
class Panel:
    """One panel."""

    series: tuple[Series, ...]
    title: str = ""


def looks_of(panels: Sequence[Panel], **more: Any) -> dict[str, dict[str, Any]]:
    """One look per title, the same in all panels: that of its cell, else the next plain one."""
    looks: dict[str, dict[str, Any]] = {}
    for series in (series for panel in panels for series in panel.series):
        own = plain(len(looks)) if series.cell is None else look(series.cell)
        looks.setdefault(series.title, own | more)
    return looks


def handles_of(looks: Mapping[str, Mapping[str, Any]]) -> list[Line2D]:
    """The entries of the legend."""
    return [Line2D([], [], label=label, **style) for label, style in looks.items()]


def numbers_of(
    table: pd.DataFrame, artefact: str, item: str, name: str | None
) -> tuple[np.ndarray, np.ndarray]:
    """Index and value of one item and name by index; the name may be left out where the item has one.

    ValueError, with what there is, where the table does not have exactly that.
    """
    rows = table[(table["item"] == item) & ((table["name"] == name) | (name is None))]
    if rows["name"].nunique() != 1:
        have = sorted({f"{item}/{name}" for item, name in zip(table["item"], table["name"], strict=True)})
        raise ValueError(f"{artefact}: no {name or 'single name'} of {item}; there are {have[:20]}")
    rows = rows.sort_values("index")
    return rows["index"].to_numpy(float), rows["value"].to_numpy(float)
