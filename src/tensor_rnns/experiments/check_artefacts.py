"""What is wrong with the artefacts and probes of one experiment file."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tensor_rnns.experiments import arguments, check_drawings, check_probed, vocabulary
from tensor_rnns.experiments.check_drawings import PLACES, selectors_of
from tensor_rnns.experiments.check_words import (
    Names,
    Problem,
    is_number,
    measure_problems,
    suggestion,
    where_problems,
)
from tensor_rnns.experiments.experiment import Experiment

COMMON = ("draw", "page", "section", "caption", "printed")
"""Keys of every artefact beside those that its kind of drawing reads."""
KINDS = check_drawings.KINDS | check_probed.KINDS
ONLY = check_drawings.ONLY | check_probed.ONLY
SCALES = ("linear", "log", "symlog", "logit")


def artefact_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of the artefacts of `experiment`, with its place in the file."""
    kinds = vocabulary.modules_with("drawing", "draw")
    for name, spec in experiment.block("artefacts").items():
        if spec["draw"] not in kinds:
            yield (
                ("artefacts", name, "draw"),
                f"unknown kind of drawing {spec['draw']!r}; {suggestion(spec['draw'], kinds)}",
            )
            continue
        for place, message in one_artefact(spec, experiment, names):
            yield ("artefacts", name, *place), message


def one_artefact(spec: Mapping[str, Any], experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of one artefact, with its place in it."""
    draw = spec["draw"]
    keys: dict[str, tuple[str, ...]] = vocabulary.literal("drawing", draw, "KEYS")
    own = {key: value for key, value in spec.items() if key not in COMMON}
    yield from key_problems(own, keys, f"a drawing of kind {draw}", "", (*keys, *COMMON))
    if ONLY.get(draw, experiment.kind) != experiment.kind:
        yield (
            ("draw",),
            f"{draw} draws an experiment of kind {ONLY[draw]}; this one is of kind {experiment.kind}",
        )
        return
    if "measure" in own and "measure" in keys:
        for message in measure_problems(own["measure"], names, experiment):
            yield ("measure",), message
    selectors = selectors_of(draw, experiment)
    if "where" in own and "where" in keys:
        for place, message in where_problems(own["where"], experiment, names, selectors):
            yield ("where", *place), message
    for key in {"x", "y", "labels"} & own.keys() & keys.keys():
        if not isinstance(own[key], Mapping):
            yield (key,), f"{key} is {own[key]!r}; allowed is a mapping"
    for axis in ("x", "y"):
        scale = own[axis].get("scale", "linear") if isinstance(own.get(axis), Mapping) else "linear"
        if scale not in SCALES:
            yield (axis, "scale"), f"scale is {scale!r}; {suggestion(scale, SCALES)}"
        limits = own[axis].get("limits") if isinstance(own.get(axis), Mapping) else None
        if limits is not None and not (
            isinstance(limits, list) and len(limits) == 2 and all(is_number(one) for one in limits)
        ):
            yield (axis, "limits"), f"limits is {limits!r}; allowed is a list of two numbers"
    if draw in KINDS:
        yield from KINDS[draw](own, experiment, names)


def key_problems(
    value: Any, keys: Mapping[str, tuple[str, ...]], what: str, path: str, allowed: tuple[str, ...]
) -> Iterator[Problem]:
    """Keys that a drawing does not read, at any depth; `keys` maps a dotted path to the keys below it, and
    () to no check."""
    if isinstance(value, list):
        for position, one in enumerate(value):
            if isinstance(one, Mapping):
                for place, message in key_problems(one, keys, what, path, allowed):
                    yield (position, *place), message
        return
    if not isinstance(value, Mapping):
        return
    for key, below in value.items():
        if key not in allowed:
            told = f"{path.rstrip('.')} of {what}" if path else what
            yield (key,), f"{told} has no key {key!r}; {suggestion(key, allowed)}"
            continue
        inner = f"{path}{key}"
        if keys.get(inner):
            for place, message in key_problems(below, keys, what, f"{inner}.", keys[inner]):
                yield (key, *place), message


def probe_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Every problem of the probes of `experiment`, with its place in the file."""
    for name, spec in experiment.probes.items():
        if spec["function"] not in names.probes:
            yield (
                ("probes", name, "function"),
                f"unknown probe {spec['function']!r}; {suggestion(spec['function'], names.probes)}",
            )
        else:
            yield from (
                (("probes", name, *place), message)
                for place, message in argument_problems(spec, names.probes[spec["function"]])
            )
        for place, message in where_problems(spec.get("where") or {}, experiment, names, PLACES):
            yield ("probes", name, "where", *place), message


def argument_problems(spec: Mapping[str, Any], source: Path) -> Iterator[Problem]:
    """Arguments that a probe does not take, of another kind, or missing."""
    takes = vocabulary.literal_in(source, "ARGUMENTS")
    for key, message in arguments.problems(takes, spec.get("arguments") or {}):
        place = ("arguments", key) if key else ()
        yield place, f"{message}; the probe {spec['function']} takes {arguments.allowed(takes)}"
