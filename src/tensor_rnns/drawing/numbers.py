"""One number of each replica, and what a group of them has in common: mean, interval, failed seeds."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.intervals import t_interval
from tensor_rnns.analysis.measures import measure_of
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.experiments.records import KEY, Artefact

EXPLAINED = "Dots: seeds; thick line: 95 % t interval of the mean."


@dataclass(frozen=True)
class Total:
    """The mean of the replicas that have a finite number, its 95 % t interval, and how many there are.

    `never` counts replicas whose number is infinite: they did not get where the measure asks.
    """

    mean: float
    low: float
    high: float
    values: tuple[float, ...]
    failed: int
    never: int

    @property
    def n(self) -> int:
        """All replicas with an answer."""
        return len(self.values) + self.never

    @property
    def text(self) -> str:
        """The numbers in words."""
        spread = f" [{self.low:.4g}, {self.high:.4g}]" if math.isfinite(self.low) else ""
        more = f", {self.failed} failed" if self.failed else ""
        more += f", {self.never} never" if self.never else ""
        return f"{self.mean:.4g}{spread} (n = {self.n}{more})"


def numbers(data: ArtefactData, artefact: Artefact, measure: Any, keys: Sequence[str]) -> pd.DataFrame:
    """The chosen replicas with the columns `keys`, `value` (the measure) and `failed`.

    Replicas that did not record the measure are left out; ValueError where none did or none was chosen.
    """
    if not isinstance(measure, Mapping):
        raise ValueError(
            f"{artefact.id}: the measure is {measure!r}; allowed is {{name: ..., its arguments}}"
        )
    rows = pd.DataFrame([dict(run.key) | {"run": run} for run in data.records], columns=[*KEY, "run"])
    rows = data.with_settings(data.chosen(rows, artefact.spec.get("where")), keys)
    values = []
    for run in rows["run"]:
        try:
            values.append(measure_of(measure, run))
        except MissingValue:
            values.append(math.nan)
    rows = rows.assign(value=values, failed=[run.failed for run in rows["run"]]).drop(columns="run")
    rows = rows[rows["value"].notna()]
    if rows.empty:
        where = artefact.spec.get("where")
        raise ValueError(f"{artefact.id}: no replica chosen by {where} has the measure {dict(measure)}")
    return rows


def total(rows: pd.DataFrame) -> Total:
    """The replicas `rows` (columns value and failed) put together."""
    values = rows["value"].to_numpy(float)
    finite = values[np.isfinite(values)]
    low, high = t_interval(finite) if len(finite) > 1 else (math.nan, math.nan)
    mean = float(finite.mean()) if len(finite) else math.nan
    failed, never = int(rows["failed"].sum()), len(values) - len(finite)
    return Total(mean, low, high, tuple(map(float, finite)), failed, never)
