"""What the engine is to reach, and how far measured ratios are from it."""

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

EAGER, NN = "eager", "torch.nn"
OF_THE_TENSOR = {"W1": 60, "W2": 8, "W3": 4, "W4": 2}
OF_THE_SIMPLE = {"W1": 30, "W2": 4, "W3": 2.5, "W4": 1.5}
BARS: dict[tuple[str, str], dict[str, float]] = {
    ("lstm", NN): {"W1": 6, "W2": 2, "W3": 3.5, "W4": 1.3, "W5": 1.5},
    ("gru", NN): {"W1": 100, "W2": 16, "W3": 5, "W4": 3, "W5": 1.5},
    ("tgu", EAGER): {"W1": 80, "W2": 13, "W3": 5, "W4": 2.8, "W5": 1.8},
    ("gmr", EAGER): OF_THE_TENSOR,
    ("cp_plus", EAGER): OF_THE_TENSOR,
    ("cp_delta", EAGER): OF_THE_TENSOR,
    ("tgu_tt", EAGER): OF_THE_TENSOR,
    ("irnn", EAGER): OF_THE_SIMPLE,
    ("vanilla", EAGER): OF_THE_SIMPLE,
    ("vanilla", NN): {"W1": 4, "W2": 2, "W3": 2, "W4": 1.2, "W5": 1.5},
}
"""How many times faster than what: (cell, against) and the workload. Against torch.nn its best counts."""
OF_THE_PEAK = {("tgu", "W3"): 0.5}
"""The share of the machine's peak that the products of a whole update reach."""
COHORT = 1.8
"""How many times cheaper a replica of five on W1 is than one alone."""
ERROR = 1e-5
"""The largest error of a gradient over its largest value, against the eager loop in float64."""

Rounds = Mapping[str, Mapping[str, list[float]]]


class Spread(NamedTuple):
    """How many times faster, round by round: the median, the least and the most."""

    median: float
    least: float
    most: float

    def __str__(self) -> str:
        return f"{figure(self.median)} [{figure(self.least)}, {figure(self.most)}]"


@dataclass(frozen=True)
class Ratio:
    """How many times faster than what a cell is on a workload, and the bar if there is one."""

    cell: str
    against: str
    workload: str
    spread: Spread
    bar: float | None

    def __str__(self) -> str:
        return f"{self.spread}{verdict(self.spread.median, self.bar)}"


def verdict(value: float, bar: float | None) -> str:
    """How far `value` is from a bar that it should not fall below, in words; "" for no bar.

    A value below is a miss, by however little.
    """
    if bar is None:
        return ""
    apart = round(100 * (value / bar - 1), 6)
    if value >= bar:
        return f" (bar {bar:g}: met, +{math.floor(apart):d} %)"
    return f" (bar {bar:g}: MISSED by {math.ceil(-apart):d} %)"


def figure(value: float) -> str:
    """Three digits."""
    if value == 0:
        return "0"
    return f"{value:.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def quickest(times: Mapping[str, list[float]], kind: str) -> list[float] | None:
    """The rounds of the variant of a kind with the least median, whose names may end in a number of threads;
    None where there is none."""
    found = [values for name, values in times.items() if name.partition(", ")[0] == kind]
    return min(found, key=statistics.median, default=None)


def best(times: Mapping[str, list[float]], kind: str) -> float | None:
    """The least of the medians of a kind of variant; None where there is none."""
    found = quickest(times, kind)
    return None if found is None else statistics.median(found)


def compared(times: Mapping[str, list[float]], ours: str, against: str) -> Spread | None:
    """How many times faster the quickest of ours is than the quickest of the others, in the same rounds; None
    where either is missing."""
    mine, theirs = quickest(times, ours), quickest(times, against)
    if mine is None or theirs is None:
        return None
    found = [other / own for own, other in zip(mine, theirs, strict=True)]
    return Spread(statistics.median(found), min(found), max(found))


def ratios(workload: str, rounds: Rounds, ours: str = "compiled") -> list[Ratio]:
    """Every ratio of a workload: `rounds` are milliseconds by cell and variant."""
    found = []
    for cell, times in rounds.items():
        for against in (EAGER, NN):
            spread = compared(times, ours, against)
            if spread is not None:
                bar = BARS.get((cell, against), {}).get(workload)
                found.append(Ratio(cell, against, workload, spread, bar))
    return found


def missed(found: list[Ratio]) -> list[Ratio]:
    """Those below their bar."""
    return [ratio for ratio in found if ratio.bar is not None and ratio.spread.median < ratio.bar]
