"""The paper's numbers, each typed once: `values.csv` beside the experiment files, one row per number.

What follows from a row is made in `tables`: a claim where it has a `tolerance`, a point beside our curves
where it has an `x`, the paper's column of the table that `artefact` names. A row without an artefact is
quoted by its id alone. Rows of one `id` that differ in `x` are one series.
"""

import csv
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from tensor_rnns.declared import suggestion

FILE = "values.csv"
SOURCES = {
    "printed": "printed",
    "derived": "derived from what is printed",
    "authors_log": "from the authors' logs",
    "literature": "quoted from other documents",
}
"""Where a number comes from, in words: the paper, arithmetic on it, a log of its authors, what it cites."""
PLACES = ("condition", "variant", "option")


@dataclass(frozen=True)
class Value:
    """One number of the paper; `text` is how it is printed, `line` where it stands in the file."""

    id: str
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
    tolerance: float | None
    reason: str
    runs: int
    settings: Mapping[str, Any]
    source: str
    page: str
    text: str
    line: int

    @property
    def series(self) -> tuple[Any, ...]:
        """What all points of one series share."""
        return tuple(getattr(self, name) for name in COLUMNS if name not in ("x", "value"))


COLUMNS = tuple(field.name for field in fields(Value) if field.name not in ("text", "line"))


def number(text: str) -> float:
    """A finite number; a whole one as an int."""
    found = int(text) if re.fullmatch(r"-?\d+", text) else float(text)
    if not math.isfinite(found):
        raise ValueError
    return found


def at_least(least: int, kind: Callable[[str], float]) -> Callable[[str], float]:
    """A reader of numbers from `least` on."""

    def read_one(text: str) -> float:
        found = kind(text)
        if found < least:
            raise ValueError
        return found

    return read_one


def pairs(text: str) -> dict[str, Any]:
    """Settings as `training.learning_rate=0.1; ...`, each a number or a word."""
    found = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        key, equals, given = part.partition("=")
        if not equals or "." not in key or not given:
            raise ValueError
        found[key] = number(given) if re.match(r"-?[\d.]", given) else given
    return found


READERS: dict[str, tuple[Callable[[str], Any], str]] = {
    "x": (number, "a finite number, or nothing"),
    "value": (number, "a finite number"),
    "tolerance": (at_least(0, number), "a finite number from 0 on, or nothing"),
    "runs": (at_least(1, int), "a whole number from 1 on, or nothing for 1"),
    "settings": (pairs, "block.key=value, several separated by semicolons"),
}
EMPTY: Mapping[str, Any] = {"x": None, "tolerance": None, "runs": 1, "settings": {}}
"""What an empty field of a typed column means; `value` has none."""


def read(folder: Path) -> tuple[Value, ...]:
    """The values of a paper; () where it has no such file. ValueError with every mistake of form, by line."""
    path = folder / FILE
    return parsed(path, path.read_text(encoding="utf-8")) if path.exists() else ()


@cache
def parsed(path: Path, text: str) -> tuple[Value, ...]:
    """The values in `text`, kept because every job of a workflow reads them several times."""
    rows = csv.DictReader(text.splitlines())
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{path}:1: columns {rows.fieldnames} given; allowed are {', '.join(COLUMNS)}")
    found: list[Value] = []
    wrong: list[str] = []
    for row in rows:
        if None in row or None in row.values():
            wrong.append(f"{path}:{rows.line_num}: {len(COLUMNS)} columns are needed in each row")
            continue
        typed: dict[str, Any] = {}
        for name in COLUMNS:
            reader, allowed = READERS.get(name, (str, "text"))
            try:
                empty = not row[name] and name in EMPTY
                typed[name] = EMPTY[name] if empty else reader(row[name])
            except ValueError:
                wrong.append(f"{path}:{rows.line_num}: {name}: {row[name]!r} given; allowed is {allowed}")
        if len(typed) == len(COLUMNS):
            whole = isinstance(typed["value"], int)
            text = f"{typed['value']:,}" if whole and abs(typed["value"]) > 9999 else row["value"]
            found.append(Value(**typed, text=text, line=rows.line_num))
    seen: dict[str, Value] = {}
    for one in found:
        wrong += [f"{path}:{one.line}: {told}" for told in mistakes(one, seen.setdefault(one.id, one))]
    places: dict[tuple[str, float | None], int] = {}
    for one in found:
        line = places.setdefault((one.id, one.x), one.line)
        if line != one.line:
            wrong.append(f"{path}:{one.line}: id: {one.id!r} stands in line {line} already")
    if wrong:
        raise ValueError("\n".join(wrong))
    return tuple(found)


def mistakes(one: Value, first: Value) -> Iterator[str]:
    """What is wrong within one row, and between it and the first of its id."""
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._+-]*", one.id):
        yield f"id: {one.id!r} given; allowed are letters, digits and . _ + -"
    if one.source not in SOURCES:
        yield f"source: {one.source!r} given; {suggestion(one.source, SOURCES)}"
    if (one.x is None) != (first.x is None) or one.series != first.series:
        yield f"id: {one.id!r} is that of line {first.line}; points of a series differ in x and value alone"
    if one.tolerance is not None and (one.x is not None or not one.artefact):
        yield "tolerance: a value that is judged has an artefact and no x"
    if one.tolerance and not one.reason:
        yield f"reason: a tolerance of {one.tolerance:g} needs its reason"
    if one.tolerance is not None and not one.unit:
        yield "unit: a value that is judged needs the unit that its statement names"
    if not one.artefact and any(getattr(one, name) for name in (*PLACES, "item", "measure", "split")):
        yield "artefact: a value without one is quoted by its id alone; leave its place and measure empty"
