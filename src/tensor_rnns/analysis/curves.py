"""The logged values of all runs of an experiment in one file of arrays.

A run folder keeps them as a table for anybody to read. Joined, those tables have millions of rows, and
a report of recorded runs spent most of its time on writing and reading them as text.
"""

import csv
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd

from tensor_rnns.experiments.records import KEY
from tensor_rnns.experiments.run_folders import replica_key
from tensor_rnns.files import damaged, parsing, read_table
from tensor_rnns.npz_files import read_npz, write_npz

SERIES = (*KEY, "split", "name")
CURVES = (*SERIES, "update", "value")
Series = dict[tuple[str | int, ...], tuple[np.ndarray, np.ndarray]]
"""{key, split and name: (updates in ascending order, values)}."""


def read_curves_of_run(path: Path, of: str) -> Series:
    """The table of curves of a run folder; Damaged for a repeated update or what is no number."""
    lines = read_table(path, of).removesuffix("\n").split("\n")
    found: dict[tuple[str | int, ...], list[np.ndarray]] = {}
    with parsing(path):
        if lines[0] != ",".join(CURVES):
            raise damaged(path, f"its columns are {lines[0].split(',')}; expected are {list(CURVES)}")
        rows = [line.rsplit(",", 2) for line in lines[1:]]
        points = [np.array([kind(row[i]) for row in rows], kind) for i, kind in ((1, int), (2, float))]
        end = 0
        for head, same in groupby(row[0] for row in rows):
            begin, end = end, end + len(list(same))
            fields = dict(zip(SERIES, next(csv.reader([head], strict=True)), strict=True))
            key = (*replica_key(fields), fields["split"], fields["name"])
            found.setdefault(key, []).append(np.arange(begin, end))
        return {key: ordered(path, key, *points, np.concatenate(parts)) for key, parts in found.items()}


def ordered(
    path: Path, key: tuple[str | int, ...], updates: np.ndarray, values: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The points in these rows, by update; Damaged where an update comes twice."""
    rows = rows[np.argsort(updates[rows], kind="stable")]
    mine = updates[rows]
    if (again := mine[1:][mine[1:] == mine[:-1]]).size:
        raise damaged(path, f"a second value for {dict(zip(SERIES, key, strict=True))}, update {again[0]}")
    return mine, values[rows]


def write_curves(path: Path, curves: Series, of: str) -> None:
    """Write the series, sorted; equal ones give equal bytes."""
    keys = sorted(curves)
    parts = [curves[key] for key in keys]
    arrays = {
        "series": np.array([list(map(str, key)) for key in keys], dtype=str).reshape(len(keys), len(SERIES)),
        "points": np.array([len(updates) for updates, _ in parts], dtype=np.int64),
        "update": np.concatenate([np.empty(0, np.int64), *(updates for updates, _ in parts)]),
        "value": np.concatenate([np.empty(0), *(values for _, values in parts)]),
    }
    write_npz(path, arrays, of)


def read_curves(path: Path, of: str | None = None) -> pd.DataFrame:
    """A row for each series: its key, split and name, and the arrays of its updates and its values."""
    with parsing(path):
        arrays = read_npz(path, of)
        names, cuts = arrays["series"].tolist(), arrays["points"].cumsum()[:-1]
        table = pd.DataFrame(names, columns=list(SERIES), dtype=object).astype({"point": int, "seed": int})
        for name in CURVES[-2:]:
            table[name] = pd.Series(np.split(arrays[name], cuts) if names else [], dtype=object)
        return table
