"""The tables of one experiment out of its run folders, in equal bytes whatever the order of folders."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.curves import Series, read_curves_of_run, write_curves
from tensor_rnns.experiments.records import KEY, METRICS
from tensor_rnns.experiments.run_folders import RECORD, read_record, replica_key, run_name
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.files import damaged, parsing, read_csv, write_csv

RUNS = (
    *KEY, "status", "failed_at", "updates", "parameters", "seconds_per_update", "engine", "device", "host",
    "threads", "searched", "protocol", "hash", "commit", "learning_rate", "settings",
)  # fmt: skip
Key = tuple[str | int, ...]
Cells = dict[Key, str]


def read_cells(path: Path, of: str) -> Cells:
    """{key + (split, name): text} of a table of metrics; Damaged for a repeated cell or what is no number."""
    cells: Cells = {}
    with parsing(path):
        for row in read_csv(path, METRICS, of):
            key = (*replica_key(row), row["split"], row["name"])
            if key in cells:
                raise damaged(path, f"a second value for {row}")
            float(row["value"])
            cells[key] = row["value"]
    return cells


def run_row(record: dict[str, Any], replica: dict[str, Any], path: Path) -> dict[str, Any]:
    """One row of runs.csv out of a record and one of its replicas."""
    known = {"failed_at": None, "seconds_per_update": None, "learning_rate": None} | record | replica
    try:
        row = {name: known[name] for name in RUNS}
    except KeyError as error:
        raise damaged(path, f"a record without {error}; replicas need {list(RUNS)}") from None
    settings = row["settings"]
    row["searched"] = str(bool(row["searched"])).lower()
    row["learning_rate"] = (settings.get("training") or {}).get("learning_rate")
    row["settings"] = json.dumps(settings, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return row


def check_kind(kinds: dict[Key, tuple[Key, Path]], row: dict[str, Any], code: str, path: Path) -> None:
    """ValueError where a final run has other settings, or is of other code, than those of its curve before:
    a mean over both would be of neither."""
    if row["stage"] == "final":
        curve = tuple(row[name] for name in CURVE)
        known, first = kinds.setdefault(curve, ((row["settings"], code), path))
        if (row["settings"], code) != known:
            what = "code" if row["settings"] == known[0] else "settings"
            message = f"a final run of {'/'.join(curve)} of other {what} than that in {first}"
            raise ValueError(f"{path}: {message}; allowed is one for a curve")


def collect(run_folders: Iterable[Path | str], out_folder: Path | str) -> set[Key]:
    """Concatenate metrics.csv, curves.csv.gz and record.json of the runs of one experiment; returns their
    keys.

    Writes metrics.csv, curves.npz and runs.csv to `out_folder`, sorted by key, split, name and update. A
    metric is copied as it was written. A damaged file, a replica met twice, final runs of a curve that are
    not of one kind, or a second experiment raises ValueError naming the file.
    """
    metrics: Cells = {}
    curves: Series = {}
    runs: dict[Key, dict[str, Any]] = {}
    kinds: dict[Key, tuple[Key, Path]] = {}
    for folder in sorted(Path(folder) for folder in run_folders):
        record = read_record(folder)
        for replica in record["replicas"]:
            row, key = run_row(record, replica, folder / RECORD), replica_key(replica)
            if key in runs:
                raise ValueError(f"{folder / RECORD}: a second record of {dict(zip(KEY, key, strict=True))}")
            check_kind(kinds, row, replica.get("code", ""), folder / RECORD)
            runs[key] = row
        experiments = {key[:3] for key in runs}
        if len(experiments) > 1:
            raise ValueError(f"{folder}: runs of several experiments or scales: {sorted(experiments)}")
        of, recorded = run_name(record["replicas"][0]), set(map(replica_key, record["replicas"]))
        silent = set(recorded)
        tables = (metrics, read_cells, "metrics.csv"), (curves, read_curves_of_run, "curves.csv.gz")
        for table, read, name in tables:
            cells = read(folder / name, of)
            there = {cell[: len(KEY)] for cell in cells}
            if strangers := there - recorded:
                stranger = "/".join(map(str, min(strangers)))
                raise damaged(folder / name, f"values of a replica without a record: {stranger}")
            silent -= there
            table |= cells
        if silent:
            raise damaged(folder, f"no values of a recorded replica: {'/'.join(map(str, min(silent)))}")
    out, of = Path(out_folder), "/".join(map(str, min(runs)[:3])) if runs else ""
    cells = (dict(zip(METRICS, (*key, metrics[key]), strict=True)) for key in sorted(metrics))
    write_csv(out / "metrics.csv", cells, METRICS, of)
    write_curves(out / "curves.npz", curves, of)
    write_csv(out / "runs.csv", (runs[key] for key in sorted(runs)), RUNS, of)
    return set(runs)
