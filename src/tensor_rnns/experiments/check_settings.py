"""What is wrong with the settings that an experiment file resolves to, each fault at the key it is set by."""

import copy
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.check_form import schema_problems
from tensor_rnns.experiments.check_overrides import override_problems, without
from tensor_rnns.experiments.check_words import (
    Names,
    Place,
    Problem,
    is_number,
    is_whole,
    suggestion,
    typed_problem,
    word_problems,
)
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import SCALES
from tensor_rnns.experiments.resolve import curves, grid, points, put, settings_of

OPTIMISER = "training.optimiser"
LENGTH = "training.updates or training.epochs"
"""Stands for whichever of the two is set last."""


def settings_problems(experiment: Experiment, names: Names, training: Mapping[str, Any]) -> Iterator[Problem]:
    """Every fault at every scale, for every curve and grid point; `training` is the schema of that block."""
    unknown = list(override_problems(experiment, training["properties"]))
    yield from unknown
    experiment = without(experiment, [place for place, _ in unknown])
    reported: set[Problem] = set()
    for scale in SCALES:
        if scale not in experiment.scales:
            yield ("scales",), f"the scale {scale!r} is missing; needed are {', '.join(SCALES)}"
            continue
        for curve in curves(experiment, scale):
            for problem in curve_problems(experiment, names, training, scale, *curve):
                if problem not in reported:
                    reported.add(problem)
                    yield problem


def curve_problems(
    experiment: Experiment,
    names: Names,
    training: Mapping[str, Any],
    scale: str,
    condition: str,
    variant: str,
    option: str,
) -> Iterator[Problem]:
    """Every fault of one curve, at every point of its grid."""
    curve = (scale, condition, variant, option)
    try:
        base = settings_of(experiment, scale, "real", condition, variant, option)
        candidates = points(grid(experiment, *curve))
    except (ValueError, KeyError, TypeError) as error:
        yield ("variants", variant), f"cannot be resolved at {scale} for {condition}/{option}: {error}"
        return
    origins = origins_of(experiment, *curve)
    lengths = [origins[key] for key in LENGTH.split(" or ") if key in origins]
    origins[LENGTH] = next((place for place in lengths if place[0] != "training"), ("training",))
    for values in candidates:
        settings = copy.deepcopy(base)
        for key, value in values.items():
            put(settings, key, value)
        for key, message in resolved_problems(settings, names, training):
            yield origins.get(key, ("variants", variant)), message


def origins_of(
    experiment: Experiment, scale: str, condition: str, variant: str, option: str
) -> dict[str, Place]:
    """{dotted key: the place in the file that sets it last}, in the order of `resolve.settings_of`."""
    found: dict[str, Place] = {
        f"{block}.{key}": (block, key)
        for block in ("task", "model", "training")
        for key in experiment.block(block)
    }
    found["dataset"] = ("dataset", "real")
    own_keys = experiment.conditions.get(condition) or {}
    found |= {key: ("conditions", condition, key) for key in own_keys if key != "per"}
    for pattern, keys in (own_keys.get("per") or {}).items():
        if fnmatchcase(variant, pattern):
            found |= {key: ("conditions", condition, "per", pattern, key) for key in keys}
    block = experiment.variants[variant]
    home = "cell" if "cell" in block else "model"
    for key in sorted(block, key=lambda key: "." in key):
        dotted = {"cell": "cell.name", "model": "model.name"}.get(key, key if "." in key else f"{home}.{key}")
        found[dotted] = ("variants", variant, key)
    changes = experiment.options.get(option, {})
    found |= {key: ("options", option, "set", key) for key in changes.get("set") or {}}
    for pattern, keys in (changes.get("per") or {}).items():
        if fnmatchcase(f"{condition}/{variant}", pattern):
            found |= {key: ("options", option, "per", pattern, key) for key in keys}
    own = experiment.scale_block(scale)
    found |= {key: ("scales", scale, "set", key) for key in own.get("set") or {}}
    for pattern, keys in (own.get("per") or {}).items():
        if fnmatchcase(f"{condition}/{variant}", pattern):
            found |= {key: ("scales", scale, "per", pattern, key) for key in keys}
    at_scale = own.get("search") if isinstance(own.get("search"), Mapping) else {}
    for joint in grid(experiment, scale, condition, variant, option):
        for part in ("grid", "per"):
            place: Place = ("scales", scale, "search", part) if part in at_scale else ("search", part)
            keys = (at_scale if part in at_scale else experiment.search).get(part) or {}
            homes = {place: keys} if part == "grid" else {(*place, p): keys[p] for p in keys if
                                                          fnmatchcase(variant, p)}  # fmt: skip
            for home_of, known in homes.items():
                if joint in known:
                    found |= dict.fromkeys(joint.split(","), (*home_of, joint))
    return found


def resolved_problems(
    settings: Mapping[str, Any], names: Names, training: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """What is wrong with one resolved setting, each with its dotted key."""
    for block, room, kind, naming in (
        ("task", "tasks", "task", "name"),
        ("model", "models", "model", "name"),
        ("cell", "cells", "cell", "name"),
    ):
        given = settings[block]
        if given is not None:
            rest = {key: value for key, value in given.items() if key != naming}
            for key, message in word_problems(room, kind, given.get(naming), rest):
                yield f"{block}.{key or naming}", message
    model, around = settings["model"].get("name"), vocabulary.models_around_a_cell()
    if model in vocabulary.words("models") and (model in around) != (settings["cell"] is not None):
        told = "needs a cell" if model in around else "takes no cell"
        yield "model.name", f"model {model} {told}; models around a cell are {', '.join(sorted(around))}"
    yield from fitting_problems(settings["model"], settings["task"].get("name"))
    yield from training_problems(settings["training"], settings["task"].get("name"), training)
    dataset = settings["dataset"]
    if dataset is not None and dataset not in names.datasets:
        yield "dataset", f"unknown data set {dataset!r}; {suggestion(dataset, names.datasets)}"


def fitting_problems(model: Mapping[str, Any], task: Any) -> Iterator[tuple[str, str]]:
    """What is wrong between a task and a model that are each well: symbols, carried states, what enters the
    cell."""
    name = model.get("name")
    if name not in vocabulary.words("models") or task not in vocabulary.words("tasks"):
        return
    symbols = task in vocabulary.tasks_that("symbols", True)
    if symbols and name not in (able := vocabulary.models_with("symbols")):
        yield (
            "model.name",
            f"the task {task} gives symbols, which the model {name} does not take; models that do are "
            f"{', '.join(sorted(able))}",
        )
    around = vocabulary.models_around_a_cell()
    if task in vocabulary.tasks_that("carries_state", True) and name not in around:
        yield (
            "model.name",
            f"the task {task} carries a state over batches, the model {name} has none; models around a cell "
            f"are {', '.join(sorted(around))}",
        )
    if name not in around:
        return
    wrong, kind = ("projection", "symbols") if symbols else ("embedding", "numbers")
    if model.get(wrong) is not None:
        yield f"model.{wrong}", f"the task {task} gives {kind}, which have no {wrong}; allowed is none (null)"
    dropout = model.get("input_dropout", 0)
    if is_number(dropout) and not 0 <= dropout < 1:
        yield "model.input_dropout", f"input_dropout is {dropout}; allowed is at least 0 and below 1"
    elif symbols and dropout and model.get("embedding") is None:
        yield (
            "model.input_dropout",
            f"input_dropout is {dropout}, and one-hot symbols have no dropout; allowed is 0, or an embedding",
        )


def training_problems(
    block: Mapping[str, Any], task: Any, schema: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """What is wrong with one resolved training block: its form, its optimiser, its epochs and validation."""
    broken = set()
    for place, message in schema_problems(block, schema):
        broken.add(place[0] if place else "")
        yield f"training.{place[0]}" if place else LENGTH, message
    if "optimiser" in block and "optimiser" not in broken:
        yield from optimiser_problems(block)
    evaluate = block.get("evaluate") or {}
    if broken & {"", "evaluate", "keep", "early_stop", "updates", "epochs"}:
        return
    every = evaluate.get("every", "end")
    endless = task in vocabulary.tasks_without_epochs()
    if endless and "epochs" in block:
        yield (
            "training.epochs",
            f"the task {task} has no epochs, training.epochs is {block['epochs']}; give training.updates",
        )
    if endless and every == "epoch":
        yield (
            "training.evaluate",
            f"the task {task} has no epochs, evaluate.every is 'epoch'; allowed are end and a number",
        )
    never = every == "end" or (is_whole(every) and every > block.get("updates", every))
    for key, value in (("keep", block.get("keep", "last") != "last"),
                       ("early_stop", isinstance(block.get("early_stop"), Mapping))):  # fmt: skip
        if value and never:
            yield (
                f"training.{key}",
                f"{key} is {block[key]!r}, which needs validation, and evaluate.every is {every!r}; allowed "
                "are epoch and a number of updates within training.updates",
            )


def optimiser_problems(block: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What is wrong with the optimiser of a training block, its options and the momentum beside it."""
    asked = block["optimiser"]
    given = dict(asked) if isinstance(asked, Mapping) else {"name": asked}
    name = given.pop("name")
    known = vocabulary.optimisers()
    if name not in known:
        yield OPTIMISER, f"unknown optimiser {name!r}; {suggestion(name, known)}"
        return
    for key, value in given.items():
        if key not in known[name]:
            yield OPTIMISER, f"optimiser {name} has no option {key!r}; {suggestion(key, known[name])}"
        elif problem := typed_problem(key, value, known[name][key]):
            yield OPTIMISER, f"optimiser {name}: {problem}"
    if "momentum" in block and "momentum" not in known[name]:
        others = [other for other, options in known.items() if "momentum" in options]
        yield (
            "training.momentum",
            f"optimiser {name} has no momentum, {block['momentum']} given; allowed with {', '.join(others)}",
        )
