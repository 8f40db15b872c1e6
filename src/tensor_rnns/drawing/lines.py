"""Lines of a figure of curves: one per replica, and where the middle and the spread of several lie."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tensor_rnns.analysis.runs import running_series
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.experiments.records import KEY

POINTS = 400
"""A drawn line has at most about this many points; more would not be seen and make the files large."""


@dataclass(frozen=True)
class Line:
    """One replica: its updates, its values there, and whether it failed."""

    updates: np.ndarray
    values: np.ndarray
    failed: bool


def lines(
    data: ArtefactData, rows: pd.DataFrame, width: int, pace: Mapping[tuple, float] | None = None
) -> list[Line]:
    """One line for each of the series `rows`, in the order of point and seed.

    `width` counts updates; with `pace`, the updates of a unit by replica, the line is in those units, and
    empty for a replica without one.
    """
    result = []
    ordered = rows.sort_values(list(KEY))[[*KEY, "update", "value"]]
    for *key, updates, values in ordered.itertuples(index=False, name=None):
        replica = tuple(key)
        shown = np.isfinite(values) & (not pace or replica in pace)
        updates, values = updates[shown].astype(float), values[shown]
        if width > 1 and len(updates):
            updates, values = running_series(updates, values, width)
        per = pace[replica] if pace and len(updates) else 1.0
        result.append(Line(updates / per, values, data.runs[replica].failed))
    return result


def summary(group_lines: Sequence[Line], centre: str, band: str) -> tuple[np.ndarray, ...]:
    """(updates, centre, low, high) where at least half of the lines have values, about POINTS of them, or
    none: mean or median, quartiles or range."""
    updates = np.unique(np.concatenate([line.updates for line in group_lines]))
    table = np.full((len(group_lines), len(updates)), np.nan)
    for row, line in zip(table, group_lines, strict=True):
        row[np.searchsorted(updates, line.updates)] = line.values
    enough = np.isfinite(table).sum(0) * 2 >= len(group_lines)
    updates, *rows = thinned(updates[enough], *table[:, enough])
    table = np.array(rows)
    if not len(updates):
        return updates, updates, updates, updates
    middle = (np.nanmean if centre == "mean" else np.nanmedian)(table, axis=0)
    low, high = np.nanquantile(table, (0.25, 0.75) if band == "quantiles" else (0.0, 1.0), axis=0)
    return updates, middle, low, high


def thinned(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every k-th entry of arrays of equal length, first and last kept, so that about POINTS are left."""
    length = len(arrays[0])
    if length <= POINTS:
        return arrays
    keep = np.unique(np.linspace(0, length - 1, POINTS).round().astype(int))
    return tuple(array[keep] for array in arrays)
