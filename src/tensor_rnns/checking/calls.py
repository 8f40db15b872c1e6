"""The calls of an experiment file, of computed functions and probes, held against what these take.

This module needs torch, as what is called does.
"""

from collections.abc import Iterator, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

from tensor_rnns import functions
from tensor_rnns.declared import Location, Problem, Reading
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.messages import fault

ARGUMENTS = "compute.arguments."


def call_problems(experiment: Experiment) -> Iterator[Problem]:
    """What is wrong with every call of the file, and with what scales set in them."""
    for name, block in experiment.probes.items():
        location = ("probes", name)
        yield from called(location, "probe", block["function"], block.get("arguments", {}))
    block = experiment.compute
    if experiment.kind != "compute" or "function" not in block:
        return
    function, given = block["function"], block.get("arguments", {})
    argument_problems = list(called(("compute",), "compute", function, given))
    yield from argument_problems
    if any(location == ("compute", "function") for location, _ in argument_problems):
        return
    yield from data_problems(experiment, function)
    for scale, own in experiment.scales.items():
        for key, value in own.get("set", {}).items():
            location = ("scales", scale, "set", key)
            if not key.startswith(ARGUMENTS):
                yield location, f"unknown key {key!r}; allowed are {ARGUMENTS}*"
            elif not argument_problems:
                changed = given | {key.removeprefix(ARGUMENTS): value}
                for _, message in called(("compute",), "compute", function, changed):
                    yield location, message
        for key in [key for key in ("per", "seeds", "search") if key in own]:
            told = f"a computed experiment has no runs for {key!r}; allowed are conditions, set, why"
            yield ("scales", scale, key), told


def called(location: Location, kind: str, name: str, given: Mapping[str, Any]) -> Iterator[Problem]:
    """What is wrong with a function's name, or with the arguments given to it."""
    try:
        declaration = functions.arguments(kind, name)
        functions.called(kind, name, given)
    except ValueError as error:
        yield (*location, "function"), str(error)
        return
    except Exception as error:  # a module of a paper is anyone's code
        said = fault(error, lambda file: Path(file).parent == functions.source(kind, name).parent)
        yield (*location, "function"), f"{name} cannot be read: {said}"
        return
    reading = Reading()
    reading.record(declaration, given, (*location, "arguments"), name)
    yield from reading.problems


def data_problems(experiment: Experiment, function: str) -> Iterator[Problem]:
    """A data set too many or too few for the computed function."""
    locations: list[Location] = [("dataset",)] if experiment.dataset else []
    for condition, block in experiment.conditions.items():
        if set(block or {}) != {"dataset"}:
            message = f"a condition of a computed experiment has dataset alone, found {sorted(block or {})}"
            yield ("conditions", condition), message
        if "dataset" in (block or {}):
            locations.append(("conditions", condition, "dataset"))
    if experiment.dataset and experiment.conditions:
        yield ("dataset",), "a data set for the whole file beside those of its conditions"
    parameters = signature(functions.module("compute", function).compute).parameters.values()
    counted = any(parameter.kind is not parameter.KEYWORD_ONLY for parameter in parameters)
    if counted != bool(locations):
        message = "needs a data set" if counted else "takes no data set"
        yield next(iter(locations), ("compute", "function")), f"the function {function} {message}"
