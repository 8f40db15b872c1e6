"""The paper's numbers, each typed once: `values.csv` beside the experiment files, one row per number.

What follows from a row is made in `tables`: a claim where it has a `tolerance`, a point beside our curves
where it has an `x`, the paper's column of the table that `artefact` names. A row without an artefact is
quoted by its id alone. Rows of one `id` that differ in `x` are one series.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from tensor_rnns.declared import AtLeastZero, Name, Rule, is_finite, problems
from tensor_rnns.experiments import csv_rows
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.messages import bounded
from tensor_rnns.yaml_files import text_of

FILE = "values.csv"
PLACE = ("artefact", *CURVE, "item", "measure", "split")
"""Columns that, with `settings` and `x`, say where an artefact shows a number."""
SOURCES = {
    "printed": "printed",
    "derived": "derived from what is printed",
    "authors_log": "from the authors' logs",
    "literature": "quoted from other documents",
}
"""Where a number comes from, in words: the paper, arithmetic on it, a log of its authors, what it cites."""
PAIRS = Rule(
    "block.key=value, several separated by semicolons",
    lambda value: isinstance(value, dict) and is_finite(value),
)


@dataclass(frozen=True)
class Value:
    """One number of the paper; `text` is how it is printed, `line` where it stands in the file."""

    id: Name
    artefact: str
    condition: str
    variant: str
    option: str
    item: str
    measure: str
    split: str
    x: float | None
    value: float
    unit: str
    tolerance: AtLeastZero | None
    reason: str
    runs: int
    settings: Annotated[dict, PAIRS]
    source: Literal[tuple(SOURCES)]  # type: ignore[valid-type]
    page: str
    text: str
    line: int


COLUMNS = tuple(field.name for field in fields(Value) if field.name not in ("text", "line"))
EMPTY: Mapping[str, Any] = {"x": None, "tolerance": None, "runs": 1, "settings": {}}
"""What an empty field of a column means; `value` may not be empty."""


def as_number(text: str) -> float | str:
    """The number that a text is, a whole one as an int; the text itself where it is none."""
    try:
        return int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    except ValueError:
        return text


def pairs(text: str) -> dict[str, Any] | str:
    """Settings as `training.learning_rate=0.1; ...`, numbers or words; a text of another form itself."""
    parts = [part.strip().partition("=") for part in text.split(";") if part.strip()]
    settings = {key: as_number(given) for key, _, given in parts}
    words = [value for value in settings.values() if isinstance(value, str)]
    formed = all("." in key for key in settings) and all(re.match(r"[^-\d.]", word) for word in words)
    return settings if formed else text


PARSERS = dict.fromkeys(("x", "value", "tolerance", "runs"), as_number) | {"settings": pairs}
"""What reads a field that is more than a text."""


def read(folder: Path) -> tuple[Value, ...]:
    """The values of a paper; () where it has no such file. ValueError with every mistake of form, by line."""
    path = folder / FILE
    return parsed(path, text_of(path)) if path.exists() else ()


@cache
def parsed(path: Path, text: str) -> tuple[Value, ...]:
    """The values in `text`, kept because every job of a workflow reads them several times."""
    rows, wrong = csv_rows.rows(path, text, COLUMNS)
    values: list[Value] = []
    for line, row in rows:
        typed = {
            name: EMPTY[name] if name in EMPTY and not given else PARSERS.get(name, str)(given)
            for name, given in row.items()
        }
        found = problems(Value, typed, provided=("text", "line"))
        wrong += [f"{path}:{line}: {message}" for _, message in found]
        if not found:
            whole = isinstance(typed["value"], int)
            text = f"{typed['value']:,}" if whole and abs(typed["value"]) > 9999 else row["value"]
            values.append(Value(**typed, text=text, line=line))
    series: dict[str, Value] = {}
    by_point: dict[tuple[str, float | None], Value] = {}
    by_cell: dict[tuple[Any, ...], Value] = {}
    for value in values:
        twin = by_point.setdefault((value.id, value.x), value)
        first = series.setdefault(value.id, value)
        cell = by_cell.setdefault(cell_of(value), value)
        wrong += [f"{path}:{value.line}: {message}" for message in mistakes(value, first, twin, cell)]
    if wrong:
        raise ValueError(bounded("\n".join(wrong)))
    return tuple(values)


def cell_of(row: Value) -> tuple[Any, ...]:
    """Where an artefact shows a value; one without an artefact is alone."""
    if not row.artefact:
        return (row.line,)
    return *(getattr(row, key) for key in PLACE), tuple(sorted(row.settings.items())), row.x


def mistakes(row: Value, first: Value, twin: Value, cell: Value) -> Iterator[str]:
    """What is wrong within one row, and between it and the first of its id, of its id and x, or of its cell,
    where an artefact would show one of the two; equal numbers may be two statements of the paper."""
    if twin is not row:
        yield f"id: {row.id!r} stands in line {twin.line} already"
    elif cell.value != row.value:
        given = f"{row.text} given where {cell.id!r} of line {cell.line} gives {cell.text}"
        yield f"value: {given}; allowed is one number for a place and measure of an artefact"
    same = (getattr(row, name) == getattr(first, name) for name in COLUMNS if name not in ("x", "value"))
    if (row.x is None) != (first.x is None) or not all(same):
        yield f"id: {row.id!r} is that of line {first.line}; points of a series differ in x and value alone"
    if row.tolerance is not None and (row.x is not None or not row.artefact):
        yield "tolerance: a value that is judged has an artefact and no x"
    if row.reason and row.tolerance is None:
        yield f"tolerance: '' given beside the reason {row.reason!r}; a value that is judged needs one"
    if row.tolerance and not row.reason:
        yield f"reason: a tolerance of {row.tolerance:g} needs its reason"
    if row.tolerance is not None and not row.unit:
        yield "unit: a value that is judged needs the unit that its statement names"
    if not row.artefact and any(getattr(row, name) for name in PLACE):
        yield "artefact: a value without one is quoted by its id alone; leave its place and measure empty"
