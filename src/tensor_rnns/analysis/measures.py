"""The closed list of measures: one number from one run, each a pure function of what the run recorded.

A measure in an experiment file is a block `{name: first_below, threshold: 0.02, width: 100}`. Its other
keys are the annotated keyword arguments of the function of that name; `split` and `of` name the recorded
series (train, loss). One more key is common to all: `per`, a second measure that divides the first. Widths
count updates, whatever the logging interval. Values that are not finite are left out of a series, so a
diverged run answers with its last finite values.
"""

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, ClassVar

import numpy as np

from tensor_rnns.analysis import curve_measures as curve
from tensor_rnns.analysis.runs import MissingValue, Run
from tensor_rnns.declared import ByName, Invalid, Natural, Reading, Rule, keys, of_signature

BLOCKS = ("task", "model", "cell", "training")
"""The blocks of the settings of a replica."""
SETTINGS = ", ".join(f"{block}.*" for block in BLOCKS)


def is_setting(value: object) -> bool:
    """Whether `value` is the dotted name of a setting."""
    return isinstance(value, str) and value.partition(".")[0] in BLOCKS and "." in value


Setting = Annotated[str, Rule(f"a setting: {SETTINGS}", is_setting)]


def parameters(run: Run) -> float:
    """The number of trained numbers."""
    if run.parameters is None:
        raise MissingValue("the number of parameters is not recorded")
    return float(run.parameters)


def seconds(run: Run) -> float:
    """Seconds per update that a core worked, on a GPU that passed."""
    if run.seconds_per_update is None:
        raise MissingValue("seconds per update are not recorded")
    return float(run.seconds_per_update)


def fact(run: Run, *, of: str) -> float:
    """A counted fact of the run's data set, by its dotted name."""
    return number_of(run.load_facts(), of, f"the data set {run.key.get('dataset', '')!r}")


def setting(run: Run, *, key: Setting) -> float:
    """A resolved setting by its dotted name, such as the learning rate that the search chose."""
    return number_of(run.settings, key, "the settings")


def number_of(content: Any, name: str, where: str) -> float:
    """The number at a dotted name of nested content."""
    for part in name.split("."):
        content = content.get(part) if isinstance(content, Mapping) else None
    if not isinstance(content, int | float):
        raise MissingValue(f"{name} of {where} is {content!r}, not a number")
    return float(content)


def computed(run: Run, *, item: str, value: str, index: Natural | None = None) -> float:
    """A number of computed.csv by item and name; several positions need `index`."""
    return one_of(run.load_computed(), item, value, index, "computed")


def probe(
    run: Run, *, probe: str, item: str, value: str, index: Natural | None = None, absolute: bool = False
) -> float:
    """A number of a probe's table by item and name, or its `absolute` value; several positions need
    `index`."""
    number = one_of(run.load_probe(probe), item, value, index, f"probe {probe}")
    return abs(number) if absolute else number


def one_of(
    table: Mapping[tuple[str, str], np.ndarray], item: str, of: str, index: int | None, what: str
) -> float:
    """One number of an (item, name) table: its only one, or the one at `index`."""
    if (item, of) not in table:
        raise MissingValue(f"{what} has no {of} of {item}")
    values = np.asarray(table[item, of], dtype=float)
    if index is None and len(values) > 1:
        raise ValueError(f"{what}: {of} of {item} has {len(values)} positions; give index")
    if (index or 0) >= len(values):
        raise MissingValue(f"{what}: {of} of {item} has {len(values)} positions, not {index or 0}")
    return float(values[index or 0])


FUNCTIONS: dict[str, Callable[..., float]] = {
    f.__name__: f
    for f in (
        curve.final, curve.metric, curve.at, curve.running, curve.first_below, curve.first_above,
        curve.drop, curve.reached, curve.short, curve.minimum, curve.maximum, curve.best_valid,
        curve.when_lowest, curve.rise, curve.gap, curve.roughness, curve.largest_fall, curve.spikes,
        curve.spread, curve.baseline, parameters, fact, seconds, setting, computed, probe,
    )
}  # fmt: skip
EXACT = frozenset({"parameters", "baseline", "fact", "computed"})
"""Measures without scatter between seeds: one value is certain."""
TIMES = frozenset({"first_below", "first_above"})
"""Measures that are the update at which something is reached, infinite where it never is."""
OF_FAILED = frozenset({"reached", "short"})
"""Measures that are 1 or 0, for which a failed run is an answer like any other."""
VALUES = frozenset({"final", "metric", "at", "running", "minimum", "maximum", "best_valid"})
"""Measures that are values of a recorded series: of an accuracy, they too lie between 0 and 1."""
BESIDE = frozenset({"final", "metric", "gap", "short"})
"""Measures that read what a run reports at its end, where others read a series."""


class Measured:
    """What the records of all measures have in common: the name, and the measure that divides this one.

    `block` is what the record was read from, as the paper's numbers hold it.
    """

    measure: ClassVar[str]
    block: Mapping[str, Any]

    def __post_init__(self) -> None:
        split, of = getattr(self, "split", None), getattr(self, "of", None)
        if self.measure not in BESIDE and (split == "test" or (split == "train" and of != "loss")):
            allowed = "allowed are what is evaluated on valid, and the loss on train"
            raise Invalid("split", f"no run has a series of {of} on {split}; {allowed}")

    @property
    def reads_test(self) -> bool:
        """Whether this measure, or the one that divides it, reads the test split."""
        splits = (getattr(self, "split", None), getattr(self, "against", None))
        return "test" in splits or (self.per is not None and self.per.reads_test)


@cache
def declarations() -> dict[str, type]:
    """By measure the record of a block of it: the keyword arguments of its function, and `per`."""
    return {
        name: of_signature(
            name, function, ("per", Measure | None, None), bases=(Measured,), namespace={"measure": name}
        )
        for name, function in FUNCTIONS.items()
    }


Measure = Annotated[Any, ByName("measure", "name", declarations)]
"""A block that names a measure and gives its arguments."""
AnyMeasure = Mapping[str, Any] | Measured
"""A measure as a block or as the record read from one."""


def read_block(kind: Any, block: Any, what: str = "") -> Any:
    """A block of an experiment file as the record `kind`; ValueError with all that is wrong with it."""
    reading = Reading()
    record = reading.value(kind, block)
    if reading.problems:
        raise ValueError("; ".join(what + message for _, message in reading.problems))
    return record


def record_of(measure: AnyMeasure) -> Any:
    """The record of a measure; ValueError for an unknown one, or one given other keys than it takes."""
    return measure if isinstance(measure, Measured) else read_block(Measure, measure)


def arguments(name: str) -> dict[str, bool]:
    """The keys of a measure, and whether each must be given."""
    return {key: field.default is dataclasses.MISSING for key, field in keys(declarations()[name]).items()}


def is_share(measure: AnyMeasure) -> bool:
    """Whether a measure can only lie between 0 and 1."""
    record = record_of(measure)
    of_accuracy = record.measure in VALUES and record.of.removesuffix("_at_best") == "accuracy"
    return record.per is None and (of_accuracy or record.measure in OF_FAILED)


def is_exact(measure: AnyMeasure) -> bool:
    """Whether a measure has no scatter over seeds, nor what divides it."""
    record = record_of(measure)
    return record.measure in EXACT and (record.per is None or is_exact(record.per))


def measure_of(measure: AnyMeasure, run: Run) -> float:
    """The value of a measure for `run`; MissingValue where it is not recorded, or is over 0 or infinity."""
    record = record_of(measure)
    given = {field.name: getattr(record, field.name) for field in dataclasses.fields(record)}
    divisor = given.pop("per")
    value = FUNCTIONS[record.measure](run, **given)
    if divisor is None:
        return value
    if not (by := measure_of(divisor, run)) or not math.isfinite(by):
        raise MissingValue(f"{record.measure} per {divisor.measure}, which is {by:g}")
    return value / by


def measured(runs: Iterable[Run], measure: AnyMeasure) -> list[tuple[Run, float]]:
    """The runs that recorded the measure, each with its number."""
    pairs = []
    for run in runs:
        with suppress(MissingValue):
            pairs.append((run, measure_of(measure, run)))
    return pairs
