"""What a constant gate leaves of a number, step by step."""

from tensor_rnns.declared import Share
from tensor_rnns.rows import Rows, rows_of, series


def compute(*, gate: Share, steps: int) -> Rows:
    """Rows of the powers of `gate` over `steps` steps, and how far the last is from gate ** steps."""
    weights = [gate]
    for _ in range(steps - 1):
        weights.append(weights[-1] * gate)
    error = abs(weights[-1] - gate**steps)
    return series("powers", "weight", weights) + rows_of({"check": {"error": error, "last": weights[-1]}})
