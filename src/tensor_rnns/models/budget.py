"""The width of a guest cell: as many parameters as the model of another cell has."""

from collections.abc import Callable, Mapping
from typing import Any

WIDEST = 2**16


def with_width(block: Mapping[str, Any], needs_rank: bool, width: int) -> dict[str, Any]:
    """The guest's cell block at a width; a rank that it must have equals the width."""
    kept = {key: value for key, value in block.items() if key != "budget"}
    return kept | {"hidden": width} | ({"rank": width} if needs_rank and "rank" not in kept else {})


def widest(count: Callable[[int], int], goal: int) -> int:
    """The largest width with count(width) <= goal, at least 1; `count` must grow with the width.

    ValueError where even a width of 65,536 stays below the goal: then the count does not depend on it.
    """
    low, high = 1, 2
    while count(high) <= goal:
        low, high = high, 2 * high
        if high > WIDEST:
            raise ValueError(
                f"no width up to {WIDEST:,} gives {goal:,} parameters; has the cell a width at all?"
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if count(middle) <= goal else (low, middle)
    return low
