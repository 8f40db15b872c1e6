"""From the `where` of a claim to one number per seed."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensor_rnns.analysis.measures import EXACT, arguments, better, measure_of
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.experiments.resolve import MAIN

PLACE = ("condition", "variant", "option")
RUN_KEYS = (*PLACE, "stage", "dataset")
MEASURE_KEYS = ("split", "item", "of", "value", "index")
Place = tuple[str, str, str]


@dataclass
class Sample:
    """One number per seed, and what stands behind it.

    `values` maps a seed to the mean of the measure over the runs that `where` selects for it. A measure
    that was never reached is infinite; `value` then stands for it as one more than the updates granted, so
    that orders stay defined. `failed` are the seeds with a diverged run or with a finished one of which a
    probe tells no number, `lost` those of them that left no value; `missing` says of the latter kind why.
    """

    values: dict[int, float] = field(default_factory=dict)
    failed: set[int] = field(default_factory=set)
    lost: set[int] = field(default_factory=set)
    missing: dict[int, str] = field(default_factory=dict)
    censored: set[int] = field(default_factory=set)
    budget: int = 0
    runs: list[Run] = field(default_factory=list)
    exact: bool = False

    @property
    def seeds(self) -> int:
        """How many seeds ran, with or without success."""
        return len(self.values.keys() | self.lost)

    def uncensored(self) -> dict[int, float]:
        """The values with one more than the updates granted where the measure was never reached."""
        return {
            seed: self.budget + 1.0 if math.isinf(one) and one > 0 else one
            for seed, one in self.values.items()
        }

    def logs(self) -> dict[int, float]:
        """The logarithms of `uncensored`; MissingValue where one is not positive."""
        values = self.uncensored()
        if min(values.values(), default=1.0) <= 0:
            raise MissingValue(f"a ratio needs positive values; the smallest is {min(values.values())}")
        return {seed: math.log(one) for seed, one in values.items()}


def listed(value: Any) -> list[str] | None:
    """A selector of `where` as a list; None for all."""
    if value is None or value == "all":
        return None
    return [str(one) for one in value] if isinstance(value, list | tuple) else [str(value)]


def option_among(options: Sequence[str]) -> str | None:
    """The option that a claim means if it names none: main, else the only one, else None."""
    found = sorted(set(options))
    return MAIN if MAIN in found else found[0] if len(found) == 1 else None


def places(where: Mapping[str, Any], known: Iterable[Place]) -> list[Place]:
    """The (condition, variant, option) among `known` that `where` selects, in the order of `known`."""
    wanted = [listed(where.get(name)) for name in PLACE[:2]]
    found = [
        place
        for place in known
        if all(names is None or one in names for names, one in zip(wanted, place[:2], strict=True))
    ]
    options = listed(where.get("option"))
    if options is None and where.get("option") != "all":
        default = option_among([place[2] for place in found])
        options = [] if default is None else [default]
    return [place for place in found if options is None or place[2] in options]


def place_of(run: Run) -> Place:
    """(condition, variant, option) of a run."""
    return run.key["condition"], run.key["variant"], run.key["option"]


def selected(where: Mapping[str, Any], runs: Sequence[Run], real: Callable[[str], str]) -> list[Run]:
    """The runs that `where` selects: final stage unless it says otherwise, on the real data where they ran.

    `real(condition)` is the name of the real data set.
    """
    stage = where.get("stage", "final")
    staged = [run for run in runs if run.key["stage"] == stage or not run.key["stage"]]
    kept = set(places(where, dict.fromkeys(place_of(run) for run in staged)))
    found = [run for run in staged if place_of(run) in kept]
    datasets = listed(where.get("dataset"))
    if datasets is None:
        on_real = {place_of(run) for run in found if run.key["dataset"] == real(run.key["condition"])}
        return [
            run
            for run in found
            if place_of(run) not in on_real or run.key["dataset"] == real(run.key["condition"])
        ]
    return [run for run in found if run.key["dataset"] in datasets]


def measure_for(measure: Mapping[str, Any], where: Mapping[str, Any]) -> dict[str, Any]:
    """The measure block with what `where` says of split, item and the like."""
    allowed = arguments(measure.get("name", ""))
    given = {name: where[name] for name in MEASURE_KEYS if name in where and name in allowed}
    return given | dict(measure)


def best_of_seed(runs: Sequence[Run], rule: Mapping[str, Any]) -> Run:
    """The run of one seed that `selected_from` chooses: the best by `by`, the first of equals."""
    choose = better(rule.get("best", "lowest"))
    scores = []
    for run in runs:
        try:
            scores.append(measure_of(rule["by"], run))
        except MissingValue:
            scores.append(math.nan)
    known = [score for score in scores if not math.isnan(score)]
    if not known:
        raise MissingValue("no run of this seed has the value that it is to be chosen by")
    return runs[scores.index(choose(known))]


def sample(
    runs: Sequence[Run],
    measure: Mapping[str, Any],
    where: Mapping[str, Any],
    real: Callable[[str], str] = lambda condition: "",
    selected_from: Mapping[str, Any] | None = None,
) -> Sample:
    """One number per seed of what `where` selects among `runs`.

    Several runs of a seed (two conditions, say) are averaged, or with `selected_from` the best by
    validation stands for all. A seed that lacks one of the selected curves is left out. A finished replica
    of which a probe tells no number counts as failed where the probe tells one of another seed. MissingValue
    where a run that did not fail lacks what the measure asks for else, or where nothing ran.
    """
    chosen = selected(where, runs, real)
    block = measure_for(measure, where)
    found = Sample(runs=chosen, exact=measure.get("name") in EXACT)
    if not chosen:
        raise MissingValue(
            "no run of " + (", ".join(f"{k} {where[k]}" for k in RUN_KEYS if k in where) or "it")
        )
    found.budget = max(run.budget for run in chosen)
    curves = {place_of(run) for run in chosen}
    for seed in sorted({run.key["seed"] for run in chosen}):
        group = [run for run in chosen if run.key["seed"] == seed]
        if {place_of(run) for run in group} != curves:
            continue
        if any(run.failed for run in group):
            found.failed.add(seed)
        try:
            kept = [best_of_seed(group, selected_from)] if selected_from else group
            numbers = [measure_of(block, run) for run in kept]
        except MissingValue as error:
            if seed not in found.failed:
                if block["name"] != "probe":
                    raise
                found.missing[seed] = str(error)
                found.failed.add(seed)
            found.lost.add(seed)
            continue
        if math.inf in numbers:
            found.censored.add(seed)
        found.values[seed] = sum(numbers) / len(numbers)
    if not found.values and found.lost == found.missing.keys():
        raise MissingValue(next(iter(found.missing.values()), "no seed ran in all of the selected curves"))
    return found
