"""From the selector of a claim to one number per seed."""

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from tensor_rnns.analysis.claims import Measuring, SelectedFrom, Threshold
from tensor_rnns.analysis.curve_measures import BETTER
from tensor_rnns.analysis.measures import TIMES, AnyMeasure, is_exact, measure_of, measured, record_of
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.experiments.selector import Curve, Selector
from tensor_rnns.experiments.streams import paired_tasks

MOST_FAILED = 0.2


@dataclass
class Sample:
    """One number per seed, and what stands behind it.

    `values` maps a seed to the mean of the measure over the runs that the selector takes for it, infinite
    where that was never reached (`uncensored` puts a number in its place). `budget` is the most updates that
    a run was granted, `timed` whether the measure counts updates. `failed` are the seeds with a diverged run,
    which may have left a value, or with a finished one of which a probe reports none; `missing` says of the
    latter kind why.
    """

    values: dict[int, float] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    missing: dict[int, str] = field(default_factory=dict)
    censored: set[int] = field(default_factory=set)
    budget: int = 0
    timed: bool = True
    runs: list[Run] = field(default_factory=list)
    exact: bool = False

    @property
    def ran(self) -> set[int]:
        """The seeds that ran, with or without success."""
        return self.values.keys() | self.failed

    @property
    def seeds(self) -> int:
        """How many ran."""
        return len(self.ran)

    @property
    def diverged(self) -> set[int]:
        """The seeds with a diverged run."""
        return self.failed - self.missing.keys()

    @property
    def said_of_diverged(self) -> str:
        """How many these are, and what was taken in place of their numbers; "" where there are none."""
        n, lost = len(self.diverged), len(self.diverged - self.values.keys())
        if n == lost:
            return f"{n} failed without a number and are left out" if n else ""
        left_out = f", but for {lost} without one, which are left out" if lost else ""
        return f"{n} failed, taken at their last finite value{left_out}"

    def of(self, seeds: Set[int]) -> "Sample":
        """What it has of some seeds."""
        kept = {name: {seed: getattr(self, name)[seed] for seed in getattr(self, name).keys() & seeds}
                for name in ("values", "missing")}  # fmt: skip
        runs = [run for run in self.runs if run.key["seed"] in seeds]
        return replace(self, failed=self.failed & seeds, censored=self.censored & seeds, runs=runs, **kept)

    @property
    def too_many_failed(self) -> bool:
        """Whether over a fifth of the seeds failed."""
        return len(self.failed) > MOST_FAILED * self.seeds


def uncensored(samples: Sequence[Sample]) -> list[dict[int, float]] | None:
    """The values of samples that are compared, also where a time was never reached; None where something
    else was not, which no number stands for.

    One more than the updates granted stands for it. Where some sample was granted fewer, nothing that comes
    later counts: a run that stopped early may have been about to reach what a longer one reached after it.
    """
    if any(sample.censored and not sample.timed for sample in samples):
        return None
    never = any(sample.censored for sample in samples)
    limit = min(sample.budget for sample in samples) + 1.0 if never else math.inf
    return [{seed: min(value, limit) for seed, value in sample.values.items()} for sample in samples]


def cut(sample: Sample, side: Mapping[int, float]) -> set[int]:
    """The seeds in place of whose values `uncensored` put lower ones."""
    return {seed for seed, value in sample.values.items() if side[seed] < value}


def logs(values: Mapping[int, float]) -> dict[int, float]:
    """Their logarithms; MissingValue where one is not positive."""
    if min(values.values(), default=1.0) <= 0:
        raise MissingValue(f"a ratio needs positive values; the smallest is {min(values.values())}")
    return {seed: math.log(value) for seed, value in values.items()}


def curve_of(run: Run) -> Curve:
    """(condition, variant, option) of a run."""
    return run.key["condition"], run.key["variant"], run.key["option"]


def best_of_seed(runs: Sequence[Run], rule: SelectedFrom) -> Run:
    """The run of a seed that `selected_from` chooses, the first of equals; a diverged one only if all are."""
    sound = [run for run in runs if not run.failed] or runs
    known = [(run, score) for run, score in measured(sound, rule.by) if not math.isnan(score)]
    if not known:
        raise MissingValue("no run of this seed has the value that it is to be chosen by")
    return BETTER[rule.best](known, key=lambda pair: pair[1])[0]


def sample(
    runs: Sequence[Run], measure: AnyMeasure, selector: Selector, selected_from: SelectedFrom | None = None
) -> Sample:
    """One number per seed of those among `runs` that `selector` takes.

    Several runs of a seed (two conditions, say) are averaged, or with `selected_from` the best by
    validation stands for all. A seed that lacks one of the selected curves is left out. A finished replica
    of which a probe reports no value counts as failed where the probe reports one of another seed.
    MissingValue where a run that did not fail lacks what the measure asks for else, or where nothing ran.
    """
    taken = [run for run in runs if selector.takes(run.key)]
    if not taken:
        raise MissingValue(f"no run of {selector}")
    name = record_of(measure).measure
    curves = {curve_of(run) for run in taken}
    # Where curves have other budgets, no number stands for the mean of a time that one never reached.
    budgets = {max(run.budget for run in taken if curve_of(run) == curve) for curve in curves}
    timed = name in TIMES and record_of(measure).per is None and len(budgets) == 1
    result = Sample(runs=taken, exact=is_exact(measure), budget=max(budgets), timed=timed)
    for seed in sorted({run.key["seed"] for run in taken}):
        group = [run for run in taken if run.key["seed"] == seed]
        if {curve_of(run) for run in group} != curves:
            continue
        kept = group
        try:
            kept = [best_of_seed(group, selected_from)] if selected_from else group
            numbers = [measure_of(measure, run) for run in kept]
        except MissingValue as error:
            if not any(run.failed for run in kept):
                if name != "probe":
                    raise
                result.missing[seed] = str(error)
            result.failed.add(seed)
            continue
        if any(run.failed for run in kept):
            result.failed.add(seed)
        if math.inf in numbers:
            result.censored.add(seed)
        result.values[seed] = sum(numbers) / len(numbers)
    if not result.values and result.failed == result.missing.keys():
        raise MissingValue(next(iter(result.missing.values()), "no seed ran in all of the selected curves"))
    return result


def share_data(samples: Sequence[Sample]) -> bool:
    """Whether seeds of the samples are pairs: they are the same runs, or the data of their task are of the
    seed, so that all curves of a condition share them."""
    runs = [{id(run) for run in sample.runs} for sample in samples]
    if all(same == runs[0] for same in runs):
        return True
    conditions = {frozenset(run.key["condition"] for run in sample.runs) for sample in samples}
    tasks = {(run.settings.get("task") or {}).get("name") for sample in samples for run in sample.runs}
    return len(conditions) == 1 and tasks <= paired_tasks()


def in_common(samples: Sequence[Sample]) -> list[Sample]:
    """The samples on the seeds that all of them ran, where seeds are pairs; else as they are."""
    if not share_data(samples):
        return list(samples)
    seeds = set.intersection(*(sample.ran for sample in samples))
    return [sample.of(seeds) for sample in samples]


def passing(sample: Sample, claim: Measuring, threshold: Threshold) -> tuple[int, int]:
    """How many runs pass, of how many: those of the seeds with all curves. Failed ones do not, nor those of
    which a probe reports no value."""
    numbers = []
    for run in sample.of(sample.ran).runs:
        try:
            numbers.append(math.nan if run.failed else measure_of(claim.measure, run))
        except MissingValue:
            if claim.measure.measure != "probe":
                raise
            numbers.append(math.nan)
    return sum(map(threshold.takes, numbers)), len(numbers)
