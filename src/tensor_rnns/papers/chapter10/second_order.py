"""Section 11: first and second derivatives of a product of many equal weights, y = w^T x."""

import numpy as np
import torch

from tensor_rnns.declared import Positive
from tensor_rnns.rows import Rows, rows_of


def derivatives(w: float, steps: int) -> tuple[float, float]:
    """dy/dw and d2y/dw2 at x = 1, through the loop of `steps` steps, by automatic differentiation."""
    weight, y = torch.tensor(w, dtype=torch.float64, requires_grad=True), 1.0
    for _ in range(steps):
        y = weight * y
    (first,) = torch.autograd.grad(y, weight, create_graph=True)
    (second,) = torch.autograd.grad(first, weight)
    return float(first.detach()), float(second)


def compute(*, weight: Positive, steps: tuple[int, ...]) -> Rows:
    """Rows `T = <T>` with both derivatives and their `ratio`, first over second; `ratio` with its largest
    relative `error` against w / (T - 1), the `slope` of its logarithm over that of T and its `share of the
    fall` of the first; and `both` with the factors by which first, second and ratio fall from the shortest to
    the longest."""
    times = {}
    for count in steps:
        first, second = derivatives(weight, count)
        times[f"T = {count}"] = {"first": first, "second": second, "ratio": first / second}
    ratios = np.array([time["ratio"] for time in times.values()])
    wanted = weight / (np.array(steps) - 1)
    slope = np.polyfit(np.log(steps), np.log(ratios), 1)[0]
    ends = list(times.values())
    falls = {name: ends[0][name] / ends[-1][name] for name in ("first", "second", "ratio")}
    share = falls["ratio"] / falls["first"]
    times["ratio"] = {"error": np.abs(ratios / wanted - 1).max(), "slope": slope, "share of the fall": share}
    return rows_of(times | {"both": falls})
