"""What a constant gate leaves of a number, step by step."""

from dataclasses import dataclass

from tensor_rnns.declared import Share
from tensor_rnns.rows import Rows, rows_of, series


@dataclass(frozen=True)
class Arguments:
    gate: Share
    steps: int


def compute(arguments: Arguments) -> Rows:
    """Rows of the powers of `gate` over `steps` steps, and how far the last is from gate ** steps."""
    weights = [arguments.gate]
    for _ in range(arguments.steps - 1):
        weights.append(weights[-1] * arguments.gate)
    error = abs(weights[-1] - arguments.gate**arguments.steps)
    return series("powers", "weight", weights) + rows_of({"check": {"error": error, "last": weights[-1]}})
