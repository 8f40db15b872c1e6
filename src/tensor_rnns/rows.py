"""The tables of computed experiments and probes: rows {item, name, index, value}."""

from collections.abc import Iterable, Mapping
from typing import Any

Rows = list[dict[str, Any]]


def row(item: str, name: str, value: Any, index: int = 0) -> dict[str, Any]:
    """One number; what numpy and torch give becomes a plain float."""
    return {"item": item, "name": name, "index": index, "value": float(value)}


def rows_of(numbers: Mapping[str, Mapping[str, Any]]) -> Rows:
    """A row per number of {item: {name: number}}."""
    return [row(item, name, value) for item, values in numbers.items() for name, value in values.items()]


def series(item: str, name: str, values: Iterable[Any], first: int = 0) -> Rows:
    """A row per value of a sequence, whose index counts from `first`."""
    return [row(item, name, value, index) for index, value in enumerate(values, first)]
