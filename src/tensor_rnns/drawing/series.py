"""From rows of curves to lines: one replica's running mean, and the centre and band of a group."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from tensor_rnns.analysis.runs import running_series
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.experiments.records import KEY

POINTS = 400
"""A drawn line has at most about this many points; more would not be seen and make the files large."""
BANDS = {"none": "thin: each seed", "quantiles": "band: quartiles", "range": "band: minimum to maximum"}
"""The kinds of band, and how a figure explains them."""


@dataclass(frozen=True)
class Line:
    """One replica: its updates, its values there, and where it failed (None if it did not)."""

    seed: int
    updates: np.ndarray
    values: np.ndarray
    failed: bool


@dataclass(frozen=True)
class Summary:
    """Centre and band of several lines on common updates."""

    updates: np.ndarray
    centre: np.ndarray
    low: np.ndarray
    high: np.ndarray


def lines(
    rows: pd.DataFrame, runs: pd.DataFrame, width: int, pace: Mapping[tuple, float] | None = None
) -> list[Line]:
    """One line for each replica of `rows` (columns KEY, update, value), in the order of point and seed.

    `width` counts updates; with `pace`, the updates of a unit by replica, the line is in those units.
    """
    ill = runs[runs["status"] == "failed"]
    failed = set(ill[list(KEY)].itertuples(index=False, name=None)) if len(ill) else set()
    found = []
    for key, group in rows.groupby(list(KEY), sort=True, dropna=False):
        group = group.sort_values("update")
        updates, values = group["update"].to_numpy(float), group["value"].to_numpy(float)
        finite = np.isfinite(values)
        updates, values = updates[finite], values[finite]
        if width > 1 and len(updates):
            updates, values = running_series(updates, values, width)
        updates = updates / pace[key] if pace else updates
        found.append(Line(int(key[KEY.index("seed")]), updates, values, key in failed))
    return found


def epoch_lengths(data: ArtefactData, rows: pd.DataFrame) -> dict[tuple, float] | None:
    """Updates of an epoch of each replica of `rows`; None where one ran less than an epoch.

    With `evaluate.every: epoch` the first validation ends the first epoch; else the updates done are divided
    by the epochs granted, which a failed run has not had.
    """
    valid = data.curves[data.curves["split"] == "valid"]
    first = valid.groupby(list(KEY), sort=False)["update"].min().to_dict()
    settings = {tuple(run.key[name] for name in KEY): run for run in data.records}
    found = {}
    for key in rows[list(KEY)].drop_duplicates().itertuples(index=False, name=None):
        training = settings[key].settings.get("training") or {} if key in settings else {}
        if (training.get("evaluate") or {}).get("every") == "epoch" and key in first:
            found[key] = float(first[key])
        elif training.get("epochs") and settings[key].status == "done":
            found[key] = settings[key].updates / training["epochs"]
        else:
            return None
    return found


def summary(found: list[Line], centre: str, band: str) -> Summary:
    """Centre (mean or median) and band (quartiles or range) where at least half of the lines have values."""
    updates = np.unique(np.concatenate([line.updates for line in found]))
    table = np.full((len(found), len(updates)), np.nan)
    for row, line in zip(table, found, strict=True):
        row[np.searchsorted(updates, line.updates)] = line.values
    enough = np.isfinite(table).sum(0) * 2 >= len(found)
    updates, table = updates[enough], table[:, enough]
    middle = (np.nanmean if centre == "mean" else np.nanmedian)(table, axis=0)
    low, high = np.nanquantile(table, (0.25, 0.75) if band == "quantiles" else (0.0, 1.0), axis=0)
    return Summary(updates, middle, low, high)


def thinned(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every k-th entry of arrays of equal length, first and last kept, so that about POINTS are left."""
    length = len(arrays[0])
    if length <= POINTS:
        return arrays
    keep = np.unique(np.linspace(0, length - 1, POINTS).round().astype(int))
    return tuple(array[keep] for array in arrays)
