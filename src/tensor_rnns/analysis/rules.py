"""The rules of the tests, on plain numbers: when a claim holds, does not hold, or is undecided.

`holds` is yes, no or unclear. An interval is the 95 % t interval unless said otherwise; with one seed there
is none and the point estimate stands alone. `exact` numbers have no scatter: one is enough.
"""

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import stats

from tensor_rnns.analysis import intervals
from tensor_rnns.analysis.intervals import Estimate

SHARE = 0.5
MISS = 1 - intervals.LEVEL
FAR = 3.0
"""Where they are fewer, a value so many halves of its prediction interval away is not the choice's doing."""
ADVICE = "about {} seeds would decide"
IRREFUTABLE, COULD = "no outcome of {} seeds could refute it", ", one of {} could"
UNDECIDABLE = "no number of seeds decides at this difference"
OF_CHOICE = "with the scatter that {} searches leave to the choice, which more of them would narrow"
NEVER = "some seeds never got there, so that there is no mean"
EQUAL = "equal in all {} seeds, so that the scatter is not known"


@dataclass(frozen=True)
class Outcome:
    """What a rule says: our number, its interval, its p value, and how sure the answer is.

    `doubt` is the p value of the answer, 0 where it is certain. `margin` is how far the answer is from being
    another: in halves of the interval, or in runs.
    """

    holds: str
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    p: float | None = None
    exact: bool = False
    reasons: tuple[str, ...] = field(default=())
    interval: str = ""
    """Which interval low and high are, in words."""
    doubt: float = 0.0
    margin: float | None = None

    def because(self, *reasons: str) -> "Outcome":
        """The same with further reasons; empty ones are left out."""
        return replace(self, reasons=(*self.reasons, *(reason for reason in reasons if reason)))

    def unclear(self, reason: str) -> "Outcome":
        """Unclear for a reason that neither more seeds nor another number of ours would take away."""
        kept = (told for told in self.reasons if seeds_that_decide(told) is None)
        return replace(self, holds="unclear", margin=None, reasons=(*kept, reason))


def answer(yes: bool, no: bool) -> str:
    """yes, no, or unclear where neither is shown."""
    return "yes" if yes else "no" if no else "unclear"


def advised(outcome: Outcome, decides: Callable[[int], bool]) -> Outcome:
    """An undecided outcome with the number of seeds that would decide, another as it is."""
    if outcome.holds != "unclear":
        return outcome
    if (needed := intervals.seeds_to_decide(decides)) is None:
        return outcome.because(UNDECIDABLE)
    return outcome.because(ADVICE.format(max(needed, outcome.n + 1)))


def is_irrefutable(reason: str) -> bool:
    """Whether `solved` said in a reason that a yes could not have been a no."""
    return re.search(IRREFUTABLE.format(r"\d+"), reason) is not None


def seeds_that_decide(reason: str) -> int | None:
    """The number of seeds that `advised` named in a reason, or that could refute a yes; None without one."""
    found = re.search(ADVICE.format(r"(\d+)"), reason) or re.search(COULD.format(r"(\d+)"), reason)
    return int(found[1]) if found else None


def turning(decide: Callable[[float], str], at: float, places: Sequence[float], unit: float) -> float | None:
    """How many `unit`s lie between `at` and the nearest of the places where the answer changes."""
    step = 1e-9 * unit
    changes = [x for x in places if decide(x - step) != decide(x + step)]
    return min((abs(at - x) / unit for x in changes), default=None) if unit > 0 else None


def near(distance: Any, predicted: Any, half: Any, tol: float) -> tuple[Any, Any]:
    """Where a value at a `distance` from our mean agrees and where it does not; numbers or arrays."""
    inside = (distance <= predicted) & (predicted <= tol)
    return inside | (distance + half <= tol), (distance > predicted) & (distance > tol)


def predicted(n: int, s: Any, runs: float, chosen: tuple[Any, int] | None = None) -> Any:
    """Half of the prediction interval of the mean of `runs` more runs, of infinitely many that of our mean;
    `chosen` is the variance that the choice adds to one run, over so many searches."""
    parts = [(np.square(s) * (1 / runs + 1 / n), n - 1)]
    if chosen:
        parts.append((chosen[0] * ((runs < math.inf) + 1 / chosen[1]), chosen[1] - 1))
    return Estimate(0.0, *intervals.summed(parts), (n,)).half()


def value(
    values: Sequence[float], paper: float, tol: float, runs: int = 1, exact: bool = False,
    selection: Sequence[float] | None = None,
) -> Outcome:  # fmt: skip
    """Is the paper's value, the mean of `runs` of its runs, consistent with our distribution?

    The interval is the prediction interval P = m +- t s sqrt(1/runs + 1/n). Yes if the paper's value lies
    in P and half of P is at most `tol`, or if |m - paper| plus half of the mean's own interval is at most
    `tol`. No if it lies outside P and |m - paper| exceeds `tol`. p is the two-sided p value of the paper's
    value under our distribution. `selection` are the values of what each seed of our search would have
    chosen: their variance widens both intervals, and with fewer than three a value that is far off alone is
    answered.
    """
    n, m = len(values), float(np.mean(values))
    if not math.isfinite(m):
        return Outcome("unclear", m, n=n).because(NEVER)
    s, distance = intervals.deviation(values), abs(m - paper)
    if exact:
        within = distance <= tol * (1 + 1e-9)
        return Outcome(answer(within, not within), m, m, m, n, None, True)
    if n < 2:
        return Outcome("unclear", m, n=n).because("one seed gives no interval")
    few = "" if selection is None else intervals.few_searches(len(selection))
    chosen = (float(np.var(selection, ddof=1)), len(selection)) if selection is not None and not few else None
    if s == 0 and not (chosen and chosen[0]):
        equal = equal_value(m, n, distance, tol)
        return replace(equal, holds="unclear").because(few) if few else equal

    def decide(at: float, count: int = n) -> str:
        reach, half = (predicted(count, s, k, chosen) for k in (runs, math.inf))
        if few:
            return answer(False, at > max(FAR * reach, tol))
        return answer(*near(at, reach, half, tol))

    reach, half = (float(predicted(n, s, k, chosen)) for k in (runs, math.inf))
    p = float(intervals.t_p(distance / reach * intervals.quantile(n), n - 1))
    places = [FAR * reach if few else reach, tol, *([tol - half] if half < tol else [])]
    margin = turning(decide, distance, places, reach)
    outcome = Outcome(decide(distance), m, m - reach, m + reach, n, p, interval=intervals.PREDICTION)
    outcome = replace(outcome, margin=margin, doubt=p if outcome.holds == "no" else 0.0)
    if few:
        return outcome.because(few)
    advice = advised(outcome, lambda count: count > 1 and decide(distance, count) != "unclear")
    return advice.because(OF_CHOICE.format(chosen[1])) if chosen and UNDECIDABLE in advice.reasons else advice


def equal_value(m: float, n: int, distance: float, tol: float) -> Outcome:
    """Of n equal seeds: most runs give that number, and any other has at most the chance 1/(n + 1)."""
    p = 1 / (n + 1)
    yes = distance <= tol and intervals.clopper_pearson(n, n)[0] >= SHARE
    outcome = Outcome(answer(yes, distance > tol and p <= MISS), m, n=n)
    return replace(outcome, doubt=p if outcome.holds == "no" else 0.0).because(EQUAL.format(n))


def beyond(m: Any, half: Any, limit: float = 0.0, tie: float | None = None) -> tuple[Any, Any]:
    """Where the whole interval is below the limit or within the tie, and where outside; numbers or arrays."""
    if tie is not None:
        return abs(m) + half <= tie, abs(m) - half > tie
    return m + half < limit, m - half > limit


def below(
    estimate: Estimate, limit: float = 0.0, tie: float | None = None, exact: bool = False,
    interval: str = intervals.DIFFERENCE,
) -> Outcome:  # fmt: skip
    """Is a difference of means below `limit`, or with `tie` inside +-`tie`?

    Yes if the whole interval is, no if the whole interval lies outside. p is the two-sided p value of a mean
    at `limit`. Where nothing scatters, Fisher's test of the two sides stands for it; equal sides are unclear
    then, unless they are `exact`.
    """
    n, m = min(estimate.sizes), float(estimate.mean)
    if exact:
        # A logarithm of a ratio may be a rounding off the limit that it is equal to.
        edges = [limit] if tie is None else [-tie, tie]
        at = next((edge for edge in edges if math.isclose(m, edge, rel_tol=1e-12, abs_tol=1e-12)), m)
        yes, no = beyond(at, 0.0, limit, tie)
        return Outcome(answer(yes, no or (tie is None and at == limit)), m, m, m, n, exact=True)
    if n < 2:
        return Outcome("unclear", m, n=n).because("one seed gives no interval")
    half, edge = float(estimate.half()), limit if tie is None else math.copysign(tie, m)
    p = estimate.p(edge)

    def decide(at: float, half: float = half) -> str:
        return answer(*beyond(at, half, limit, tie))

    if estimate.error == 0:
        tied = tie is not None and decide(m) == "yes"
        sure = intervals.clopper_pearson(n, n)[0] >= SHARE if tied else p <= MISS
        equal = Outcome(decide(m) if sure else "unclear", m, n=n, doubt=0.0 if tied else p)
        return equal.because(EQUAL.format(n), "" if tied else f"Fisher's exact p = {p:.2g}")
    margin = turning(decide, m, [edge - half, edge + half], half)
    answered = Outcome(
        decide(m), m, m - half, m + half, n, None if tie is not None else p,
        interval=estimate.named(interval), doubt=p, margin=margin,
    )  # fmt: skip
    return advised(answered, lambda count: decide(m, estimate.half(count)) != "unclear")


def slope(fit: Estimate, direction: str, exact: bool = False) -> Outcome:
    """Is a slope positive (`direction` up) or negative (down)? Rules as in `below`."""
    sign = -1.0 if direction == "up" else 1.0
    outcome = below(replace(fit, mean=sign * fit.mean), exact=exact, interval=intervals.SLOPE)
    if sign > 0 or outcome.ours is None:
        return outcome
    low, high = (None if end is None else -end for end in (outcome.high, outcome.low))
    return replace(outcome, ours=-outcome.ours, low=low, high=high)


def solved(
    successes: int, n: int, share: float = SHARE, at_most: float | None = None,
    paper: tuple[int, int] | None = None,
) -> Outcome:  # fmt: skip
    """Is the share of solved seeds at least `share`, or with `at_most` no more than that?

    The interval's ends are the one-sided 95 % Clopper-Pearson bounds. Yes if the lower one reaches `share`,
    no if the upper one is below it. With `at_most`: no if the lower bound exceeds it (one solved seed
    refutes 0), yes if our share does not exceed it and the upper bound is below `share`. p is that of the
    binomial test at `share`, or at `at_most`. Where the document rests on so many of so many runs (`paper`),
    no only if Fisher's exact test tells our share from theirs: a yes of so few seeds that none of their
    outcomes is a no says so.
    """
    apart = intervals.p_of_shares((successes, n), paper) if paper else 0.0

    def decide(passed: int, count: int = n) -> str:
        low, high = intervals.clopper_pearson(passed, count)
        if at_most is None:
            yes, no = low >= share, high < share
        else:
            yes, no = passed / count <= at_most and high < share, low > at_most
        return answer(yes, no and (not paper or intervals.p_of_shares((passed, count), paper) <= MISS))

    def refutes(count: int) -> bool:
        return decide(0 if at_most is None else count, count) == "no"

    def p(side: str, limit: float) -> float:
        return float(stats.binomtest(successes, n, limit, alternative=side).pvalue)

    limit, holds = share if at_most is None else at_most, decide(successes)
    upward = (holds == "yes") == (at_most is None)
    doubt = p("greater", limit) if upward else p("less", share)
    others = ((step, successes + sign * step) for step in range(1, n + 1) for sign in (-1, 1))
    margin = next((step for step, passed in others if 0 <= passed <= n and decide(passed) != holds), None)
    outcome = Outcome(
        holds, successes / n, *intervals.clopper_pearson(successes, n), n, p("greater", limit),
        interval=intervals.BOUNDS, doubt=max(doubt, apart if holds == "no" else 0.0), margin=margin,
    )  # fmt: skip
    if holds == "yes" and not refutes(n):
        more = intervals.seeds_to_decide(refutes)
        outcome = outcome.because(IRREFUTABLE.format(n) + (COULD.format(more) if more else ""))
    if paper and holds == "unclear" and apart > MISS:
        outcome = outcome.because(f"against {paper[0]} of {paper[1]} of the document's runs p = {apart:.2g}")
    return advised(outcome, lambda count: decide(round(successes / n * count), count) != "unclear")


def counted(
    values: Sequence[float], equals: float | None = None, at_least: float | None = None,
    at_most: float | None = None, within: Sequence[float] | None = None, tolerance: float = 0.0,
) -> Outcome:  # fmt: skip
    """Does every value equal, reach, not exceed or lie between what is given? Shown is the worst."""
    ends = within or (None, None)
    low = max((end for end in (equals, at_least, ends[0]) if end is not None), default=-math.inf)
    high = min((end for end in (equals, at_most, ends[1]) if end is not None), default=math.inf)
    worst = max(values, key=lambda value: math.inf if math.isnan(value) else max(low - value, value - high))
    slack = tolerance * (1 + 1e-9)
    inside = low - slack <= worst <= high + slack
    return Outcome(
        answer(inside, not inside), worst, min(values), max(values), len(values), None, True,
        interval=intervals.RANGE,
    )  # fmt: skip


def identity(errors: Sequence[float], tolerance: float, printed: Sequence[float] | None = None) -> Outcome:
    """Is the largest error at most `tolerance`? With `printed`, the printed form is judged.

    `errors` are then those of the corrected form, which must hold; the printed form fails if its error
    exceeds `tolerance`.
    """

    def worst(values: Sequence[float]) -> float:
        return max((math.inf if math.isnan(value) else abs(value) for value in values), default=math.inf)

    judged = errors if printed is None else printed
    error = worst(judged)
    holds, why = answer(error <= tolerance, error > tolerance), ""
    if printed is not None:
        expected = "as printed it fails, as corrected it holds"
        why = expected if holds == "no" else "as printed it holds, although a misprint was expected"
        if (corrected := worst(errors)) > tolerance:
            holds, why = "unclear", f"the corrected form fails too (error {corrected:.2g})"
    said = Outcome(holds, error, None, tolerance, len(judged), exact=True, interval=intervals.TOLERANCE)
    return said.because(why)
