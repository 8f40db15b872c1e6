"""What a claim is judged on, and the six tests: from a claim and its runs to the outcome of a rule."""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from tensor_rnns.analysis import claims, intervals, rules
from tensor_rnns.analysis.claims import LIMITS, several
from tensor_rnns.analysis.joint import every
from tensor_rnns.analysis.measures import is_share
from tensor_rnns.analysis.rules import NEVER, Outcome
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.analysis.samples import (
    Sample,
    curve_of,
    cut,
    in_common,
    logs,
    passing,
    sample,
    share_data,
    uncensored,
)
from tensor_rnns.analysis.selection import searches, selected
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.guests import is_guest
from tensor_rnns.experiments.selector import Selector

LATER = "it hangs on how much later than the last update a seed would get there"


@dataclass
class Evidence:
    """An outcome with the runs behind it and the selectors that it needed."""

    outcome: Outcome
    samples: list[Sample]
    wheres: list[Selector] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """Every run that counted."""
        return [run for sample in self.samples for run in sample.runs]

    @property
    def failed(self) -> int:
        """Failed seeds in the worst of the samples."""
        return max(len(sample.failed) for sample in self.samples)

    @property
    def missing(self) -> list[str]:
        """Which finished seeds have no number, and why, sample by sample."""
        reasons = set()
        for each in self.samples:
            seeds = ", ".join(map(str, sorted(each.missing)))
            reasons |= {f"no number of seed {seeds}: {why}" for why in each.missing.values()}
        return sorted(reasons)


@dataclass
class ClaimContext:
    """What a claim is judged against: its experiment and what that left at one scale, of at most `seeds`."""

    experiment: Experiment
    tables: Tables
    scale: str
    seeds: float = math.inf

    @property
    def runs(self) -> list[Run]:
        """Those that claims are judged on, whole searches among them: guest cells are in none."""

        def peers(run: Run) -> list[Run]:
            return [peer for peer in run.load_peers() if peer.key["seed"] < self.seeds]

        if self.seeds not in self.tables.counted:  # which all claims of an experiment share
            runs = [run for run in self.tables.runs if not is_guest(run.key["variant"])]
            if self.seeds < math.inf:
                runs = [it for it in runs if it.key["stage"] == "search" or it.key["seed"] < self.seeds]
                runs = [replace(run, load_peers=partial(peers, run)) for run in runs]
            self.tables.counted[self.seeds] = runs
        return self.tables.counted[self.seeds]

    def chosen_by_few(self, outcome: Outcome, samples: Sequence[Sample]) -> Outcome:
        """The outcome of a comparison, unclear where a search with too few runs a point chose what it
        compares: how far that choice scatters is not known."""
        final = [run for sample in samples if not sample.exact for run in sample.runs if run.searched]
        few = intervals.few_searches(min(map(len, searches(self.runs, final)), default=intervals.SEARCHES))
        return outcome.unclear(few) if few else outcome

    def sample(self, claim: claims.Measuring, where: Selector | None) -> Sample:
        """The sample of the claim's measure under one selector."""
        selector = (where or Selector()).at(self.experiment.main_option(self.scale))
        return sample(self.runs, claim.measure, selector, getattr(claim, "selected_from", None))


def value(claim: claims.ValueForm, context: ClaimContext) -> Evidence:
    """The paper's number against our distribution; see rules.value."""
    sample, outcome = context.sample(claim, claim.where), Outcome("unclear")
    if numbers := list(sample.values.values()):
        final, chosen = [run for run in sample.runs if run.searched and not sample.exact], None
        if final:
            chosen = selected(context.runs, final, claim.measure, context.experiment.search["select"])
        outcome = rules.value(numbers, claim.paper, claim.tol, claim.runs, sample.exact, chosen)
        if is_share(claim.measure):
            outcome = within(outcome, 0.0)
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
    interval = intervals.RATIO if ratio else intervals.DIFFERENCE
    samples, outcomes = [], []
    whole = context.sample(claim, claim.less)
    other = replace(claim, measure=claim.than_measure or claim.measure)
    for rival in several(claim.than):
        pair = in_common([whole, context.sample(other, rival)])
        samples += pair
        sides, why = uncensored(pair), NEVER
        try:
            compared = [*map(logs, sides)] if sides and ratio else sides
        except MissingValue as error:
            compared, why = None, str(error)
        if compared is None:
            outcomes.append(Outcome("unclear", n=min(side.seeds for side in pair)).because(why))
            continue
        difference = contrast(compared, np.array([1.0, -1.0]), share_data(pair))
        if difference is None:
            outcomes.append(Outcome("unclear").because("no seed ran on both sides"))
            continue
        outcome = rules.below(difference, limit, tie, all(side.exact for side in pair), interval)
        if limit != 0 or tie is not None:
            outcome = lasting(outcome, *map(cut, pair, sides), tie is not None)
        if difference.error == 0 and "seconds" in (claim.measure.measure, other.measure.measure):
            outcome = outcome.unclear("the seeds of a cohort are timed as one")
        outcomes.append(outcome)
    shown = context.chosen_by_few(every(outcomes, float if tie is None else abs), samples)
    if is_share(claim.measure) and is_share(other.measure) and not ratio:
        shown = within(shown, -1.0)
    if ratio:
        ends = {end: getattr(shown, end) for end in ("ours", "low", "high")}
        shown = replace(shown, **{end: None if ln is None else math.exp(ln) for end, ln in ends.items()})
    return Evidence(shown, samples, [claim.less, *several(claim.than)])


def within(outcome: Outcome, least: float) -> Outcome:
    """The outcome with its interval cut at `least` and 1."""
    if outcome.low is None or outcome.high is None:
        return outcome
    low, high, interval = intervals.cut(outcome.low, outcome.high, outcome.interval, least)
    return replace(outcome, low=low, high=high, interval=interval)


def lasting(outcome: Outcome, first: set[int], second: set[int], tie: bool) -> Outcome:
    """That of first - second against a margin, unclear if it hangs on how late seeds come that were `cut`."""
    rising = (outcome.ours or 0.0) < 0 if tie else outcome.holds == "yes"
    late = first if rising else second
    late = first | second if tie and outcome.holds == "yes" else late
    hangs = late and outcome.holds != "unclear"
    return outcome.unclear(LATER) if hangs else outcome


def contrast(
    sides: Sequence[Mapping[int, float]], weights: np.ndarray, paired: bool
) -> intervals.Estimate | None:
    """The weighted sum of the values of several sides: seed by seed where they are `paired`, else of means
    (Welch); None where there is nothing to take it of."""
    if paired:
        seeds = sorted(set.intersection(*map(set, sides)))
        rows = [np.array([side[seed] for side in sides]) for seed in seeds]
        sums = [float(weights @ (row - row[0])) for row in rows]
        return intervals.contrast([sums], [1.0]) if sums else None
    samples = [[*side.values()] for side in sides]
    return intervals.contrast(samples, list(weights)) if all(samples) else None


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
    sides, estimate = uncensored(samples), None
    if sides and len(sides) > 1:
        estimate = contrast(sides, intervals.slope_weights(found), share_data(samples))
    if estimate is None:
        why = NEVER if sides is None else "fewer than two levels ran with the same seeds"
        return Evidence(Outcome("unclear").because(why), samples, claim.levels)
    outcome = rules.slope(estimate, claim.direction, all(sample.exact for sample in samples))
    return Evidence(context.chosen_by_few(outcome, samples), samples, claim.levels)


def solves(claim: claims.SolvesForm, context: ClaimContext) -> Evidence:
    """The share of runs past a threshold; a failed run has not solved; see rules.solved."""
    sample = context.sample(claim, claim.where)
    share = rules.SHARE if claim.share is None else claim.share
    curves = {curve_of(run) for run in sample.runs}
    paper = claim.of_paper(((context.experiment.source or {}).get("runs") or 0) * len(curves))
    outcome = rules.solved(*passing(sample, claim, claim), share, claim.at_most, paper)
    return Evidence(outcome, [sample], [claim.where or Selector()])


def count(claim: claims.CountForm, context: ClaimContext) -> Evidence:
    """An exact count; see rules.counted.

    Of a computed table (`of: {item, name}`), of a measure that every selected run must meet, or with
    `passing: {within | above}` of the runs that pass a threshold.
    """
    limits = {name: getattr(claim, name) for name in LIMITS} | {"tolerance": claim.tolerance or 0.0}
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
            raise MissingValue(f"{f'probe {probe}' if probe else 'the table'} has no {name} of {key}")
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
    looked_at = [Selector.of(context.experiment.probes[claim.probe].get("where"))] if claim.probe else []
    return Evidence(outcome, [Sample(runs=context.runs, exact=True)], looked_at)


TESTS: dict[type, Callable[[Any, ClaimContext], Evidence]] = {
    claims.ValueForm: value, claims.OrderForm: order, claims.TrendForm: trend, claims.SolvesForm: solves,
    claims.CountForm: count, claims.IdentityForm: identity,
}  # fmt: skip
"""What gives the evidence of a claim, for all that it selects at once, by its form."""
