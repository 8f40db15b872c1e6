"""What a drawing may look at: the collected tables of one experiment at one scale, and its block of the YAML file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.collect import CURVES, METRICS, RUNS
from tensor_rnns.drawing.style import cell_title
from tensor_rnns.experiments.records import KEY, Experiment

COMPUTED = ("item", "name", "index", "value")
TEXT = {"paper", "experiment", "scale", "condition", "variant", "option", "stage", "dataset", "split", "name", "item",
        "status", "engine", "device", "host", "protocol", "hash", "commit", "settings"}  # fmt: skip


def read_table(path: Path, columns: Sequence[str]) -> pd.DataFrame:
    """The CSV file `path`, or an empty table with `columns` where there is none; text columns stay text."""
    if not path.is_file():
        return pd.DataFrame({name: pd.Series(dtype=str if name in TEXT else float) for name in columns})
    table = pd.read_csv(path, dtype=dict.fromkeys(TEXT, str), keep_default_na=False, na_values={
        name: [""] for name in columns if name not in TEXT}, float_precision="round_trip")  # fmt: skip
    missing = [name for name in columns if name not in table.columns]
    if missing:
        raise ValueError(f"{path}: the columns {missing} are missing; it has {list(table.columns)}")
    return table


@dataclass(frozen=True)
class Probe:
    """Arrays and scalars that a probe took from trained weights."""

    arrays: Mapping[str, np.ndarray]
    table: pd.DataFrame


@dataclass(frozen=True)
class ArtefactData:
    """The collected tables of one experiment at one scale; an empty table stands for what was not run."""

    experiment: Experiment
    scale: str
    metrics: pd.DataFrame
    curves: pd.DataFrame
    runs: pd.DataFrame
    computed: pd.DataFrame
    probes: Mapping[str, Probe] = field(default_factory=dict)

    @classmethod
    def load(cls, experiment: Experiment, scale: str, results: Path | str) -> "ArtefactData":
        """Read what `results`/`scale` holds of `experiment`."""
        base = Path(results) / scale
        collected = base / "collected" / experiment.paper / experiment.name
        probes = {}
        for path in sorted((base / "probes" / experiment.paper / experiment.name).glob("*.npz")):
            with np.load(path) as arrays:
                probes[path.stem] = Probe(
                    dict(arrays), read_table(path.with_suffix(".csv"), (*KEY, *COMPUTED))
                )
        return cls(
            experiment,
            scale,
            read_table(collected / "metrics.csv", METRICS),
            read_table(collected / "curves.csv", CURVES),
            read_table(collected / "runs.csv", RUNS),
            read_table(base / "computed" / experiment.paper / f"{experiment.name}.csv", COMPUTED),
            probes,
        )

    @property
    def empty(self) -> bool:
        """Whether nothing of the experiment was run at this scale."""
        return (
            self.runs.empty
            and self.metrics.empty
            and self.curves.empty
            and self.computed.empty
            and not self.probes
        )

    def chosen(self, table: pd.DataFrame, where: Mapping[str, Any] | None = None) -> pd.DataFrame:
        """The rows of `table` that `where` allows: a value, a list of values or `all` for each column named.

        Left out, `stage` is final and `option` is main where it ran, else the only option that did (ValueError if
        there are several). A column that the table lacks raises ValueError.
        """
        where = dict(where or {})
        unknown = [name for name in where if name not in table.columns]
        if unknown:
            raise ValueError(f"{self.experiment.name}: where names {unknown}; allowed: {list(table.columns)}")
        if "stage" in table.columns:
            where.setdefault("stage", "final")
        if "option" in table.columns and "option" not in where:
            where["option"] = self._option(table[table["stage"] == "final"]["option"].unique())
        for name, allowed in where.items():
            if isinstance(allowed, str) and allowed == "all":
                continue
            values = allowed if isinstance(allowed, list | tuple) else [allowed]
            table = table[table[name].isin(values)]
        return table

    def _option(self, ran: Sequence[str]) -> str:
        if "main" in ran or not len(ran):
            return "main"
        if len(ran) > 1:
            raise ValueError(
                f"{self.experiment.name}: where names no option and main did not run; ran: {sorted(ran)}"
            )
        return str(ran[0])

    def ordered(self, key: str, present: Sequence[Any]) -> list[Any]:
        """`present` in the order of the experiment file for conditions, variants and options, else sorted."""
        blocks = {"condition": "conditions", "variant": "variants", "option": "options"}
        listed = self.experiment.block(blocks[key]) if key in blocks else {}
        places = {name: place for place, name in enumerate(listed)}
        return sorted(
            present, key=lambda value: (places.get(value, -1 if value == "main" else len(places)), value)
        )

    def cell(self, variant: str) -> str:
        """The cell of a variant, or the shell of a model without one; the variant's own name if neither is known."""
        block = self.experiment.variants.get(variant) or {}
        return str(block.get("cell") or block.get("shell") or variant)

    def title(self, key: str, value: Any, labels: Mapping[str, str] | None = None) -> str:
        """How `value` of the column `key` is called: by `labels`, by the variant's own `label`, or by its cell."""
        if value in (labels or {}):
            return str(labels[value])
        if key == "variant":
            block = self.experiment.variants.get(value) or {}
            if "label" in block:
                return str(block["label"])
            cell = self.cell(value)
            if value == cell or [self.cell(name) for name in self.experiment.variants].count(cell) == 1:
                return cell_title(cell)
        if key == "point":
            rates = self.runs.loc[self.runs["point"] == value, "learning_rate"].dropna().unique()
            return f"rate {rates[0]:g}" if len(rates) == 1 else f"point {value}"
        if key == "condition" and (parts := re.fullmatch(r"([A-Z])(\d+)", value)):
            return f"{parts[1]} = {parts[2]}"
        return str(value)

    def remarks(self, table: pd.DataFrame) -> list[str]:
        """What must be said on every figure and table of these rows: the scale if not the paper's, and stand-ins."""
        told = [] if self.scale == "paper" else [f"scale: {self.scale}"]
        blocks = [self.experiment.dataset]
        blocks += [(block or {}).get("dataset") or {} for block in self.experiment.conditions.values()]
        used = set(table["dataset"].unique()) if "dataset" in table.columns else set()
        pairs: dict[str, list[str]] = {}
        for block in blocks:
            stand_in, real = block.get("stand_in"), block.get("real")
            if stand_in in used and stand_in != real and real not in pairs.setdefault(stand_in, []):
                pairs[stand_in].append(real)
        return told + [
            f"stand-in: {name} in place of {', '.join(real)}" for name, real in pairs.items() if real
        ]
