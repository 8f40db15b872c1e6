"""The closed list of measures: one number from one run, each a pure function of what the run recorded.

A measure in an experiment file is a block `{name: first_below, threshold: 0.02, width: 100}`. Its other
keys are the keyword arguments of the function of that name; `split` and `of` name the recorded series
(train, loss). One more key is common to all: `per`, a second measure that divides the first. Widths count
updates, whatever the logging interval. Values that are not finite are left out of a series, so a diverged
run answers with its last finite values.
"""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from tensor_rnns.analysis.curve_measures import (
    at,
    baseline,
    best_valid,
    deviation,
    drop,
    final,
    first_above,
    first_below,
    gap,
    largest_fall,
    last_above,
    maximum,
    metric,
    minimum,
    noise,
    over_seeds,
    reached,
    rise,
    roughness,
    running,
    share,
    short,
    spread,
    when_lowest,
)
from tensor_rnns.analysis.kinds import Reduction, Setting
from tensor_rnns.analysis.runs import (
    MissingValue,
    Run,
    number_of,
    one_of,
)
from tensor_rnns.declared import Natural


def parameters(run: Run) -> float:
    """The number of trained numbers."""
    if run.parameters is None:
        raise MissingValue("the number of parameters is not recorded")
    return float(run.parameters)


def fact(run: Run, *, of: str) -> float:
    """A counted fact of the run's data set, by its dotted name."""
    return number_of(run.load_facts(), of, f"the data set {run.key.get('dataset', '')!r}")


def seconds(run: Run) -> float:
    """Seconds per update as timed."""
    if run.seconds_per_update is None:
        raise MissingValue("seconds per update are not recorded")
    return float(run.seconds_per_update)


def setting(run: Run, *, key: Setting) -> float:
    """A resolved setting by its dotted name, such as the learning rate that the search chose."""
    return number_of(run.settings, key, "the settings")


def computed(
    run: Run, *, item: str, value: str, index: Natural | None = None, reduce: Reduction | None = None
) -> float:
    """A number of computed.csv by item and name; several positions need `index` or `reduce`."""
    return one_of(run.load_computed(), item, value, index, reduce, "computed")


def probe(
    run: Run,
    *,
    probe: str,
    item: str,
    value: str,
    index: Natural | None = None,
    reduce: Reduction | None = None,
) -> float:
    """A number of a probe's table by item and name; several positions need `index` or `reduce`."""
    return one_of(run.load_probe(probe), item, value, index, reduce, f"probe {probe}")


FUNCTIONS: dict[str, Callable[..., float]] = {
    f.__name__: f
    for f in (
        final, metric, at, running, first_below, first_above, last_above, drop, reached, short, minimum,
        maximum, best_valid, when_lowest, rise, gap, share, noise, roughness, largest_fall, deviation, spread,
        over_seeds, parameters, baseline, fact, seconds, setting, computed, probe,
    )
}  # fmt: skip
EXACT = frozenset({"parameters", "baseline", "fact", "computed"})
"""Measures without scatter between seeds: one value is certain."""
OF_FAILED = frozenset({"reached", "short"})
"""Measures that are 1 or 0, for which a failed run is an answer like any other."""
SHARES = OF_FAILED | {"share"}
"""Measures between 0 and 1 whatever they are taken of."""
VALUES = frozenset({"final", "metric", "at", "running", "minimum", "maximum", "best_valid"})
"""Measures that are values of a recorded series: of an accuracy, they too lie between 0 and 1."""


def is_share(measure: Mapping[str, Any]) -> bool:
    """Whether a measure can only lie between 0 and 1."""
    name = measure["name"]
    if name in VALUES and "per" not in measure:
        of = measure.get("of", inspect.signature(FUNCTIONS[name]).parameters["of"].default)
        return bool(of.removesuffix("_at_best") == "accuracy")
    return name in SHARES and "per" not in measure


def arguments(name: str) -> dict[str, bool]:
    """The keys of a measure, and whether each must be given; ValueError for an unknown measure."""
    if name not in FUNCTIONS:
        raise ValueError(f"unknown measure {name!r}; allowed are {sorted(FUNCTIONS)}")
    known = list(inspect.signature(FUNCTIONS[name]).parameters.values())[1:]
    return {p.name: p.default is inspect.Parameter.empty for p in known} | {"per": False}


def measure_of(measure: Mapping[str, Any], run: Run) -> float:
    """The value of a measure block for `run`.

    MissingValue where the run did not record it; ValueError for an unknown measure or argument, naming the
    allowed.
    """
    name = measure.get("name", "")
    allowed = arguments(name)
    given = {key: value for key, value in measure.items() if key != "name"}
    if given.keys() - allowed.keys() or {key for key, needed in allowed.items() if needed} - given.keys():
        raise ValueError(f"measure {name} was given {sorted(given)}; allowed are {sorted(allowed)}, "
                         f"required {sorted(key for key, needed in allowed.items() if needed)}")  # fmt: skip
    divisor = given.pop("per", None)
    value = FUNCTIONS[name](run, **given)
    return value if divisor is None else value / measure_of(divisor, run)
