"""Sizes of the models for polyphonic music (mathews2016 table 5.2), counted on those trained here."""

from bisect import bisect_left
from collections.abc import Mapping
from functools import cache

from tensor_rnns.models import build
from tensor_rnns.rows import Rows, rows_of

WIDEST = 1000
Sizes = dict[str, tuple[int | str, ...]]


@cache
def parameters(model: str, hidden: int, rank: int | None, inputs: int) -> int:
    """Parameters of a cell and its read-out, with as many outputs as inputs."""
    cell = {"name": model, "hidden": hidden} | ({} if rank is None else {"rank": rank})
    return build({"model": {"name": "every_step"}, "cell": cell}, inputs, inputs).parameter_count()


def parsed(size: str | int) -> tuple[int, int | None]:
    """(hidden, rank) of an entry "95/1", or (96, None) of an entry without a rank."""
    hidden, _, rank = str(size).partition("/")
    return int(hidden), int(rank) if rank else None


def rank_at(width: int, hidden: int, rank: int | None) -> int | None:
    """The rank at another width than `hidden`: none, 1, equal, twice, else half, rounded down (5.2.1)."""
    if rank is None or rank == 1:
        return rank
    return {hidden: width, 2 * hidden: 2 * width}.get(rank, width // 2)


def nearest(model: str, hidden: int, rank: int | None, inputs: int, budget: int) -> int:
    """The width whose count lies nearest to `budget` under the rule of the rank; counts rise with it."""

    def count(width: int) -> int:
        return parameters(model, width, rank_at(width, hidden, rank), inputs)

    above = bisect_left(range(WIDEST), budget, lo=3, hi=WIDEST - 1, key=count)
    return min((above - 1, above), key=lambda width: abs(count(width) - budget))


def summary(table: Mapping[str, Mapping[str, float]], other_inputs: tuple[int, ...]) -> dict[str, float]:
    """Statements on all rows: widths that are the nearest ones, spread, and the place of the LSTM."""
    lstm = next(numbers for item, numbers in table.items() if item.startswith("lstm "))
    plain = [n["per unit"] for item, n in table.items() if "/" not in item and n is not lstm]
    result = {
        "nearest": sum(numbers["hidden"] == numbers["nearest width"] for numbers in table.values()),
        "largest deviation": max(numbers["deviation"] for numbers in table.values()),
        "rows with fewer units than the LSTM": sum(n["hidden"] < lstm["hidden"] for n in table.values()),
        "LSTM per unit over the next": lstm["per unit"] / max(plain),
    }
    for n in other_inputs:
        counts = [numbers[f"inputs {n}"] for numbers in table.values()]
        result |= {f"smallest at {n}": min(counts), f"largest at {n}": max(counts)}
    return result


def compute(
    *, inputs: int, printed_inputs: int, other_inputs: tuple[int, ...], budget: int, models: Sizes,
    corrected: Sizes,
) -> Rows:  # fmt: skip
    """Rows of an item for each model and size ("gmr 95/1") of `models` and `corrected`, {cell: [hidden or
    "hidden/rank"]}, and of `summary`; there are as many outputs as inputs."""

    def numbers(model: str, size: str | int) -> dict[str, float]:
        """The count at every number of inputs, and the width nearest to the budget."""
        hidden, rank = parsed(size)
        counts = {n: parameters(model, hidden, rank, n) for n in (inputs, printed_inputs, *other_inputs)}
        kept = parameters(model, hidden, rank_at(hidden, hidden, rank), inputs)
        return {
            **{f"inputs {n}": count for n, count in counts.items()}, "hidden": hidden,
            "nearest width": nearest(model, hidden, rank, inputs, budget), "deviation": abs(kept - budget),
            "per unit": counts[inputs] / hidden,
        }  # fmt: skip

    table, others = (
        {f"{model} {size}": numbers(model, size) for model, sizes in block.items() for size in sizes}
        for block in (models, corrected)
    )
    return rows_of({**table, **others, "summary": summary(table, other_inputs)})
