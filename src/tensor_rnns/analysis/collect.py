"""The tables of one experiment out of its run folders, in equal bytes whatever the order of folders."""

import csv
import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tensor_rnns.experiments.records import KEY
from tensor_rnns.files import read_json, write_csv

METRICS = (*KEY, "split", "name", "value")
CURVES = (*KEY, "split", "name", "update", "value")
RUNS = (
    *KEY, "status", "failed_at", "updates", "parameters", "seconds_per_update", "engine", "device", "host",
    "threads", "searched", "protocol", "hash", "commit", "learning_rate", "settings",
)  # fmt: skip
NUMBERED = {KEY.index("point"), KEY.index("seed")}
Place = tuple[str | int, ...]


def place_of(fields: Iterable[Any]) -> Place:
    """The KEY columns as a sortable tuple, with point and seed as integers."""
    return tuple(int(text) if i in NUMBERED else str(text) for i, text in enumerate(fields))


def read(path: Path, columns: tuple[str, ...]) -> Iterator[list[str]]:
    """The rows of a table; ValueError naming the file where its header or a row's length is another."""
    with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else open(path, newline="") as stream:
        rows = csv.reader(stream)
        header = next(rows, [])
        if header != list(columns):
            raise ValueError(f"{path}: its columns are {header}; expected are {list(columns)}")
        for row in rows:
            if len(row) != len(columns):
                raise ValueError(
                    f"{path}, line {rows.line_num}: {len(row)} fields; expected are {len(columns)}"
                )
            yield row


def add(tables: dict[Place, dict], path: Path, columns: tuple[str, ...]) -> None:
    """Read a table into {place + (split, name): {update: text}}; a repeated cell raises ValueError."""
    for row in read(path, columns):
        try:
            place = (*place_of(row[: len(KEY)]), row[len(KEY)], row[len(KEY) + 1])
            position = int(row[-2]) if columns is CURVES else 0
            float(row[-1])
        except ValueError as error:
            raise ValueError(f"{path}: {error} in the row {row}") from None
        cells = tables.setdefault(place, {})
        if position in cells:
            raise ValueError(f"{path}: a second value for {dict(zip(columns, row, strict=True))}")
        cells[position] = row[-1]


def run_row(record: dict[str, Any], replica: dict[str, Any], path: Path) -> dict[str, Any]:
    """One row of runs.csv out of a record and one of its replicas."""
    try:
        settings = replica["settings"]
        row = {
            name: replica[name]
            for name in (*KEY, "status", "updates", "parameters", "protocol", "hash", "searched")
        }
        row |= {name: replica.get(name) for name in ("failed_at", "seconds_per_update")}
        where = record | replica
        row |= {name: where[name] for name in ("engine", "device", "threads", "commit")}
        host = where["host"]
    except KeyError as error:
        raise ValueError(f"{path}: a record without {error}; replicas need {list(RUNS)}") from None
    row["host"] = host if isinstance(host, str) else json.dumps(host, sort_keys=True, ensure_ascii=False)
    row["searched"] = str(bool(row["searched"])).lower()
    row["learning_rate"] = (settings.get("training") or {}).get("learning_rate")
    row["settings"] = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return row


def rows_of(tables: dict[Place, dict], columns: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """The sorted rows of `add`'s tables."""
    for place in sorted(tables):
        for position in sorted(tables[place]):
            middle = (position,) if columns is CURVES else ()
            yield dict(zip(columns, (*place, *middle, tables[place][position]), strict=True))


def collect(run_folders: Iterable[Path | str], out_folder: Path | str) -> None:
    """Concatenate metrics.csv, curves.csv.gz and record.json of the runs of one experiment.

    Writes metrics.csv, curves.csv and runs.csv to `out_folder`, sorted by key, split, name and update,
    numbers copied as they were written. A header that differs, a value that is no number, a replica or cell
    met twice, or a second experiment raises ValueError naming the file.
    """
    metrics: dict[Place, dict] = {}
    curves: dict[Place, dict] = {}
    runs: dict[Place, dict[str, Any]] = {}
    for folder in sorted(Path(folder) for folder in run_folders):
        record = read_json(folder / "record.json")
        for replica in record["replicas"]:
            row = run_row(record, replica, folder / "record.json")
            place = place_of(row[name] for name in KEY)
            if place in runs:
                raise ValueError(
                    f"{folder / 'record.json'}: a second record of {dict(zip(KEY, place, strict=True))}"
                )
            runs[place] = row
        add(metrics, folder / "metrics.csv", METRICS)
        add(curves, folder / "curves.csv.gz", CURVES)
        experiments = {place[:3] for place in runs}
        if len(experiments) > 1:
            raise ValueError(f"{folder}: runs of several experiments or scales: {sorted(experiments)}")
        strangers = {place[: len(KEY)] for place in (*metrics, *curves)} - runs.keys()
        if strangers:
            raise ValueError(f"{folder}: values of a replica without a record: {sorted(strangers)[0]}")
    out = Path(out_folder)
    write_csv(out / "metrics.csv", rows_of(metrics, METRICS), METRICS)
    write_csv(out / "curves.csv", rows_of(curves, CURVES), CURVES)
    write_csv(out / "runs.csv", (runs[place] for place in sorted(runs)), RUNS)
