"""The logged values of all runs of an experiment in one file of arrays.

A run folder keeps them as a table for anybody to read. Joined, those tables have millions of rows, and
a report of recorded runs spent most of its time on writing and reading them as text.
"""

import csv
from pathlib import Path

import numpy as np
import pandas as pd

from tensor_rnns.experiments.records import CURVES, SERIES
from tensor_rnns.experiments.run_folders import replica_key
from tensor_rnns.files import damaged, parsing, read_table
from tensor_rnns.npz_files import read_npz, write_npz

POINT = np.dtype([("update", np.int64), ("value", np.float64)])
Series = dict[tuple[str | int, ...], tuple[np.ndarray, np.ndarray]]
"""{key, split and name: (updates in ascending order, values)}."""


def read_curves_of_run(path: Path, of: str) -> Series:
    """The table of curves of a run folder; Damaged for a repeated update or what is no number."""
    lines = read_table(path, of).removesuffix("\n").split("\n")
    found: dict[tuple[str | int, ...], list[str]] = {}
    with parsing(path):
        if lines[0] != ",".join(CURVES):
            raise damaged(path, f"its columns are {lines[0].split(',')}; expected are {list(CURVES)}")
        head, points = "\n", []
        for line in lines[1:]:
            if not line.startswith(head):
                head = line.rsplit(",", 2)[0] + ","
                fields = dict(zip(SERIES, next(csv.reader([head[:-1]], strict=True)), strict=True))
                points = found.setdefault((*replica_key(fields), fields["split"], fields["name"]), [])
            points.append(line[len(head) :])
        return {key: ordered(path, key, points) for key, points in found.items()}


def ordered(path: Path, key: tuple[str | int, ...], points: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The points "update,value", by update; Damaged where an update comes twice."""
    found = np.loadtxt(points, POINT, comments=None, delimiter=",", ndmin=1)
    if len(found) < len(points):
        raise damaged(path, f"an empty line in {dict(zip(SERIES, key, strict=True))}")
    updates, values = (found[name] for name in CURVES[-2:])
    order = np.argsort(updates, kind="stable")
    updates = updates[order]
    if (again := updates[1:][updates[1:] == updates[:-1]]).size:
        raise damaged(path, f"a second value for {dict(zip(SERIES, key, strict=True))}, update {again[0]}")
    return updates, values[order]


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
