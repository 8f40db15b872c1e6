"""What a constant gate leaves of a number, step by step."""

from collections.abc import Mapping
from typing import Any


def compute(arguments: Mapping[str, Any]) -> list[dict]:
    """Rows of the powers of `gate` over `steps` steps, and how far the last is from gate ** steps."""
    weight, rows = 1.0, []
    for step in range(arguments["steps"]):
        weight *= arguments["gate"]
        rows.append({"item": "powers", "name": "weight", "index": step, "value": weight})
    error = abs(weight - arguments["gate"] ** arguments["steps"])
    numbers = {"error": error, "last": weight}
    return [*rows, *({"item": "check", "name": name, "index": 0, "value": v} for name, v in numbers.items())]
