"""Sizes of the models for polyphonic music (mathews2016 table 5.2), counted on those trained here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from tensor_rnns.models import build
from tensor_rnns.rows import Rows, rows_of

WIDEST = 1000


@dataclass(frozen=True)
class Arguments:
    inputs: int
    printed_inputs: int
    other_inputs: tuple[int, ...]
    budget: int
    models: dict[str, tuple[int | str, ...]]
    corrected: dict[str, tuple[int | str, ...]]


@cache
def parameters(model: str, hidden: int, rank: int | None, inputs: int) -> int:
    """Parameters of a cell and its read-out, with as many outputs as inputs."""
    cell: dict[str, Any] = {"name": model, "hidden": hidden}
    if rank is not None:
        cell["rank"] = rank
    return build({"model": {"name": "every_step"}, "cell": cell}, inputs, inputs).parameter_count()


def parsed(size: str | int) -> tuple[int, int | None]:
    """(hidden, rank) of an entry "95/1", or (96, None) of an entry without a rank."""
    hidden, _, rank = str(size).partition("/")
    return int(hidden), int(rank) if rank else None


def rank_rule(hidden: int, rank: int | None) -> Callable[[int], int | None]:
    """How the rank follows from the width: none, 1, equal, twice, else half of it, rounded down (5.2.1)."""
    if rank is None:
        return lambda width: None
    if rank == 1:
        return lambda width: 1
    if rank == hidden:
        return lambda width: width
    if rank == 2 * hidden:
        return lambda width: 2 * width
    return lambda width: width // 2


def nearest(model: str, rule: Callable[[int], int | None], inputs: int, budget: int) -> int:
    """The width whose count lies nearest to `budget` under a rank rule; counts rise with the width."""
    best, distance = 0, float("inf")
    for width in range(2, WIDEST):
        count = parameters(model, width, rule(width), inputs)
        if abs(count - budget) < distance:
            best, distance = width, abs(count - budget)
        if count > 2 * budget:
            break
    return best


def row(model: str, size: str | int, arguments: Arguments) -> dict[str, float]:
    """The numbers of one model: its count at every number of inputs, and the width nearest to the budget."""
    hidden, rank = parsed(size)
    inputs, budget = arguments.inputs, arguments.budget
    rule = rank_rule(hidden, rank)
    counts = {f"inputs {n}": parameters(model, hidden, rank, n)
              for n in (inputs, arguments.printed_inputs, *arguments.other_inputs)}  # fmt: skip
    return {
        **counts, "hidden": hidden, "nearest width": nearest(model, rule, inputs, budget),
        "deviation": abs(parameters(model, hidden, rule(hidden), inputs) - budget),
        "per unit": counts[f"inputs {inputs}"] / hidden,
    }  # fmt: skip


def summary(table: Mapping[str, Mapping[str, float]], arguments: Arguments) -> dict[str, float]:
    """Statements on all rows: widths that are the nearest ones, spread, and the place of the LSTM."""
    lstm = next(numbers for item, numbers in table.items() if item.startswith("lstm "))
    plain = [
        numbers["per unit"] for item, numbers in table.items() if "/" not in item and numbers is not lstm
    ]
    found = {
        "nearest": sum(numbers["hidden"] == numbers["nearest width"] for numbers in table.values()),
        "largest deviation": max(numbers["deviation"] for numbers in table.values()),
        "rows with fewer units than the LSTM": sum(n["hidden"] < lstm["hidden"] for n in table.values()),
        "LSTM per unit over the next": lstm["per unit"] / max(plain),
    }
    for n in arguments.other_inputs:
        counts = [numbers[f"inputs {n}"] for numbers in table.values()]
        found |= {f"smallest at {n}": min(counts), f"largest at {n}": max(counts)}
    return found


def compute(arguments: Arguments) -> Rows:
    """Rows of an item for each model and size ("gmr 95/1") of `models` and `corrected`, {cell: [hidden or
    "hidden/rank"]}, and of `summary`; there are as many outputs as inputs."""
    table, corrected = (
        {f"{model} {size}": row(model, size, arguments) for model, sizes in block.items() for size in sizes}
        for block in (arguments.models, arguments.corrected)
    )
    return rows_of({**table, **corrected, "summary": summary(table, arguments)})
