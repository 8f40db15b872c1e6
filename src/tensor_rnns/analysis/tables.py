"""The collected tables of one experiment, read back as runs that measures can be taken of."""

import io
import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns import datasets
from tensor_rnns.analysis.collect import METRICS, RUNS
from tensor_rnns.analysis.curves import read_curves
from tensor_rnns.analysis.runs import Run
from tensor_rnns.experiments.records import KEY
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.experiments.selector import MAIN
from tensor_rnns.files import damaged, parsing, read_json
from tensor_rnns.files import read_table as read_text

COMPUTED = ("item", "name", "index", "value")
PROBED = (*KEY, *COMPUTED)
NUMBERS = {"point": "int64", "seed": "int64", "index": "float64", "value": "float64"}
CURVE = ("condition", "variant", "option", "stage", "point", "dataset")
Key = tuple[Any, ...]
Items = Mapping[tuple[str, str], np.ndarray]


def read_table(path: Path, columns: tuple[str, ...], of: str | None = None) -> pd.DataFrame:
    """A table of numbers and plain texts; Damaged where its bytes, its owner or its columns are others."""
    with parsing(path):
        table = pd.read_csv(
            io.StringIO(read_text(path, of)),
            dtype={name: NUMBERS.get(name, "object") for name in columns},
            keep_default_na=False,
            na_values={"value": ["", "nan"]},
        )
    if tuple(table.columns) != columns:
        raise damaged(path, f"its columns are {list(table.columns)}; expected are {list(columns)}")
    return table


def by_replica(table: pd.DataFrame) -> dict[Key, Items]:
    """{key: {(item, name): values ordered by index}}; the key of a table without replicas is ()."""
    values: dict[Key, dict[tuple[str, str], list[float]]] = {}
    ordered = table.sort_values(["item", "name", "index"], kind="stable")
    for *key, item, name, _, value in ordered.itertuples(index=False, name=None):
        values.setdefault(tuple(key), {}).setdefault((item, name), []).append(value)
    return {key: {cell: np.array(found) for cell, found in own.items()} for key, own in values.items()}


class Tables:
    """What one experiment left at one scale below `results`/`scale`; whatever is absent is empty.

    A computed experiment has one run, without metrics, that carries its computed table.
    """

    def __init__(self, results: Path | str, scale: str, paper: str, experiment: str):
        root = Path(results) / scale
        self.ready = Path(results) / "data" / "ready"
        self.key = dict.fromkeys(KEY, "") | {"paper": paper, "experiment": experiment, "scale": scale}
        self.collected = root / "collected" / paper / experiment
        self.computed_path = root / "computed" / paper / f"{experiment}.csv"
        self.probes = root / "probes" / paper / experiment
        self.of = table_name(paper, experiment, scale)
        self.probe_tables: dict[str, Mapping[Key, Items]] = {}
        self.counted: dict[float, list[Run]] = {}

    @cached_property
    def computed(self) -> Items:
        """The computed table; {} where the experiment computes nothing or has not run."""
        path = self.computed_path
        return by_replica(read_table(path, COMPUTED, self.of)).get((), {}) if path.exists() else {}

    @cached_property
    def curves(self) -> dict[Key, dict[tuple[str, str], tuple[np.ndarray, np.ndarray]]]:
        """Per replica {(split, name): (updates, values)}."""
        by_key: dict[Key, dict] = {}
        rows = read_curves(self.collected / "curves.npz", self.of).itertuples(index=False, name=None)
        for *key, split, name, updates, values in rows:
            by_key.setdefault(tuple(key), {})[split, name] = updates, values
        return by_key

    def probe(self, name: str) -> Mapping[Key, Items]:
        """What a probe left of each replica."""
        if name not in self.probe_tables:
            path, of = self.probes / f"{name}.csv", f"{self.of}/{name}"
            self.probe_tables[name] = by_replica(read_table(path, PROBED, of)) if path.exists() else {}
        return self.probe_tables[name]

    def facts(self, dataset: str) -> Mapping[str, Any]:
        """The counted facts of a prepared data set; of another those that every preparation is held to."""
        path = self.ready / f"{dataset}.json"
        if dataset and path.exists():
            return read_json(path, dataset)
        return datasets.card(dataset)["counted"] if dataset in datasets.names() else {}

    @cached_property
    def runs(self) -> list[Run]:
        """Every replica that has a record, in the order of the table."""
        if not (self.collected / "runs.csv").exists():
            key = self.key | {"option": MAIN, "stage": "final", "point": 0, "seed": 0}
            return [Run(key, load_computed=lambda: self.computed)] if self.computed else []
        metrics: dict[Key, dict[tuple[str, str], float]] = {}
        table = read_table(self.collected / "metrics.csv", METRICS, self.of)
        for *key, split, name, value in table.itertuples(index=False, name=None):
            metrics.setdefault(tuple(key), {})[split, name] = value
        records = read_table(self.collected / "runs.csv", RUNS, self.of).to_dict("records")
        return [self.run(record, metrics.get(tuple(record[name] for name in KEY), {})) for record in records]

    def run(self, record: Mapping[str, Any], metrics: Mapping[tuple[str, str], float]) -> Run:
        """One row of runs.csv with its metrics, and its curves, probes and computed table on demand."""
        key = {name: record[name] for name in KEY}
        replica = tuple(key.values())
        parameters, seconds = record["parameters"], record["seconds_per_update"]
        return Run(
            key=key,
            status=record["status"],
            updates=int(float(record["updates"] or 0)),
            parameters=int(float(parameters)) if parameters else None,
            seconds_per_update=float(seconds) if seconds else None,
            protocol=record["protocol"],
            searched=record["searched"] == "true",
            settings=json.loads(record["settings"]),
            metrics=metrics,
            load_facts=lambda: self.facts(key["dataset"]),
            load_peers=lambda: [peer for peer in self.runs if all(peer.key[at] == key[at] for at in CURVE)],
            load_curves=lambda: self.curves.get(replica, {}),
            load_computed=lambda: self.computed,
            load_probe=lambda probe: self.probe(probe).get(replica, {}),
        )
