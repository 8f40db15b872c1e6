"""The rules of the tests, on plain numbers: when a claim holds, does not hold, or is undecided.

`holds` is yes, no or unclear. An interval is the 95 % t interval unless said otherwise; with one seed there
is none and the point estimate stands alone. `exact` numbers have no scatter: one is enough.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy import stats

from tensor_rnns.analysis import intervals

SHARE = 0.5
SHIFT = 5.0
"""A claim could fail if a truth so many standard deviations off is seen in 9 of 10 cases."""


@dataclass(frozen=True)
class Outcome:
    """What a rule says: our number, its interval, the p value, whether it could have been no."""

    holds: str
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    p: float | None = None
    could_fail: bool = False
    exact: bool = False
    reasons: tuple[str, ...] = field(default=())
    interval: str = ""
    """Which interval low and high are, in words."""

    def because(self, *reasons: str) -> "Outcome":
        """The same with further reasons; empty ones are left out."""
        return replace(self, reasons=(*self.reasons, *(reason for reason in reasons if reason)))

    def cut(self) -> "Outcome":
        """The same with an interval of a share cut at 0 and 1, which no share leaves; the answer stands."""
        if self.low is None or self.high is None:
            return self
        low, high, interval = intervals.cut(self.low, self.high, self.interval)
        return replace(self, low=low, high=high, interval=interval)


def answer(yes: bool, no: bool) -> str:
    """yes, no, or unclear where neither is shown."""
    return "yes" if yes else "no" if no else "unclear"


def advised(found: Outcome, decides: Callable[[int], bool]) -> Outcome:
    """An undecided outcome with the number of seeds that would decide, another as it is."""
    if found.holds != "unclear":
        return found
    needed = intervals.seeds_to_decide(decides)
    if needed is None:
        return found.because("no number of seeds decides at this difference")
    return found.because(f"about {max(needed, found.n + 1)} seeds would decide")


def value(values: Sequence[float], paper: float, tol: float, runs: int = 1, exact: bool = False) -> Outcome:
    """Is the paper's value, the mean of `runs` of its runs, consistent with our distribution?

    The interval is the prediction interval P = m +- t s sqrt(1/runs + 1/n). Yes if the paper's value lies
    in P and half of P is at most `tol`, or if |m - paper| plus half of the mean's own interval is at most
    `tol`. No if it lies outside P and |m - paper| exceeds `tol`. p is the two-sided p value of the paper's
    value under our distribution.
    """
    n, m = len(values), float(np.mean(values))
    if not math.isfinite(m):
        return Outcome("unclear", m, n=n).because("some seeds never got there, so that there is no mean")
    s, distance = intervals.deviation(values), abs(m - paper)
    if exact:
        near = distance <= tol * (1 + 1e-9)
        return Outcome(answer(near, not near), m, m, m, n, None, True, True)

    def decide(count: int) -> str:
        predicted = intervals.half_width(count, s, 1 / runs)
        inside = distance <= predicted
        near = distance + intervals.half_width(count, s) <= tol
        return answer((inside and predicted <= tol) or near, not inside and distance > tol)

    if n < 2:
        return Outcome("unclear", m, n=n).because("one seed gives no interval")
    half = intervals.half_width(n, s, 1 / runs)
    red = s == 0 or any(intervals.t_power(n, shift, 1 / runs) >= 0.9 for shift in (SHIFT, SHIFT + tol / s))
    p = intervals.t_p_value(distance, n, s, 1 / runs)
    found = Outcome(decide(n), m, m - half, m + half, n, p, red, interval=intervals.PREDICTION)
    return advised(found, lambda count: decide(count) != "unclear")


def below(
    differences: Sequence[float], limit: float = 0.0, tie: float | None = None, exact: bool = False,
    censored: bool = False,
) -> Outcome:  # fmt: skip
    """Is the mean of paired differences below `limit`, or with `tie` inside +-`tie`?

    Yes if the whole interval is, no if the whole interval lies outside. Equal sides are not below one
    another, unless both are `censored` (neither got there), which is unclear. p is the two-sided p value of
    a mean at `limit`.
    """
    n, m, s = len(differences), float(np.mean(differences)), intervals.deviation(differences)
    certain = exact or (s == 0 and n > 1)
    if n < 2 and not exact:
        return Outcome("unclear", m, n=n).because("one pair gives no interval")
    half = 0.0 if certain else intervals.half_width(n, s)
    if censored and certain and m == 0:
        return Outcome("unclear", m, m, m, n).because("neither side got there within the updates granted")

    def decide(half: float) -> str:
        if tie is not None:
            return answer(abs(m) + half <= tie, abs(m) - half > tie)
        return answer(m + half < limit, m - half > limit or (half == 0 and m == limit))

    red = certain or intervals.t_power(n, SHIFT) >= 0.9
    p = None if certain or tie is not None else intervals.t_p_value(m - limit, n, s)
    found = Outcome(decide(half), m, m - half, m + half, n, p, red, exact, interval=intervals.DIFFERENCE)
    return found if certain else advised(found, lambda n: decide(intervals.half_width(n, s)) != "unclear")


def slope(slopes: Sequence[float], direction: str, exact: bool = False, censored: bool = False) -> Outcome:
    """Is the mean of the seeds' slopes positive (`direction` up) or negative (down)? Rules as in `below`."""
    sign = -1.0 if direction == "up" else 1.0
    found = below([sign * slope for slope in slopes], exact=exact, censored=censored)
    found = replace(found, interval=intervals.SLOPE)
    if sign > 0 or found.ours is None:
        return found
    low, high = (None if end is None else -end for end in (found.high, found.low))
    return replace(found, ours=-found.ours, low=low, high=high)


def solved(successes: int, n: int, share: float = SHARE, at_most: float | None = None) -> Outcome:
    """Is the share of solved seeds at least `share`, or with `at_most` no more than that?

    The interval's ends are the one-sided 95 % Clopper-Pearson bounds. Yes if the lower one reaches `share`,
    no if the upper one is below it. With `at_most`: no if the lower bound exceeds it (one solved seed
    refutes 0), yes if our share does not exceed it and the upper bound is below `share`. p is that of the
    binomial test at `share`, or at `at_most`.
    """
    low, high = intervals.clopper_pearson(successes, n)
    if at_most is None:
        holds = answer(low >= share, high < share)
        red = intervals.clopper_pearson(0, n)[1] < share
    else:
        holds = answer(successes / n <= at_most and high < share, low > at_most)
        red = intervals.clopper_pearson(n, n)[0] > at_most
    limit = share if at_most is None else at_most
    p = float(stats.binomtest(successes, n, limit, alternative="greater").pvalue)

    def decides(count: int) -> bool:
        bounds = intervals.clopper_pearson(round(successes / n * count), count)
        return bounds[1] < share or (at_most is None and bounds[0] >= share)

    found = Outcome(holds, successes / n, low, high, n, p, red, interval=intervals.BOUNDS)
    return advised(found, decides)


def counted(
    values: Sequence[float], equals: float | None = None, at_least: float | None = None,
    at_most: float | None = None, within: Sequence[float] | None = None, tolerance: float = 0.0,
) -> Outcome:  # fmt: skip
    """Does every value equal, reach, not exceed or lie between what is given? Shown is the worst."""
    ends = within or (None, None)
    low = max((end for end in (equals, at_least, ends[0]) if end is not None), default=-math.inf)
    high = min((end for end in (equals, at_most, ends[1]) if end is not None), default=math.inf)
    worst = max(values, key=lambda value: math.inf if math.isnan(value) else max(low - value, value - high))
    inside = low - tolerance <= worst <= high + tolerance
    return Outcome(
        answer(inside, not inside), worst, min(values), max(values), len(values), None, True, True,
        interval=intervals.RANGE,
    )  # fmt: skip


def identity(errors: Sequence[float], tolerance: float, printed: Sequence[float] | None = None) -> Outcome:
    """Is the largest error at most `tolerance`? With `printed`, the printed form is judged.

    `errors` are then those of the corrected form, which must hold; the printed form fails if its error
    exceeds `tolerance`.
    """

    def worst(values: Sequence[float]) -> float:
        return max((math.inf if math.isnan(value) else abs(value) for value in values), default=math.inf)

    def outcome(holds: str, error: float, n: int) -> Outcome:
        return Outcome(holds, error, None, tolerance, n, None, True, True, interval=intervals.TOLERANCE)

    corrected = worst(errors)
    if printed is None:
        return outcome(answer(corrected <= tolerance, corrected > tolerance), corrected, len(errors))
    as_printed = worst(printed)
    if corrected > tolerance:
        why, holds = f"the corrected form fails too (error {corrected:.2g})", "unclear"
    elif as_printed <= tolerance:
        why, holds = "as printed it holds, although a misprint was expected", "yes"
    else:
        why, holds = "as printed it fails, as corrected it holds", "no"
    return outcome(holds, as_printed, len(printed)).because(why)
