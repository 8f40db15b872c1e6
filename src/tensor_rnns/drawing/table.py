"""A table of numbers, the paper's beside ours, with interval, n and failed replicas.

Keys of the artefact: `rows` (column or columns that name a row; `item` for a computed table), `columns` (such
a column, `name` for a computed table, or a list of {label, measure, where}), `measure`, `where`,
`labels`. A number of the paper belongs to the cell of its measure and of its condition, variant, option, item
and name, whichever it has.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tensor_rnns.analysis.intervals import t_interval
from tensor_rnns.analysis.measures import measure_of
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.tables import Table
from tensor_rnns.experiments.records import Artefact

KEYS = {
    "rows": (), "columns": ("label", "measure", "where"), "measure": (), "where": (), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
MATCHED = ("condition", "variant", "option", "dataset", "item", "name")
RECORD = ("column", "paper", "ours", "low", "high", "n", "failed")
TITLES = {"condition": "condition", "variant": "model", "option": "option", "item": "item", "name": "name"}
EXACT = ("parameters", "computed", "setting", "fact", "baseline")
"""Measures without scatter between seeds."""
ABSENT = "–"


@dataclass(frozen=True)
class Cell:
    """Our number in one place of the table, with its 95 % t interval."""

    ours: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    failed: int = 0
    reached: int = 0
    exact: bool = False

    @property
    def text(self) -> str:
        """The number with half of its interval; how many replicas got there where not all did."""
        if self.ours is None:
            return ABSENT
        if self.reached < self.n:
            return (
                f"{shown(self.ours)} ({self.reached} of {self.n})"
                if self.reached
                else f"never (0 of {self.n})"
            )
        half = None if self.exact or self.low is None or self.high is None else (self.high - self.low) / 2
        return shown(self.ours, half)


def draw(data: ArtefactData, artefact: Artefact) -> Table:
    """The table of `artefact`; a row or column of the paper that was not run keeps its place, with a dash for
    ours.
    """
    spec = artefact.spec
    keys = [spec["rows"]] if isinstance(spec.get("rows"), str) else list(spec.get("rows") or ["variant"])
    computed = "item" in keys or "name" in keys
    known = MATCHED[:4] if not computed else ("item", "name", "index")
    if unknown := [key for key in keys if key not in known]:
        raise ValueError(f"{artefact.id}: rows names {unknown}; allowed: {', '.join(known)}")
    entries = data.printed(artefact)
    chosen = _computed_rows(data, spec) if computed else _replicas(data, spec)
    columns = _columns(data, artefact, chosen, entries)
    names = _names(data, keys, chosen, entries)
    where = {key: one for key, one in (spec.get("where") or {}).items() if isinstance(one, str)}
    papers = {(name, label): _paper(entries, where | dict(zip(keys, name, strict=True)), block)
              for name in names for label, block in columns.items()}  # fmt: skip
    compared = [label for label in columns if any(papers[name, label] is not None for name in names)]
    header = [TITLES.get(key, key) for key in keys]
    header += [
        text
        for label in columns
        for text in ([f"{label}, paper", f"{label}, ours"] if label in compared else [label])
    ]
    header += [] if computed else ["n", "failed"]
    rows, records = [], []
    for name in names:
        place = dict(zip(keys, name, strict=True))
        mine = chosen[(chosen[keys] == list(name)).all(axis=1)]
        row = [data.title(key, value, spec.get("labels")) for key, value in place.items()]
        cells = [_cell(mine, block, computed, label, data) for label, block in columns.items()]
        for label, cell in zip(columns, cells, strict=True):
            paper = papers[name, label]
            row += (
                [ABSENT if paper is None else paper if isinstance(paper, str) else shown(paper)]
                if label in compared
                else []
            )
            row.append(cell.text)
            numbers = (label, paper, cell.ours, cell.low, cell.high, cell.n, cell.failed)
            records.append(place | dict(zip(RECORD, numbers, strict=True)))
        ours = [cell for cell in cells if cell.ours is not None]
        row += [] if computed else [_span(cell.n for cell in ours), _span(cell.failed for cell in ours)]
        rows.append(row)
    notes = [] if computed else ["Ours: mean ± half of the 95 % t interval over n replicas."]
    notes += [f"{text[0].upper()}{text[1:]}." for text in data.remarks(chosen)]
    return Table(header, rows, (*keys, *RECORD), records, tuple(notes), len(keys))


def shown(value: float, half: float | None = None) -> str:
    """`value` to four figures, or with ± `half` to two figures of the half-width; whole numbers in full."""
    if not math.isfinite(value):
        return "∞" if value > 0 else "−∞" if value < 0 else "not a number"
    if half is None or not math.isfinite(half) or half == 0:
        whole = value == round(value) and abs(value) < 1e9
        text = f"{value:,.0f}".replace(",", "\u202f") if whole else f"{value:.4g}"
    else:
        digits = max(0, 1 - math.floor(math.log10(half)))
        text = f"{value:.{digits}f} ± {half:.{digits}f}" if digits <= 6 else f"{value:.3g} ± {half:.1g}"
    return text.replace("-", "−")


def _replicas(data: ArtefactData, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The chosen replicas: their keys and, in the column `run`, what the measures take."""
    rows = pd.DataFrame(
        [dict(run.key) | {"run": run} for run in data.records], columns=[*data.runs.columns[:10], "run"]
    )
    return data.chosen(rows, spec.get("where"))


def _computed_rows(data: ArtefactData, spec: Mapping[str, Any]) -> pd.DataFrame:
    """The chosen rows of the computed table, in its order."""
    return data.chosen(data.computed, spec.get("where"))


def _columns(
    data: ArtefactData, artefact: Artefact, chosen: pd.DataFrame, entries: list[dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """{label: {measure, where}} of each column of numbers."""
    spec = artefact.spec
    asked = spec.get("columns")
    if isinstance(asked, str):
        present = list(
            dict.fromkeys([*chosen[asked], *(entry[asked] for entry in entries if asked in entry)])
        )
        present = present if asked in ("item", "name") else data.ordered(asked, present)
        measure, labels = spec.get("measure"), spec.get("labels")
        titles = (
            ["value"]
            if asked == "index" and len(present) == 1
            else [data.title(asked, value, labels) for value in present]
        )
        return {
            title: {"measure": measure, "where": {asked: value}}
            for title, value in zip(titles, present, strict=True)
        }
    blocks = asked or [{"measure": spec.get("measure")}]
    found = {}
    for block in blocks:
        measure = block.get("measure") or spec.get("measure")
        if measure is None:
            raise ValueError(
                f"{artefact.id}: the column {dict(block)} has no measure, and the table has none either"
            )
        found[str(block.get("label") or measure.get("of") or measure["name"])] = dict(block) | {
            "measure": measure
        }
    return found


def _names(
    data: ArtefactData, keys: list[str], chosen: pd.DataFrame, entries: list[dict[str, Any]]
) -> list[tuple]:
    """The rows that ran and those that the paper prints, in the order of the experiment file or of the
    computed table."""
    ran = list(chosen[keys].drop_duplicates().itertuples(index=False, name=None))
    printed = [tuple(entry[key] for key in keys) for entry in entries if all(key in entry for key in keys)]
    names = list(dict.fromkeys([*ran, *printed]))
    if "item" in keys or "name" in keys:
        return names
    places = {key: data.ordered(key, list({name[i] for name in names})) for i, key in enumerate(keys)}
    return sorted(
        names, key=lambda name: [places[key].index(value) for key, value in zip(keys, name, strict=True)]
    )


def _paper(entries: list[dict[str, Any]], place: Mapping[str, Any], block: Mapping[str, Any]) -> Any:
    """The paper's value of one cell, None where it prints none."""
    known = place | (block.get("where") or {})
    for entry in entries:
        if entry.get("measure") not in (None, block.get("measure")):
            continue
        if all(entry[key] == known.get(key) for key in MATCHED if key in entry):
            return entry["value"]
    return None


def _cell(
    mine: pd.DataFrame, block: Mapping[str, Any], computed: bool, label: str, data: ArtefactData
) -> Cell:
    """Our number for the replicas or computed rows `mine` of one row and one column."""
    for key, value in (block.get("where") or {}).items():
        mine = mine[mine[key].isin(value if isinstance(value, list) else [value])]
    if mine.empty:
        return Cell()
    if computed:
        if len(mine) > 1:
            raise ValueError(f"{label}: {len(mine)} computed rows in one cell; name item, name and index")
        value = float(mine["value"].iloc[0])
        return Cell(value, n=1, reached=1, exact=True)
    values, failed = [], 0
    for run in mine["run"]:
        try:
            values.append(measure_of(block["measure"], run))
        except MissingValue:
            continue
        failed += run.failed
    if not values:
        return Cell()
    finite = [value for value in values if math.isfinite(value)]
    exact = block["measure"]["name"] in EXACT and len(set(values)) == 1
    low, high = (
        t_interval(finite) if len(finite) > 1 and len(finite) == len(values) and not exact else (None, None)
    )
    mean = float(np.mean(finite)) if finite else math.inf
    return Cell(mean, low, high, len(values), failed, len(finite), exact)


def _span(numbers: Iterable[int]) -> str:
    """One number, or the smallest and largest where the columns differ; 0 for none."""
    found = sorted(set(numbers)) or [0]
    return str(found[0]) if len(found) == 1 else f"{found[0]}–{found[-1]}"
