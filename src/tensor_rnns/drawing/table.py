"""A table of numbers, the paper's beside ours, with interval, n and failed replicas."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Literal, get_args

import pandas as pd

from tensor_rnns.analysis.comparison import loss_of
from tensor_rnns.analysis.measures import EXACT, OF_FAILED, Measure, Measured, measured
from tensor_rnns.declared import Invalid
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.numbers import middle, total, what_of
from tensor_rnns.drawing.spec import RunsSpec, listed
from tensor_rnns.drawing.tables import NONE, TITLE, Table, shown
from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.selector import CURVE, MAIN, Rows, Selector

Place = Literal["condition", "variant", "option", "dataset", "item", "name", "index"]


@dataclass(frozen=True)
class ColumnSpec:
    """A column with its own measure or selection.

    `centre: median` is the median of all seeds with the smallest and the largest value, those without a value
    and those that failed counted as infinite, the worst loss; else it is the mean of those with a value.
    """

    label: str | None = None
    measure: Measure | None = None
    where: Selector | None = None
    centre: Literal["mean", "median"] = "mean"

    def name_beside(self, common: Measured | None) -> str | None:
        """What the column is called in a table with a measure for all; None where it has no measure."""
        measure = self.measure or common
        return measure and (self.label or what_of(measure.block))


@dataclass(frozen=True, kw_only=True)
class Spec(RunsSpec):
    """A table of measures, or of the numbers of a computed table."""

    rows: Place | tuple[Place, ...] = ()
    columns: Place | tuple[ColumnSpec, ...] | None = None
    measure: Measure | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.columns, tuple):
            return
        labels = [column.name_beside(self.measure) for column in self.columns]
        for at, label in enumerate(labels):
            if label is None:
                raise Invalid("columns", f"column {at + 1} needs a measure; the table has none either", at)
            if label in labels[:at]:
                raise Invalid("columns", f"two columns are called {label!r}; give each its own label", at)


def draw(data: ArtefactData, spec: Spec) -> Table:
    """The table; a row or column of the paper that was not run has a dash for ours."""
    keys = listed(spec.rows) or ["variant"]
    computed = bool(set(keys) & {"item", "name"})
    entries = data.printed()
    # A column's selector adds to that of the table key by key: what counts is which keys are given.
    common = dict(data.artefact.spec.get("where") or {})
    chosen = _rows(data, computed, common)
    single = {key: value for key, value in common.items() if isinstance(value, str)}
    records = {}
    columns = _columns(data, spec, chosen, entries)
    places = [common] if isinstance(spec.columns, str) else [common | where for _, where in columns.values()]
    lacking = [] if computed else _lacking(data, places)
    remark = ". ".join(f"{text[0].upper()}{text[1:]}" for text in [*data.remarks(chosen), *lacking])
    names = _names(data, keys, chosen, entries)
    medians = {column.label for column in spec.columns or () if getattr(column, "centre", "") == "median"}
    for label, (measure, where) in columns.items():
        mine = _rows(data, computed, common | where)
        parts = dict(iter(mine.groupby(list(keys), sort=False, dropna=False)))
        for name in names:
            row = dict(zip(keys, name, strict=True))
            titles = {key + TITLE: data.title(key, value) for key, value in row.items()}
            own = parts.get(name, mine[:0])
            ours = _computed(own, label) if computed else _trained(own, measure, label in medians)
            paper = {"column": label, "paper": _paper(entries, single | row | where, measure)}
            records[name, label] = row | titles | paper | ours | {"remark": remark and f"{remark}."}
    made = [records[name, label] for name in names for label in columns]
    if any(record["failed"] for record in made):
        said = _of_failed(columns, medians)
        made = [record | {"remark": f"{record['remark']} {said}".strip()} for record in made]
    return Table(keys, made)


def _of_failed(columns: Mapping[str, tuple[Any, dict[str, Any]]], medians: Set[str | None]) -> str:
    """What failed replicas count as in the columns of numbers that do not count them themselves."""
    measures = {label: measure["name"] for label, (measure, _) in columns.items() if measure}
    others = {label for label, name in measures.items() if name not in OF_FAILED | EXACT | {"setting"}}
    said = ["in a median as infinite"] * bool(others & medians)
    said += ["in a mean by their last finite value, or not where they left none"] * bool(others - medians)
    return f"Failed replicas count {', '.join(said)}." if said else ""


def _rows(data: ArtefactData, computed: bool, where: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of the computed table, or the replicas, that `where` takes."""
    return data.chosen(data.computed, Rows.of(where)) if computed else data.replicas(Selector.of(where))


def _lacking(data: ArtefactData, wheres: Sequence[Mapping[str, Any]]) -> list[str]:
    """How many of the curves that some of `wheres` take were run, where that is not all of them."""
    every, main = list(resolve.curves(data.experiment, "")), data.experiment.main_option(data.scale)
    selectors = [Selector.of(where) for where in wheres]
    asked = {curve for where in selectors for curve in where.curves(every, main)}
    rows = [data.replicas(where)[list(CURVE)] for where in selectors]
    k = len(asked & {curve for some in rows for curve in some.itertuples(index=False, name=None)})
    return [f"{k} of {len(asked)} curves planned were run"] if k < len(asked) else []


def _columns(
    data: ArtefactData, spec: Spec, chosen: pd.DataFrame, entries: list[dict[str, Any]]
) -> dict[str, tuple[Any, dict[str, Any]]]:
    """{label: (measure, where)} of each column of numbers."""
    asked, measure = spec.columns, spec.measure and spec.measure.block
    if isinstance(asked, str):
        printed = [entry[asked] for entry in entries if asked in entry]
        present = list(dict.fromkeys([*chosen[asked], *printed]))
        present = present if asked in ("item", "name") else data.ordered(asked, present)
        titles = [data.title(asked, value) for value in present]
        titles = ["value"] if asked == "index" and len(present) == 1 else titles
        return {title: (measure, {asked: value}) for title, value in zip(titles, present, strict=True)}
    wheres = [dict(block.get("where") or {}) for block in data.artefact.spec.get("columns") or [{}]]
    return {
        str(column.name_beside(spec.measure)): (column.measure.block if column.measure else measure, where)
        for column, where in zip(asked or [ColumnSpec()], wheres, strict=True)
    }


def _names(
    data: ArtefactData, keys: Sequence[str], chosen: pd.DataFrame, entries: list[dict[str, Any]]
) -> list[tuple]:
    """Rows that ran and those that the paper prints, in the order of the experiment file or its table."""
    ran = list(chosen[list(keys)].drop_duplicates().itertuples(index=False, name=None))
    printed = [tuple(entry[key] for key in keys) for entry in entries if all(key in entry for key in keys)]
    names = list(dict.fromkeys([*ran, *printed]))
    return names if {"item", "name"} & set(keys) else data.ordered_names(keys, names)


def _paper(entries: list[dict[str, Any]], known: Mapping[str, Any], measure: Any) -> Any:
    """The paper's value of one cell, None where it prints none; a number without an option is one of main."""
    for entry in entries:
        same = entry.get("measure") in (None, measure)
        keys = {"option": MAIN} | entry if "option" in known else entry
        if same and all(keys[key] == known.get(key) for key in get_args(Place) if key in keys):
            return entry["value"]
    return None


def _computed(rows: pd.DataFrame, label: str) -> dict[str, Any]:
    """Our number out of the computed rows of one row and one column."""
    if len(rows) > 1:
        raise ValueError(f"{label}: {len(rows)} computed rows in one cell; name item, name and index")
    if rows.empty:
        return NONE
    value = float(rows["value"].iloc[0])
    return NONE | {"ours": value, "n": 1, "shown": shown(value)}


def _trained(rows: pd.DataFrame, measure: Any, median: bool) -> dict[str, Any]:
    """Our number out of the replicas of one row and one column, with an interval where all got there."""
    runs = list(rows["run"])
    pairs = [(run, loss_of(run, measure)) for run in runs] if median else measured(runs, measure)
    if not pairs:
        return NONE | {"n": len(runs), "failed": sum(run.failed for run in runs)}
    values, failed = [value for _, value in pairs], [run.failed for run, _ in pairs]
    ours = middle(values, failed) if median else total(values, failed, measure)
    ends = {}
    if ours.interval and not ours.never:
        ends = {"low": ours.low, "high": ours.high, "interval": ours.interval}
    mean = ours.mean if ours.values else math.inf
    return NONE | {"ours": mean, "n": ours.n, "failed": ours.failed, "shown": ours.cell} | ends
