"""What a constant gate leaves of a number, step by step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tensor_rnns.declared import Share, build
from tensor_rnns.rows import rows_of, series


@dataclass(frozen=True)
class Arguments:
    """What the function takes."""

    gate: Share
    steps: int


def compute(arguments: Mapping[str, Any]) -> list[dict]:
    """Rows of the powers of `gate` over `steps` steps, and how far the last is from gate ** steps."""
    given = build(Arguments, arguments, "powers")
    weights = [given.gate]
    for _ in range(given.steps - 1):
        weights.append(weights[-1] * given.gate)
    error = abs(weights[-1] - given.gate**given.steps)
    return series("powers", "weight", weights) + rows_of({"check": {"error": error, "last": weights[-1]}})
