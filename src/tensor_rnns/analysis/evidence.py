"""The six tests: from a claim and the runs of its experiment to the outcome of a rule."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from tensor_rnns.analysis import claims, intervals, rules
from tensor_rnns.analysis.claims import LIMITS, several
from tensor_rnns.analysis.context import ClaimContext, Evidence
from tensor_rnns.analysis.joint import every
from tensor_rnns.analysis.measures import is_share
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.analysis.samples import (
    Sample,
    curve_of,
    cut,
    in_common,
    logs,
    passing,
    share_data,
    uncensored,
)
from tensor_rnns.experiments.selector import Selector

NEVER = "some seeds never got there, so that there is no mean"
LATER = "it hangs on how much later than the last update a seed would get there"


def value(claim: claims.ValueForm, context: ClaimContext) -> Evidence:
    """The paper's number against our distribution; see rules.value."""
    sample, outcome = context.sample(claim, claim.where), Outcome("unclear")
    if numbers := list(sample.values.values()):
        chosen = None if sample.exact else context.selection(claim, sample)
        outcome = rules.value(numbers, claim.paper, claim.tol, claim.runs, sample.exact, chosen)
        outcome = outcome.cut() if is_share(claim.measure) else outcome
    return Evidence(outcome, [sample], [claim.where or Selector()])


def order(claim: claims.OrderForm, context: ClaimContext) -> Evidence:
    """less + at_least < than, or less < ratio * than, by pairs where seeds share data, else Welch; see
    rules.below.

    `ours` is the mean difference less - than, or with `ratio` the mean ratio less / than; `than_measure`
    stands in place of the measure on the side of `than`. `tie: x` asks instead that the difference lies
    within +-x, `tie_ratio: x` that the ratio lies within 1/x and x. Of several `than` each must hold and the
    least favourable is shown. For a measure never reached see `uncensored`.
    """
    ratio = claim.ratio is not None or claim.tie_ratio is not None
    limit = math.log(claim.ratio or 1.0) if ratio else -(claim.at_least or 0.0)
    tie = math.log(claim.tie_ratio) if claim.tie_ratio else claim.tie
    samples, outcomes = [], []
    whole = context.sample(claim, claim.less)
    other = replace(claim, measure=claim.than_measure or claim.measure)
    for rival in several(claim.than):
        first, second = in_common([whole, context.sample(other, rival)])
        samples += [first, second]
        sides, why = uncensored([second, first]), NEVER
        try:
            compared = [*map(logs, sides)] if sides and ratio else sides
        except MissingValue as error:
            compared, why = None, str(error)
        if compared is None:
            outcomes.append(Outcome("unclear", n=min(first.seeds, second.seeds)).because(why))
            continue
        levels = dict(zip((-1.0, 1.0), compared, strict=True))
        difference = contrast(levels, np.array([-1.0, 1.0]), share_data([first, second]))
        if difference is None:
            outcomes.append(Outcome("unclear").because("no seed ran on both sides"))
            continue
        outcome = rules.below(difference, limit, tie, first.exact and second.exact)
        if limit != 0 or tie is not None:
            late = [cut(of, side) for of, side in zip((second, first), sides, strict=True)]
            outcome = lasting(outcome, late[1], late[0], tie is not None)
        if difference.error == 0 and "seconds" in (claim.measure.measure, other.measure.measure):
            outcome = replace(outcome, holds="unclear").because("the seeds of a cohort are timed as one")
        outcomes.append(named(outcome, intervals.RATIO if ratio else intervals.DIFFERENCE, difference))
    shown = context.chosen_by_few(every(outcomes, float if tie is None else abs), samples)
    if ratio:
        ends = {end: getattr(shown, end) for end in ("ours", "low", "high")}
        shown = replace(shown, **{end: None if ln is None else math.exp(ln) for end, ln in ends.items()})
    return Evidence(shown, samples, [claim.less, *several(claim.than)])


def lasting(outcome: Outcome, first: set[int], second: set[int], tie: bool) -> Outcome:
    """That of first - second against a margin, of seeds whose times were `cut`; unclear if it hangs on how
    late these come."""
    rising = (outcome.ours or 0.0) < 0 if tie else outcome.holds == "yes"
    late = first if rising else second
    late = first | second if tie and outcome.holds == "yes" else late
    hangs = late and outcome.holds != "unclear"
    return replace(outcome, holds="unclear").because(LATER) if hangs else outcome


def contrast(
    levels: Mapping[float, Mapping[int, float]], weights: np.ndarray, paired: bool
) -> intervals.Estimate | None:
    """The weighted sum of the levels' values: seed by seed where they are `paired`, else of means (Welch);
    None where there is nothing to take it of."""
    if paired:
        seeds = sorted(set.intersection(*(set(values) for values in levels.values())))
        rows = [np.array([values[seed] for values in levels.values()]) for seed in seeds]
        sums = [float(weights @ (row - row[0])) for row in rows]
        return intervals.contrast([sums], [1.0]) if sums else None
    samples = [[*values.values()] for values in levels.values()]
    return intervals.contrast(samples, list(weights)) if all(samples) else None


def named(outcome: Outcome, interval: str, estimate: intervals.Estimate) -> Outcome:
    """The outcome with the name of its interval: t of pairs, or Welch's."""
    return replace(
        outcome, interval=interval if len(estimate.sizes) == 1 else interval.replace("95 % t", "95 % Welch")
    )


def trend(claim: claims.TrendForm, context: ClaimContext) -> Evidence:
    """The sign of the slope of the measure over the levels; see rules.slope.

    For a measure never reached see `uncensored`. Levels that did not run are left out.
    """
    found, samples = [], []
    for where, level in zip(claim.levels, claim.values.values(), strict=True):
        with suppress(MissingValue):
            samples.append(context.sample(claim, where))
            found.append(float(level))
    if not samples:
        raise MissingValue(f"no run of any {claim.over}")
    samples = in_common(samples)
    values = uncensored(samples)
    levels = dict(zip(found, values or [], strict=values is not None))
    known = len(levels) > 1
    estimate = contrast(levels, intervals.slope_weights([*levels]), share_data(samples)) if known else None
    if estimate is None:
        why = NEVER if values is None else "fewer than two levels ran with the same seeds"
        return Evidence(Outcome("unclear").because(why), samples, claim.levels)
    outcome = rules.slope(estimate, claim.direction, all(sample.exact for sample in samples))
    outcome = context.chosen_by_few(named(outcome, intervals.SLOPE, estimate), samples)
    return Evidence(outcome, samples, claim.levels)


def solves(claim: claims.SolvesForm, context: ClaimContext) -> Evidence:
    """The share of runs past a threshold; a failed run has not solved; see rules.solved."""
    sample = context.sample(claim, claim.where)
    limits = given(claim, "share", "at_most")
    curves = {curve_of(run) for run in sample.runs}
    paper = claim.of_paper(((context.experiment.source or {}).get("runs") or 0) * len(curves))
    outcome = rules.solved(*passing(sample, claim, claim), **limits, paper=paper)
    return Evidence(outcome, [sample], [claim.where or Selector()])


def given(claim: claims.ClaimForm, *names: str) -> dict[str, Any]:
    """Those of some keys that the claim has; rules have the defaults of the others."""
    return {name: limit for name in names if (limit := getattr(claim, name)) is not None}


def count(claim: claims.CountForm, context: ClaimContext) -> Evidence:
    """An exact count; see rules.counted.

    Of a computed table (`of: {item, name}`), of a measure that every selected run must meet, or with
    `passing: {within | above}` of the runs that pass a threshold.
    """
    limits = given(claim, *LIMITS, "tolerance")
    if claim.of:
        numbers = column(context, claim.of.item, claim.of.name)
        return Evidence(rules.counted(numbers, **limits), [Sample(runs=context.runs, exact=True)])
    sample = context.sample(claim, claim.where)
    if claim.passing:
        number, runs = passing(sample, claim, claim.passing)
        outcome = replace(rules.counted([float(number)], **limits), n=runs, exact=False)
    else:
        outcome = rules.counted(list(sample.values.values()) or [math.nan], **limits)
        outcome = replace(outcome, exact=sample.exact)
    return Evidence(outcome, [sample], [claim.where or Selector()])


def column(context: ClaimContext, item: Any, name: str, probe: str | None = None) -> list[float]:
    """All positions of `name` of one or several items of the computed table, or of every replica's probe."""
    numbers: list[float] = []
    for key in several(item):
        computed = () if probe else context.tables.computed.get((key, name), ())
        rows = probed(context.runs, probe, key, name) if probe else list(computed)
        if not rows:
            raise MissingValue(f"{f'probe {probe}' if probe else 'computed'} has no {name} of {key}")
        numbers += rows
    return numbers


def probed(runs: Sequence[Run], probe: str, item: str, name: str) -> list[float]:
    """All positions of `name` of an item in every replica's probe; MissingValue where a finished replica
    lacks it and others of its curve have it."""

    def group(run: Run) -> tuple[str, ...]:
        return *curve_of(run), run.key["stage"], run.key["dataset"]

    tables = [(run, run.load_probe(probe).get((item, name), ())) for run in runs]
    looked_at = {group(run) for run, rows in tables if len(rows)}
    lacking = [run for run, rows in tables if not (len(rows) or run.failed) and group(run) in looked_at]
    if lacking:
        seeds = ", ".join(str(run.key["seed"]) for run in lacking if group(run) == group(lacking[0]))
        of = " ".join(curve_of(lacking[0]))
        raise MissingValue(f"probe {probe} has no {name} of {item} of seed {seeds} of {of}")
    return [float(number) for _, rows in tables for number in rows]


def identity(claim: claims.IdentityForm, context: ClaimContext) -> Evidence:
    """An identity to a tolerance, or with `expect: fails_as_printed` the misprint; see rules.identity."""
    errors = partial(column, context, claim.item, probe=claim.probe)
    if claim.expect == "holds":
        outcome = rules.identity(errors(claim.name or "error"), claim.tolerance)
    else:
        outcome = rules.identity(errors("corrected_error"), claim.tolerance, errors("printed_error"))
    return Evidence(outcome, [Sample(runs=context.runs, exact=True)])


TESTS: dict[type, Callable[[Any, ClaimContext], Evidence]] = {
    claims.ValueForm: value, claims.OrderForm: order, claims.TrendForm: trend, claims.SolvesForm: solves,
    claims.CountForm: count, claims.IdentityForm: identity,
}  # fmt: skip
"""What gives the evidence of a claim, for all that it selects at once, by its form."""
