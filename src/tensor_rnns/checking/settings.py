"""What a trained experiment resolves to, built: cell, model, task and optimiser at every point of a grid.

Only what is new in a setting is built again. This module needs torch, as what it builds does.
"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from tensor_rnns import cells, datasets, models, tasks
from tensor_rnns.analysis.measures import BLOCKS, SETTINGS, is_setting
from tensor_rnns.checking.names import unknown
from tensor_rnns.declared import Place, Problem, problems, suggestion
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import SCALES
from tensor_rnns.experiments.resolve import curves, grid, layers, matching, points, settings_of, with_values
from tensor_rnns.models.recurrent import Recurrent
from tensor_rnns.training.optimisers import OPTIMISERS
from tensor_rnns.training.settings import Training

GIVEN = {
    "cell": ("inputs",),
    "model": ("inputs", "outputs", "symbols", "cell", "engine"),
    "task": ("dataset", "batch_size"),
}
"""Fields that the program fills in: a file may not give them."""
EVERYWHERE = ""
"""Stands for a scale that says nothing, so that what no scale runs is built too."""
Fault = tuple[str, str]
"""A dotted key and what is wrong with it."""


def settings_problems(experiment: Experiment) -> Iterator[Problem]:
    """Every fault at every scale, for every curve and grid point, at the key that set it last."""
    for scale in SCALES:
        if scale not in experiment.scales:
            yield ("scales",), f"the scale {scale!r} is missing; needed are {', '.join(SCALES)}"
    reported: set[Problem] = set()
    seen: set[str] = set()
    for scale in (*(scale for scale in SCALES if scale in experiment.scales), EVERYWHERE):
        for curve in curves(experiment, scale):
            for problem in curve_problems(experiment, scale, curve, seen):
                # A key that two cells do not have is one mistake.
                place, message = problem
                once = (place, "") if " has no key " in message else problem
                if once not in reported:
                    reported.add(once)
                    yield problem


def curve_problems(
    experiment: Experiment, scale: str, curve: tuple[str, str, str], seen: set[str]
) -> Iterator[Problem]:
    """Every fault of one curve, at every point of its grid; nothing for settings already `seen`."""
    variant = curve[1]
    origins: dict[str, Place] = {"dataset": ("dataset", "real")}
    for place, key, _ in layers(experiment, scale, *curve):
        if key == "dataset":
            continue
        if key.partition(".")[0] not in BLOCKS:
            near = suggestion(key, origins).partition("allowed are")[0]
            more = ", dataset, per" if place[0] == "conditions" and len(place) == 3 else ""
            yield place, f"unknown key {key!r}; {near}allowed are {SETTINGS}{more}"
            return
        origins[key] = place
    keys = grid(experiment, scale, *curve)
    faults = list(joint_problems(experiment, scale, variant, keys))
    yield from faults
    if faults:
        return
    for joint in keys:
        origins |= dict.fromkeys(joint.split(","), grid_place(experiment, scale, variant, joint))
    base = settings_of(experiment, scale, "real", *curve)
    for values in points(keys):
        settings = with_values(base, values)
        written = json.dumps(settings, sort_keys=True, default=str)
        if written not in seen:
            seen.add(written)
            for key, message in setting_faults(settings):
                yield place_of(key, origins, variant), message


def place_of(key: str, origins: Mapping[str, Place], variant: str) -> Place:
    """Where in the file a dotted key was set; where the length of a training is, that of either key."""
    if key == "training.length":
        lengths = [origins[one] for one in ("training.updates", "training.epochs") if one in origins]
        return next((place for place in lengths if place[0] != "training"), ("training",))
    return origins.get(key, ("variants", variant))


def joint_problems(
    experiment: Experiment, scale: str, variant: str, keys: Mapping[str, Any]
) -> Iterator[Problem]:
    """Keys of a grid that name no block of settings, and points that do not fit a joint key."""
    for joint, values in keys.items():
        parts, place = joint.split(","), grid_place(experiment, scale, variant, joint)
        for part in parts:
            if not is_setting(part):
                yield place, f"unknown key {part!r}; allowed are {SETTINGS}"
        for point in values if len(parts) > 1 else ():
            if not isinstance(point, list) or len(point) != len(parts):
                allowed = f"a list of {len(parts)} values, one for each of {', '.join(parts)}"
                yield place, f"the value {point!r} of the joint key {joint!r}; allowed is {allowed}"


def grid_place(experiment: Experiment, scale: str, variant: str, joint: str) -> Place:
    """Where the values of a key of the grid stand: at a scale, for a pattern of variants, or for all."""
    own = experiment.scale_block(scale).get("search")
    found: Place = ("search", "grid", joint)
    for part in ("grid", "per"):
        at_scale = isinstance(own, Mapping) and part in own
        home: Place = ("scales", scale, "search", part) if at_scale else ("search", part)
        block = (own if at_scale else experiment.search).get(part) or {}
        if part == "grid" and joint in block:
            found = (*home, joint)
        for pattern, keys in matching(block, variant) if part == "per" else ():
            if joint in keys:
                found = (*home, pattern, joint)
    return found


def setting_faults(settings: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with one resolved setting, each with its dotted key."""
    task, model, cell = settings["task"], settings["model"], settings["cell"]
    found: list[Fault] = []
    for block in ("task", "model", "cell"):
        given = settings[block]
        if given is not None and not (block == "cell" and "budget" in given):
            found += block_faults(block, json.dumps(given, sort_keys=True, default=str))
    found += training_faults(settings["training"], task.get("name"))
    dataset = settings["dataset"]
    if dataset is not None:
        found += [("dataset", message) for _, message in unknown((), "data set", dataset, datasets.names())]
    yield from found
    if model.get("name") in models.families() and task.get("name") in tasks.names():
        fitting = list(fitting_faults(task["name"], model["name"], cell))
        yield from fitting
        if not fitting and not found:
            yield from building_faults(settings)


def named_faults(what: str, block: Mapping[str, Any], known: Mapping[str, Any], given: Any) -> list[Fault]:
    """What keeps a block from being a record of the name that it gives; the fields `given` are none of its
    keys."""
    rest = dict(block)
    name = rest.pop("name", None)
    if not isinstance(name, str) or name not in known:
        return [("name", f"unknown {what} {name!r}; {suggestion(name, known)}")]
    return list(problems(known[name], rest, f"{what} {name}", given))


@cache
def block_faults(block: str, written: str) -> tuple[Fault, ...]:
    """What keeps a cell, model or task, written as JSON, from being built, each with its dotted key."""
    asked = json.loads(written)
    known = {"task": tasks.names, "model": models.families, "cell": cells.families}[block]()
    what = f"{block} {asked.get('name')}"
    whole = (what, f"unknown {block} ")
    return tuple(
        (f"{block}.{key or 'name'}", message if message.startswith(whole) else f"{what}: {message}")
        for key, message in named_faults(block, asked, known, GIVEN[block])
    )


def training_faults(block: Mapping[str, Any], task: Any) -> Iterator[Fault]:
    """What is wrong with a training block: its keys, its optimiser, and epochs of a task without an end."""
    found = list(problems(Training, block, "training"))
    yield from ((f"training.{key}" if key else "training.length", message) for key, message in found)
    asked = block.get("optimiser")
    asked = asked if isinstance(asked, Mapping) else {"name": asked}
    faults = named_faults("optimiser", asked, OPTIMISERS, ("rate",))
    yield from (("training.optimiser", message) for _, message in faults)
    name = asked.get("name")
    if faults and faults[0][0] == "name":
        return
    if "momentum" in block and "momentum" not in OPTIMISERS[name].__dataclass_fields__:
        others = [other for other, kind in OPTIMISERS.items() if "momentum" in kind.__dataclass_fields__]
        told = f"optimiser {name} has no momentum, {block['momentum']} given"
        yield "training.momentum", f"{told}; allowed with {', '.join(others)}"
    endless = task in tasks.names() and tasks.names()[task].updates_per_epoch is None
    if endless and "epochs" in block and not found:
        told = f"the task {task} has no epochs, training.epochs is {block['epochs']}"
        yield "training.epochs", f"{told}; give training.updates"
    if endless and not found and (block.get("evaluate") or {}).get("every") == "epoch":
        told = f"the task {task} has no epochs, evaluate.every is 'epoch'"
        yield "training.evaluate", f"{told}; allowed are end and a number"


def fitting_faults(task: str, model: str, cell: Mapping[str, Any] | None) -> Iterator[Fault]:
    """What is wrong between a task, a model and a cell that are each well."""
    kinds, chosen = models.families(), tasks.names()[task]
    around = [name for name, kind in kinds.items() if issubclass(kind, Recurrent)]
    told = f"models around a cell are {', '.join(sorted(around))}"
    if (model in around) != (cell is not None):
        needs = "needs a cell" if model in around else "takes no cell"
        yield "model.name", f"model {model} {needs}; {told}"
    if chosen.symbols and not models.takes_symbols(kinds[model]):
        able = ", ".join(sorted(name for name, kind in kinds.items() if models.takes_symbols(kind)))
        symbols = f"the task {task} gives symbols, which the model {model} does not take"
        yield "model.name", f"{symbols}; models that do are {able}"
    if chosen.carries_state and model not in around:
        yield (
            "model.name",
            f"the task {task} carries a state over batches, the model {model} has none; {told}",
        )


def building_faults(settings: Mapping[str, Any]) -> Iterator[Fault]:
    """What the classes themselves refuse when they are made; a task that needs its data set is not made."""
    chosen = tasks.names()[settings["task"]["name"]]
    needs_data = "dataset" in chosen.__dataclass_fields__
    inputs, outputs, block = 8, 4, "task"
    try:
        if not needs_data:
            task = tasks.build(settings)
            inputs, outputs = task.inputs, task.outputs
        elif chosen.symbols and not issubclass(models.families()[settings["model"]["name"]], Recurrent):
            inputs = (inputs, inputs)
        block = "cell"
        if settings["cell"] is not None and "budget" not in settings["cell"]:
            cells.build(settings["cell"], inputs)
        block = "model"
        models.build(settings, inputs, outputs, symbols=chosen.symbols)
    except ValueError as error:
        yield f"{block}.{getattr(error, 'key', '') or 'name'}", str(error)
