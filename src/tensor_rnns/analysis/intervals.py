"""Intervals and p values for few seeds; scipy's where it has them."""

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache

import numpy as np
from scipy import special, stats

LEVEL = 0.95
MEAN, PREDICTION = "95 % t interval of the mean", "95 % prediction interval"
DIFFERENCE, SLOPE = "95 % t interval of the mean difference", "95 % t interval of the mean slope"
RATIO = "95 % t interval of the mean ratio, on logarithms"
BOUNDS = "one-sided 95 % Clopper-Pearson bounds"
SHARE_OF_SEEDS = "95 % Clopper-Pearson interval of the share of seeds"
RANGE, TOLERANCE = "smallest and largest value", "largest error allowed"
CUT = ", cut at 0 and 1"
"""What an interval is called wherever it is shown."""
MOST_SEEDS = 10_000
STRATA = 4000


@cache
def quantile(n: int) -> float:
    """The 97.5 % quantile of the t distribution of `n` values."""
    return float(stats.t.ppf((1 + LEVEL) / 2, n - 1))


def half_width(n: int, deviation: float, extra: float = 0.0) -> float:
    """t(n - 1) * deviation * sqrt(1/n + extra); infinite for n < 2."""
    if n < 2:
        return math.inf
    return quantile(n) * deviation * math.sqrt(1 / n + extra)


def t_interval(values: Sequence[float]) -> tuple[float, float]:
    """The 95 % interval of the mean; (-inf, inf) for a single value."""
    mean = float(np.mean(values))
    half = half_width(len(values), deviation(values))
    return mean - half, mean + half


def cut(low: float, high: float, name: str) -> tuple[float, float, str]:
    """An interval of a share and its name, cut at 0 and 1: the truth lies there, so no coverage is lost."""
    if low >= 0 and high <= 1:
        return low, high, name
    return max(low, 0.0), min(high, 1.0), name + CUT


def of_mean(
    values: Sequence[float], share: bool = False, indicator: bool = False
) -> tuple[float, float, str]:
    """(low, high, name) of the 95 % interval of the mean of at least two values.

    A `share` never leaves 0 to 1. An `indicator` is 0 or 1 for each seed: equal seeds do not make its mean
    certain, so its interval is the exact binomial one and not t.
    """
    if indicator and set(values) <= {0.0, 1.0}:
        low, high = stats.binomtest(round(sum(values)), len(values)).proportion_ci(LEVEL, "exact")
        return float(low), float(high), SHARE_OF_SEEDS
    low, high = t_interval(values)
    return cut(low, high, MEAN) if share else (low, high, MEAN)


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 for a single value or equal ones."""
    return float(np.std(values, ddof=1)) if len(values) > 1 and np.ptp(values) > 0 else 0.0


def t_p_value(distance: float, n: int, deviation: float, extra: float = 0.0) -> float | None:
    """The two-sided p value of a mean `distance` from its hypothesis; None where nothing scatters."""
    if n < 2 or deviation == 0:
        return None
    return float(2 * stats.t.sf(abs(distance) / (deviation * math.sqrt(1 / n + extra)), n - 1))


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> dict[int, float]:
    """first - second for every seed that both have."""
    return {seed: first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())}


def paired_slopes(levels: Mapping[float, Mapping[int, float]]) -> dict[int, float]:
    """Per seed, the least-squares slope of its values on the levels; only seeds that every level has."""
    if len(levels) < 2:
        return {}
    order = sorted(levels)
    x = np.array(order, dtype=float)
    x -= x.mean()
    slopes = {}
    for seed in sorted(set.intersection(*(set(values) for values in levels.values()))):
        y = np.array([levels[level][seed] for level in order], dtype=float)
        slopes[seed] = float(x @ (y - y.mean()) / (x @ x))
    return slopes


@lru_cache(maxsize=4096)
def clopper_pearson(successes: int, n: int) -> tuple[float, float]:
    """The lower and the upper exact 95 % bound of a share, each one-sided."""
    low = stats.binomtest(successes, n, alternative="greater").proportion_ci(LEVEL, "exact").low
    high = stats.binomtest(successes, n, alternative="less").proportion_ci(LEVEL, "exact").high
    return float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values, in the order given."""
    order, left = np.argsort(p_values), np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.maximum.accumulate(np.minimum(left * np.asarray(p_values)[order], 1.0))
    return adjusted.tolist()


def seeds_to_decide(decided: Callable[[int], bool]) -> int | None:
    """The fewest seeds, up to ten thousand, from which on `decided(n)` is true; None if there are none."""
    if not decided(MOST_SEEDS):
        return None
    low, high = 1, MOST_SEEDS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if decided(middle) else (middle, high)
    return high


@cache
def strata(n: int) -> np.ndarray:
    """The sample deviations of `n` values of a standard normal law, at evenly spaced ranks."""
    ranks = (np.arange(STRATA) + 0.5) / STRATA
    return np.sqrt(stats.chi2.ppf(ranks, n - 1) / (n - 1))


@lru_cache(maxsize=4096)
def t_power(n: int, shift: float, extra: float = 0.0) -> float:
    """The chance that a two-sided t test at 5 % sees a shift of so many standard deviations.

    The normal law averaged over strata of the sample deviation: the non-central t without its overflows.
    """
    if n < 2:
        return 0.0
    centre, reach = shift / math.sqrt(1 / n + extra), quantile(n) * strata(n)
    return float(np.mean(special.ndtr(centre - reach) + special.ndtr(-reach - centre)))
