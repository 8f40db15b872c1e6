"""The six tests: from a claim's block and the runs of its experiment to the outcome of a rule."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tensor_rnns.analysis import intervals, rules
from tensor_rnns.analysis.measures import is_share, measure_of
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.analysis.samples import Sample, curve_of, sample
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.guests import is_guest
from tensor_rnns.experiments.selector import Selector

MOST_FAILED = 0.2


@dataclass
class Evidence:
    """An outcome with the runs behind it and the selectors that it needed."""

    outcome: Outcome
    samples: list[Sample] = field(default_factory=list)
    wheres: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def runs(self) -> list[Run]:
        """Every run that counted."""
        return [run for sample in self.samples for run in sample.runs]

    @property
    def seeds(self) -> int:
        """Seeds in the smallest of the samples."""
        return min((sample.seeds for sample in self.samples), default=0)

    @property
    def failed(self) -> int:
        """Failed seeds in the worst of the samples."""
        return max((len(sample.failed) for sample in self.samples), default=0)

    @property
    def diverged(self) -> int:
        """Seeds with a diverged run in the worst of the samples."""
        return max((len(sample.failed - sample.missing.keys()) for sample in self.samples), default=0)

    @property
    def missing(self) -> list[str]:
        """Which finished seeds have no number, and why, sample by sample."""
        reasons = set()
        for each in self.samples:
            seeds = ", ".join(map(str, sorted(each.missing)))
            reasons |= {f"no number of seed {seeds}: {why}" for why in each.missing.values()}
        return sorted(reasons)

    @property
    def too_many_failed(self) -> bool:
        """Whether over a fifth of the seeds of some sample failed."""
        return any(len(sample.failed) > MOST_FAILED * sample.seeds for sample in self.samples)


@dataclass
class ClaimContext:
    """What a claim is judged against: its experiment and what that left at one scale."""

    experiment: Experiment
    tables: Tables
    scale: str

    def sample(self, spec: Mapping[str, Any], where: Mapping[str, Any] | None) -> Sample:
        """The sample of the claim's measure under one selector; guest cells are in no claim."""
        selector = Selector.of(where).at(self.experiment.main_option(self.scale))
        runs = [run for run in self.tables.runs if not is_guest(run.key["variant"])]
        return sample(runs, spec["measure"], selector, spec.get("selected_from"))


def value(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """The paper's number against our distribution; see rules.value."""
    where = spec.get("where", {})
    found = context.sample(spec, where)
    numbers = list(found.values.values())
    if not numbers:
        return Evidence(Outcome("unclear"), [found], [where])
    outcome = rules.value(numbers, spec["paper"], spec["tol"], spec.get("runs", 1), found.exact)
    return Evidence(outcome.cut() if is_share(spec["measure"]) else outcome, [found], [where])


def order(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """less + at_least < than, or less < ratio * than, paired by seed; see rules.below.

    `ours` is the mean difference less - than, or with `ratio` the mean ratio less / than; `than_measure`
    stands in place of the measure on the side of `than`. `tie: x` asks instead that the difference lies
    within +-x, `tie_ratio: x` that the ratio lies within 1/x and x. Of several `than` each must hold and the
    least favourable is shown. A measure never reached counts as one more than the updates granted.
    """
    rivals = spec["than"] if isinstance(spec["than"], list) else [spec["than"]]
    first = context.sample(spec, spec["less"])
    logs = "ratio" in spec or "tie_ratio" in spec
    numbers: Callable[[Sample], dict[int, float]] = Sample.logs if logs else Sample.uncensored
    limit = math.log(spec.get("ratio", 1.0)) if logs else -spec.get("at_least", 0.0)
    tie = math.log(spec["tie_ratio"]) if "tie_ratio" in spec else spec.get("tie")
    samples, outcomes = [first], []
    other = {**spec, "measure": spec.get("than_measure", spec["measure"])}
    for rival in rivals:
        second = context.sample(other, rival)
        samples.append(second)
        pairs = intervals.paired(numbers(first), numbers(second))
        if not pairs:
            outcomes.append(Outcome("unclear").because("no seed ran on both sides"))
            continue
        exact = first.exact and second.exact
        censored = bool(first.censored & second.censored)
        outcomes.append(rules.below(list(pairs.values()), limit, tie, exact, censored))
    shown = every(outcomes)
    if logs:
        ends = {name: exponential(getattr(shown, name)) for name in ("ours", "low", "high")}
        shown = replace(shown, interval=intervals.RATIO, **ends)
    return Evidence(shown, samples, [spec["less"], *rivals])


def trend(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """The sign of the slope of the measure over the levels, seed by seed; see rules.slope.

    A measure never reached counts as one more than the updates granted. Levels that did not run are left out.
    """
    over = spec["over"]
    levels, samples = {}, []
    wheres = [dict(spec.get("where", {})) | {over: name} for name in spec["values"]]
    for where, level in zip(wheres, spec["values"].values(), strict=True):
        try:
            samples.append(context.sample(spec, where))
        except MissingValue:
            continue
        levels[float(level)] = samples[-1].uncensored()
    if not samples:
        raise MissingValue(f"no run of any {over}")
    slopes = intervals.paired_slopes(levels)
    if not slopes:
        outcome = Outcome("unclear").because("fewer than two levels ran with the same seeds")
        return Evidence(outcome, samples, wheres)
    exact = all(sample.exact for sample in samples)
    censored = all(bool(sample.censored) for sample in samples)
    return Evidence(rules.slope(list(slopes.values()), spec["direction"], exact, censored), samples, wheres)


def passes(spec: Mapping[str, Any], number: float) -> bool:
    """Whether a measure lies at or below `within` and at or above `above`, whichever are given."""
    if "within" not in spec and "above" not in spec:
        raise ValueError("solves needs within or above")
    return spec.get("above", -math.inf) <= number <= spec.get("within", math.inf)


def solves(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """The share of runs past a threshold; a failed run has not solved; see rules.solved."""
    where = spec.get("where", {})
    found = context.sample(spec, where)
    passed, runs = passing(found, spec, spec)
    outcome = rules.solved(passed, runs, spec.get("share", rules.SHARE), spec.get("at_most"))
    return Evidence(outcome, [found], [where])


def passing(found: Sample, spec: Mapping[str, Any], threshold: Mapping[str, Any]) -> tuple[int, int]:
    """How many runs pass, of how many; failed ones do not, nor those of which a probe reports no value."""
    numbers = []
    for run in found.runs:
        try:
            numbers.append(math.nan if run.failed else measure_of(spec["measure"], run))
        except MissingValue:
            if spec["measure"]["name"] != "probe":
                raise
            numbers.append(math.nan)
    return sum(passes(threshold, number) for number in numbers), len(numbers)


def count(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """An exact count; see rules.counted.

    Of a computed table (`of: {item, name}`), of a measure that every selected run must meet, or with
    `passing: {within | above}` of the runs that pass a threshold.
    """
    limits = {
        name: spec[name] for name in ("equals", "at_least", "at_most", "within", "tolerance") if name in spec
    }
    if "of" in spec:
        numbers = column(context.tables, spec["of"]["item"], spec["of"]["name"])
        return Evidence(rules.counted(numbers, **limits), [Sample(runs=context.tables.runs, exact=True)])
    where = spec.get("where", {})
    found = context.sample(spec, where)
    if "passing" in spec:
        number, runs = passing(found, spec, spec["passing"])
        outcome = replace(rules.counted([float(number)], **limits), n=runs, exact=False)
        return Evidence(outcome, [found], [where])
    outcome = rules.counted(list(found.values.values()) or [math.nan], **limits)
    return Evidence(replace(outcome, exact=found.exact), [found], [where])


def column(tables: Tables, item: Any, name: str, probe: str | None = None) -> list[float]:
    """All positions of `name` of one or several items of the computed table, or of every replica's probe."""
    numbers: list[float] = []
    for key in item if isinstance(item, list) else [item]:
        rows = probed(tables.runs, probe, key, name) if probe else list(tables.computed.get((key, name), ()))
        if not rows:
            raise MissingValue(f"{f'probe {probe}' if probe else 'computed'} has no {name} of {key}")
        numbers += rows
    return numbers


def probed(runs: Sequence[Run], probe: str, item: str, name: str) -> list[float]:
    """All positions of `name` of an item in every replica's probe; MissingValue where a finished replica
    lacks it and others of its curve have it."""
    curves: dict[tuple[str, ...], list[tuple[Run, Sequence[float]]]] = {}
    for run in runs:
        rows = run.load_probe(probe).get((item, name), ())
        curves.setdefault((*curve_of(run), run.key["stage"], run.key["dataset"]), []).append((run, rows))
    numbers: list[float] = []
    for curve, group in curves.items():
        lacking = [str(run.key["seed"]) for run, rows in group if not len(rows) and not run.failed]
        if lacking and any(len(rows) for _, rows in group):
            what = f"probe {probe} has no {name} of {item} of seed {', '.join(lacking)}"
            raise MissingValue(f"{what} of {' '.join(curve[:3])}")
        numbers += [float(number) for _, rows in group for number in rows]
    return numbers


def identity(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """An identity to a tolerance, or with `expect: fails_as_printed` the misprint; see rules.identity."""

    def errors(name: str) -> list[float]:
        return column(context.tables, spec["item"], name, spec.get("probe"))

    expect = spec.get("expect", "holds")
    if expect == "holds":
        outcome = rules.identity(errors(spec.get("name", "error")), spec["tolerance"])
    elif expect == "fails_as_printed":
        outcome = rules.identity(errors("corrected_error"), spec["tolerance"], errors("printed_error"))
    else:
        raise ValueError(f"expect: {expect!r}; allowed are holds, fails_as_printed")
    return Evidence(outcome, [Sample(runs=context.tables.runs, exact=True)])


TESTS: dict[str, Callable[[Mapping[str, Any], ClaimContext], Evidence]] = {
    "value": value, "order": order, "trend": trend, "solves": solves, "count": count, "identity": identity,
}  # fmt: skip


def exponential(number: float | None) -> float | None:
    """exp, leaving None as it is."""
    return None if number is None else math.exp(number)


def every(outcomes: Sequence[Outcome]) -> Outcome:
    """All must hold: no if one does not; the least favourable is shown."""
    rank = {"no": 0, "unclear": 1, "yes": 2}
    worst = min(rank[outcome.holds] for outcome in outcomes)
    return max(
        (outcome for outcome in outcomes if rank[outcome.holds] == worst),
        key=lambda outcome: -math.inf if outcome.ours is None else outcome.ours,
    )


def evidence(spec: Mapping[str, Any], context: ClaimContext) -> Evidence:
    """The evidence of a claim without `each`."""
    if spec["test"] not in TESTS:
        raise ValueError(f"unknown test {spec['test']!r}; allowed are {[*TESTS, 'refers']}")
    return TESTS[spec["test"]](spec, context)
