"""What is wrong with one drawing of what a probe found, a function for each kind."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.check_drawings import Check, series_problems, word_problem
from tensor_rnns.experiments.check_words import (
    Names,
    Problem,
    is_number,
    measure_problems,
    reads_test,
    suggestion,
)
from tensor_rnns.experiments.experiment import Experiment


def replica_problems(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """The probe that a drawing shows, and the rule that chooses the replica."""
    if "probe" not in spec:
        yield (), f"this drawing needs a probe; allowed are {', '.join(experiment.probes) or 'none'}"
    elif str(spec["probe"]) not in experiment.probes:
        yield ("probe",), f"unknown probe {spec['probe']!r}; {suggestion(spec['probe'], experiment.probes)}"
    rule = spec.get("replica", {"seed": 0})
    best = vocabulary.literal("drawing", "replica", "BEST")
    allowed = f"{{seed: 0}} and {{best: {' | '.join(best)}, measure: ...}}"
    if not isinstance(rule, Mapping) or set(rule) not in ({"seed"}, {"best", "measure"}):
        yield ("replica",), f"replica is {rule!r}; allowed are {allowed}"
    elif "seed" in rule:
        if not isinstance(rule["seed"], int) or isinstance(rule["seed"], bool):
            yield ("replica", "seed"), f"seed is {rule['seed']!r}; allowed is a whole number"
    else:
        for _, message in word_problem(rule, "best", best):
            yield ("replica", "best"), message
        for message in measure_problems(rule["measure"], names, experiment):
            yield ("replica", "measure"), message
        if reads_test(rule["measure"]):
            yield ("replica", "measure"), "nothing is chosen on the split 'test'; allowed are train, valid"


def arrays(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """The replica of a drawing of arrays, and rows that each name theirs."""
    yield from replica_problems(spec, experiment, names)
    rows = spec.get("rows")
    if not isinstance(rows, list) or not rows:
        yield (() if rows is None else ("rows",)), "rows is needed; allowed is a list of {array, label, ...}"
        return
    for position, row in enumerate(rows):
        if not isinstance(row, Mapping) or not isinstance(row.get("array"), str):
            yield ("rows", position), f"the row {row!r}; allowed is {{array, label, ...}}"


def strips(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Arrays, and the range of black and white."""
    yield from arrays(spec, experiment, names)
    yield from range_problem(spec, vocabulary.literal("drawing", "strips", "RANGES"), ("range",))


def range_problem(
    spec: Mapping[str, Any], words: Collection[str], place: tuple[str | int, ...]
) -> Iterator[Problem]:
    """A range that is neither two numbers nor one of the `words`."""
    value = spec.get("range")
    pair = isinstance(value, list) and len(value) == 2 and all(is_number(one) for one in value)
    if "range" in spec and not pair and (not isinstance(value, str) or value not in words):
        yield place, f"range is {value!r}; allowed are {', '.join([*words, '[low, high]'])}"


def traces(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Arrays, and how each is drawn."""
    yield from arrays(spec, experiment, names)
    for position, row in enumerate(spec.get("rows") or []):
        if isinstance(row, Mapping):
            for place, message in word_problem(row, "as", vocabulary.literal("drawing", "traces", "MANNERS")):
                yield ("rows", position, *place), message
            yield from range_problem(row, (), ("rows", position, "range"))


def roll(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Arrays, and the numbers of time and pitch."""
    yield from arrays(spec, experiment, names)
    for key in ("beat", "tempo"):
        if key in spec and not (is_number(spec[key]) and spec[key] > 0):
            yield (key,), f"{key} is {spec[key]!r}; allowed is a number above 0"


def text(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Arrays of texts, and how much of each."""
    yield from arrays(spec, experiment, names)
    for key in ("letters", "most"):
        if key in spec and not (isinstance(spec[key], int) and spec[key] > 0):
            yield (key,), f"{key} is {spec[key]!r}; allowed is a whole number above 0"


def scatter(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """The names of both numbers, panels with series, and lines."""
    if experiment.kind == "train" or "probe" in spec:
        yield from replica_problems(spec, experiment, names)
    for axis in ("x", "y"):
        if not isinstance(spec.get(axis), Mapping) or not isinstance(spec[axis].get("name"), str):
            yield (() if axis not in spec else (axis,)), f"{axis} needs the name of its number: {{name, ...}}"
    yield from series_problems(spec, "{item, label, cell}")
    for line in spec.get("lines", []):
        ends = [line.get(end) for end in ("from", "to")] if isinstance(line, Mapping) else []
        if not ends or not all(isinstance(end, list) and len(end) == 2 for end in ends):
            yield ("lines",), f"lines names {line!r}; allowed is {{from: [x, y], to: [x, y], label}}"


KINDS: dict[str, Check] = {"strips": strips, "traces": traces, "roll": roll, "text": text, "scatter": scatter}
ONLY = dict.fromkeys(("strips", "traces", "roll", "text"), "train")
"""Kinds of drawing that can draw one kind of experiment alone."""
