"""Computed functions and probes that an experiment file calls, with their arguments and data."""

from collections.abc import Iterator, Mapping
from inspect import signature
from typing import Any

from tensor_rnns import functions
from tensor_rnns.declared import Place, Problem, Reading
from tensor_rnns.experiments.experiment import Experiment

ARGUMENTS = "compute.arguments."


def call_problems(experiment: Experiment) -> Iterator[Problem]:
    """What is wrong with every call of the file, and with what scales set in them."""
    for name, block in experiment.probes.items():
        place = ("probes", name)
        yield from called(place, "probe", block["function"], block.get("arguments") or {})
    if experiment.kind != "compute":
        return
    block = experiment.compute
    function, given = block["function"], block.get("arguments") or {}
    found = list(called(("compute",), "compute", function, given))
    yield from found
    if any(place == ("compute", "function") for place, _ in found):
        return
    yield from data_problems(experiment, function)
    for scale, own in experiment.scales.items():
        for key, value in ((own or {}).get("set") or {}).items():
            place = ("scales", scale, "set", key)
            if not key.startswith(ARGUMENTS):
                yield place, f"unknown key {key!r}; allowed are {ARGUMENTS}*"
            elif not found:
                changed = dict(given) | {key.removeprefix(ARGUMENTS): value}
                for _, message in called(("compute",), "compute", function, changed):
                    yield place, message
        if (own or {}).get("per"):
            yield ("scales", scale, "per"), "a computed experiment has no variants for 'per'; allowed is set"


def called(place: Place, kind: str, name: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a function's name, or with the arguments given to it."""
    try:
        declaration = functions.arguments(kind, name)
    except ValueError as error:
        yield (*place, "function"), str(error)
        return
    reading = Reading()
    reading.record(declaration, given, (*place, "arguments"), name)
    yield from reading.problems


def data_problems(experiment: Experiment, function: str) -> Iterator[Problem]:
    """A data set too many or too few for the computed function."""
    places: list[Place] = [("dataset",)] if experiment.dataset else []
    for condition, block in experiment.conditions.items():
        if set(block or {}) != {"dataset"}:
            told = f"a condition of a computed experiment has dataset alone, found {sorted(block or {})}"
            yield ("conditions", condition), told
        if "dataset" in (block or {}):
            places.append(("conditions", condition, "dataset"))
    if experiment.dataset and experiment.conditions:
        yield ("dataset",), "a data set for the whole file beside those of its conditions"
    parameters = signature(functions.module("compute", function).compute).parameters.values()
    counted = any(one.kind is not one.KEYWORD_ONLY for one in parameters)
    if counted != bool(places):
        told = "needs a data set" if counted else "takes no data set"
        yield next(iter(places), ("compute", "function")), f"the function {function} {told}"
