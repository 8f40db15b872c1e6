"""Intervals and p values for few seeds; scipy's where it has them."""

import bisect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
from scipy import special, stats

LEVEL = 0.95
FEWEST = 5
"""So many seeds are the fewest that a verdict on scattering numbers, or a bootstrap, rests on."""
MEAN, PREDICTION = "95 % t interval of the mean", "95 % prediction interval"
DIFFERENCE, SLOPE = "95 % t interval of the mean difference", "95 % t interval of the mean slope"
RATIO = "95 % t interval of the mean ratio, on logarithms"
BOUNDS = "one-sided 95 % Clopper-Pearson bounds"
SHARE_OF_SEEDS = "95 % Clopper-Pearson interval of the share of seeds"
RANGE, TOLERANCE = "smallest and largest value", "largest error allowed"
CUT = ", cut at 0 and 1"
CUT_DIFFERENCE = ", cut at -1 and 1"
"""What an interval is called wherever it is shown."""
MOST_SEEDS = 10_000
SEARCHES = 3
"""So many seeds a point of a search show how far the choice scatters."""


@cache
def quantile(n: int) -> float:
    """The 97.5 % quantile of the t distribution of `n` values."""
    return float(stats.t.ppf((1 + LEVEL) / 2, n - 1))


def cut(low: float, high: float, name: str, least: float = 0.0) -> tuple[float, float, str]:
    """An interval of a share and its name, cut at 0 and 1, or of a difference of two, cut at `least` = -1 and
    1: the truth lies there, so no coverage is lost."""
    if low >= least and high <= 1:
        return low, high, name
    return max(low, least), min(high, 1.0), name + (CUT if least == 0 else CUT_DIFFERENCE)


def of_mean(values: Sequence[float], share: bool, indicator: bool) -> tuple[float, float, str]:
    """(low, high, name) of the 95 % interval of the mean of at least two values.

    A `share` never leaves 0 to 1. An `indicator` is 0 or 1 for each seed: equal seeds do not make its mean
    certain, so its interval is the exact binomial one and not t.
    """
    if indicator and set(values) <= {0.0, 1.0}:
        low, high = stats.binomtest(round(sum(values)), len(values)).proportion_ci(LEVEL, "exact")
        return float(low), float(high), SHARE_OF_SEEDS
    mean = float(np.mean(values))
    half = quantile(len(values)) * deviation(values) * math.sqrt(1 / len(values))
    low, high = mean - half, mean + half
    return cut(low, high, MEAN) if share else (low, high, MEAN)


def deviation(values: Sequence[float]) -> float:
    """The sample standard deviation; 0 for a single value or equal ones."""
    return float(np.std(values, ddof=1)) if len(values) > 1 and np.ptp(values) > 0 else 0.0


def summed(parts: Sequence[tuple[Any, Any]]) -> tuple[Any, Any]:
    """The standard error of a sum of independent terms, each of (variance, degrees of freedom), and its
    degrees of freedom by Welch and Satterthwaite; 1 where nothing scatters."""
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / freedom for variance, freedom in parts)
    return np.sqrt(total), np.divide(total**2, below, out=np.ones_like(below, dtype=float), where=below > 0)


@dataclass(frozen=True)
class Estimate:
    """A weighted sum of means: its number, standard error and degrees of freedom, each a number or an array,
    and the sizes of the samples behind it."""

    mean: Any
    error: Any
    freedom: Any
    sizes: tuple[int, ...]

    def named(self, interval: str) -> str:
        """The name of a t interval, or of Welch's where there are several samples."""
        return interval if len(self.sizes) == 1 else interval.replace("95 % t", "95 % Welch")

    def half(self, count: int | None = None) -> Any:
        """Half of its 95 % interval, or that with `count` seeds in the smallest sample; infinite for one."""
        n = min(self.sizes)
        count = count or n
        if min(n, count) < 2:
            return math.inf
        freedom = self.freedom * (count - 1) / (n - 1)
        return special.stdtrit(freedom, (1 + LEVEL) / 2) * self.error * math.sqrt(n / count)

    def p(self, hypothesis: float) -> float:
        """The two-sided p value of a mean; where nothing scatters, Fisher's of sides that share nothing, or 1
        at the hypothesis."""
        if self.error == 0 and self.mean == hypothesis:
            return 1.0
        if self.error == 0:
            first, second = sorted(self.sizes)[:2] if len(self.sizes) > 1 else self.sizes * 2
            return p_of_shares((first, first), (0, second))
        return float(t_p(abs(self.mean - hypothesis) / self.error, self.freedom))


def contrast(samples: Sequence[Any], weights: Sequence[float]) -> Estimate:
    """The sum of the means of independent samples, times weights that add up to 0 where there are several;
    seeds are the last axis.

    One sample gives Student's t interval, two with weights 1 and -1 Welch's (scipy's ttest_ind with
    equal_var=False).
    """
    arrays = [np.asarray(sample, dtype=float) for sample in samples]
    sizes = tuple(array.shape[-1] for array in arrays)
    origin = arrays[0].mean(-1) if len(arrays) > 1 else 0.0
    mean = sum(weight * (array.mean(-1) - origin) for weight, array in zip(weights, arrays, strict=True))
    if min(sizes) < 2:
        return Estimate(mean, 0.0, 1.0, sizes)
    parts = [
        (weight**2 * np.where(np.ptp(array, -1) > 0, array.var(-1, ddof=1), 0.0) / n, n - 1)
        for weight, array, n in zip(weights, arrays, sizes, strict=True)
    ]
    return Estimate(mean, *summed(parts), sizes)


def slope_weights(levels: Sequence[float]) -> np.ndarray:
    """What the means of the levels are multiplied with in their least-squares slope."""
    centred = np.asarray(levels, dtype=float) - np.mean(levels)
    return centred / (centred @ centred)


@lru_cache(maxsize=4096)
def p_of_shares(first: tuple[int, int], second: tuple[int, int]) -> float:
    """Fisher's exact p value of two shares, each (passed, of how many)."""
    return float(stats.fisher_exact([[passed, n - passed] for passed, n in (first, second)]).pvalue)


def t_p(t: Any, freedom: Any) -> Any:
    """The two-sided p value of a t statistic; numbers or arrays."""
    return 2 * special.stdtr(freedom, -t)


@lru_cache(maxsize=4096)
def clopper_pearson(successes: int, n: int) -> tuple[float, float]:
    """The lower and the upper exact 95 % bound of a share, each one-sided."""
    low = stats.binomtest(successes, n, alternative="greater").proportion_ci(LEVEL, "exact").low
    high = stats.binomtest(successes, n, alternative="less").proportion_ci(LEVEL, "exact").high
    return float(low), float(high)


def holm(p_values: Any) -> np.ndarray:
    """Holm's adjusted p values of each row, in the order given; NaN stays NaN."""
    given = np.asarray(p_values, dtype=float)
    order = given.argsort(axis=-1, kind="stable")
    steps = np.arange(given.shape[-1], 0, -1) * np.take_along_axis(given, order, -1)
    adjusted = np.empty_like(given)
    np.put_along_axis(adjusted, order, np.maximum.accumulate(np.minimum(steps, 1.0), axis=-1), -1)
    return adjusted


def seeds_to_decide(decided: Callable[[int], bool]) -> int | None:
    """The fewest seeds, up to ten thousand, from which on `decided(n)` is true; None if there are none."""
    if not decided(MOST_SEEDS):
        return None
    return 2 + bisect.bisect_left(range(2, MOST_SEEDS), True, key=decided)


def few_searches(count: int) -> str:
    """Why a search with so many runs a point that have a number leaves its choice in doubt; "" if not."""
    if count >= SEARCHES:
        return ""
    if not count:
        return "no run of the search gives this number, so that how far its choice scatters is not known"
    return f"{SEARCHES} or more seeds a point would show how far the search's choice scatters; it has {count}"
