"""What an experiment file names, built: cell, model, task and optimiser at every point of a grid.

Only what is new in a setting is built again. This module needs torch, as what it builds does.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from tensor_rnns import cells, datasets, models, tasks
from tensor_rnns.analysis.measures import SETTINGS, is_setting
from tensor_rnns.checking.form import Data
from tensor_rnns.declared import LARGEST, ByName, Invalid, Location, Problem, Reading, suggestion, unknown
from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.records import SCALES
from tensor_rnns.experiments.selector import Curve
from tensor_rnns.messages import fault
from tensor_rnns.models.delayed import Delayed
from tensor_rnns.models.recurrent import Recurrent
from tensor_rnns.training import first_batch
from tensor_rnns.training.learner import check_carrying
from tensor_rnns.training.numerics import numerics
from tensor_rnns.training.optimisers import OPTIMISERS, block_of
from tensor_rnns.training.settings import Training

NAMED = {
    "cell": ByName("cell", "name", cells.families, ("inputs",)),
    "model": ByName("model", "name", models.families, ("inputs", "outputs", "symbols", "cell", "engine")),
    "task": ByName("task", "name", tasks.names, ("dataset", "batch_size")),
    "optimiser": ByName("optimiser", "name", lambda: OPTIMISERS, ("rate",)),
}
"""Blocks that name what they are of, and the fields that the program fills in: a file may not give them."""
OF_VARIANTS = ("cell.budget", "cell.file")
"""Settings that a file may not write: a variant names its budget, and a guest has a file."""
SPLIT = ("search", "select", "split")
Fault = tuple[str, str]
"""A dotted key and what is wrong with it."""


def settings_problems(experiment: Experiment) -> Iterator[Problem]:
    """Every fault at every scale, for every curve and grid point, at the key that set it last."""
    for scale in SCALES:
        if scale not in experiment.scales:
            yield ("scales",), f"the scale {scale!r} is missing; needed are {', '.join(SCALES)}"
    reported: set[Problem] = set()
    seen: set[str] = set()
    for scale in (*(scale for scale in SCALES if scale in experiment.scales), resolve.EVERYWHERE):
        for curve in resolve.curves(experiment, scale):
            for problem in curve_problems(experiment, scale, curve, seen):
                # A key that two cells do not have is one mistake, and so is a batch of two sizes.
                location, message = problem
                alike = " has no key " in message or first_batch.WHERE in message
                once = (location, "") if alike else problem
                if once not in reported:
                    reported.add(once)
                    yield problem


def curve_problems(experiment: Experiment, scale: str, curve: Curve, seen: set[str]) -> Iterator[Problem]:
    """Every fault of one curve, at every point of its grid; nothing for settings already `seen`."""
    variant = curve[1]
    origins: dict[str, Location] = {"dataset": ("dataset", "real")}
    for location, key, value in resolve.layers(experiment, scale, *curve):
        if key == "dataset":
            (reading := Reading()).value(Data | None, value, location)
            if reading.problems:
                yield from reading.problems
                return
            origins[key] = (*location, "real")
            continue
        if not is_setting(key) or (key in OF_VARIANTS and key == location[-1]):
            near = suggestion(key, origins).partition("allowed are")[0]
            more = ", dataset, per" if location[0] == "conditions" and len(location) == 3 else ""
            yield location, f"unknown key {key!r}; {near}allowed are {SETTINGS}{more}"
            return
        origins[key] = location
    keys = resolve.grid(experiment, scale, *curve)
    locations = {joint: location for location, joint, _ in resolve.searched(experiment, scale, variant)}
    faults = [problem for joint in keys for problem in joint_problems(locations[joint], joint, keys[joint])]
    parts, last = ",".join(keys).split(","), {part: joint for joint in keys for part in joint.split(",")}
    twice = [part for part in last if parts.count(part) > 1]
    faults += [(locations[last[part]], f"{part!r} is searched twice; allowed is once") for part in twice]
    yield from faults
    if faults:
        return
    origins |= {part: locations[joint] for part, joint in last.items()} | {"select": SPLIT}
    base = resolve.settings_of(experiment, scale, "real", *curve)
    split = experiment.search["select"]["split"] if keys else ""
    for values in resolve.points(keys):
        settings = resolve.with_values(base, values)
        text = as_text(settings)
        if text not in seen:
            seen.add(text)
            for key, message in setting_faults(settings, split):
                yield location_of(key, origins, variant), message


def location_of(key: str, origins: Mapping[str, Location], variant: str) -> Location:
    """Where in the file a dotted key was set; where the length of a training is, that of either key."""
    if key == "training.length":
        lengths = [origins[key] for key in ("training.updates", "training.epochs") if key in origins]
        return next((location for location in lengths if location[0] != "training"), ("training",))
    return origins.get(key, ("variants", variant))


def joint_problems(location: Location, joint: str, values: Sequence[Any]) -> Iterator[Problem]:
    """Keys of a grid that name no block of settings, and points that do not fit a joint key."""
    parts = joint.split(",")
    for part in parts:
        if not is_setting(part) or part in OF_VARIANTS:
            yield location, f"unknown key {part!r}; allowed are {SETTINGS}"
    for point in values if len(parts) > 1 else ():
        if not isinstance(point, list) or len(point) != len(parts):
            allowed = f"a list of {len(parts)} values, one for each of {', '.join(parts)}"
            yield location, f"the value {point!r} of the joint key {joint!r}; allowed is {allowed}"


def setting_faults(settings: Mapping[str, Any], split: str) -> Iterator[Fault]:
    """What is wrong with one resolved setting, each with its dotted key; a search chooses on the `split`."""
    faults: list[Fault] = []
    for block in ("task", "model", "cell"):
        given = settings[block]
        if block == "cell" and "budget" in (given or {}):
            # The width is solved when it is trained; a guest's file is not run here.
            own = {key: value for key, value in given.items() if key != "budget"}
            given = None if "file" in given else own | {"hidden": 1}
        if given is not None:
            faults += block_faults(block, as_text(given))
    task, training = settings["task"], settings["training"]
    faults += training_faults(as_text(training), str(task.get("name")))
    if not faults and split == "valid":
        chosen = Reading(nulls=True).record(Training, training, (), "training")
        if not chosen.validates and "valid" not in chosen.evaluate.splits:
            allowed = "allowed is train, or a pace or this split in training.evaluate"
            faults.append(("select", f"select.split is 'valid', on which nothing is evaluated; {allowed}"))
    dataset = settings["dataset"]
    if dataset is not None:
        faults += [("dataset", message) for _, message in unknown((), "data set", dataset, datasets.names())]
    needed = getattr(task_class(str(task.get("name"))), "data_kind", None)
    if needed is not None and (dataset is None or dataset in datasets.names()):
        given = datasets.entry(dataset).kind if dataset else ""
        if given != needed:
            told = f"data of the kind {given or 'none'} given; allowed for the task {task['name']}"
            faults.append(("dataset", f"{told}: {needed or 'none'}"))
    made = {"task": task, "model": settings["model"], "cell": settings["cell"]}
    yield from faults or building_faults(as_text(made | {"training": {"batch": training.get("batch")}}))


def as_text(settings: Any) -> str:
    """What a file sets, as JSON: faults of the same are looked for once."""
    return json.dumps(settings, sort_keys=True, default=str)


def named_faults(what: str, block: Mapping[str, Any]) -> list[Fault]:
    """What keeps a block from being what it names, each with the key of the block."""
    reading = Reading(nulls=True)
    reading.named(NAMED[what], {"name": None} | block, ())
    return [(str(location[0]) if location else "", message) for location, message in reading.problems]


@cache
def task_class(name: str) -> type[tasks.Task] | None:
    """The task of a name; to look through all of them for each setting took a second."""
    return tasks.names().get(name)


@cache
def block_faults(block: str, written: str) -> tuple[Fault, ...]:
    """What keeps a cell, model or task, written as JSON, from being built, each with its dotted key."""
    asked = json.loads(written)
    what = f"{block} {asked.get('name')}"
    whole = (what, f"unknown {block} ")
    return tuple(
        (f"{block}.{key or 'name'}", message if message.startswith(whole) else f"{what}: {message}")
        for key, message in named_faults(block, asked)
    )


@cache
def training_faults(written: str, task: str) -> tuple[Fault, ...]:
    """What is wrong with a training block: its keys, its optimiser, and epochs of a task without an end."""
    block, reading = json.loads(written), Reading(nulls=True)
    training = reading.record(Training, block, (), "training")
    wrong = [(f"training.{at[0]}" if at else "training.length", message) for at, message in reading.problems]
    valid = not any(location == ("momentum",) for location, _ in reading.problems)
    if "optimiser" not in block:  # its annotation says nothing of it
        allowed = f"one of {', '.join(OPTIMISERS)}"
        return tuple((key, said.replace("anything", allowed)) for key, said in wrong)
    for key, message in named_faults("optimiser", block_of(block)):
        if key != "momentum" or "momentum" not in block:
            wrong.append(("training.optimiser", message))
        elif valid:
            wrong.append(("training.momentum", message))
    endless = getattr(task_class(task), "updates_per_epoch", 1) is None
    if endless and isinstance(training, Training):
        wrong += [(f"training.{key}", message) for key, message in training.counting_epochs()]
    return tuple(wrong)


@cache
@numerics(1)
def tried(written: str) -> tuple[tasks.Task, tasks.Batch]:
    """A task of settings, written as JSON, and its first batch; ValueError as of `first_batch.sound`, and
    where the task fails otherwise, with its line."""
    settings = json.loads(written)
    what = f"task {settings['task']['name']}"
    try:
        task = tasks.build(settings)
        return task, first_batch.sound(task)
    except Exception as error:  # a task is anyone's code
        if isinstance(error, Invalid) or str(error).startswith(what):
            raise
        said = fault(error, lambda file: Path(file).parent == Path(tasks.__path__[0]))
        raise ValueError(f"{what} fails: {said}") from None


@cache
def building_faults(written: str) -> tuple[Fault, ...]:
    """What the classes themselves refuse when they are made of settings, written as JSON, and what is wrong
    with the first batch; a task that needs its data set is not made."""
    settings = json.loads(written)
    chosen = task_class(settings["task"]["name"])
    inputs, outputs, block, batch = 8, 4, "task", None
    try:
        if "dataset" not in chosen.__dataclass_fields__:
            task, batch = tried(as_text({name: settings[name] for name in ("task", "training")}))
            inputs, outputs = task.inputs, task.outputs
        elif chosen.symbols and not issubclass(models.families()[settings["model"]["name"]], Recurrent):
            inputs = (inputs, inputs)
        block = "cell"
        if settings["cell"] is not None and "budget" not in settings["cell"]:
            cells.build(settings["cell"], inputs)
        block = "model"
        model = models.build(settings, inputs, outputs, symbols=chosen.symbols)
        check_carrying(model, chosen)
        check_waiting(model, settings["task"].get("delay", 0))
        if batch is not None:
            first_batch.check_answers(model, task, batch)
        if (count := model.parameter_count()) > LARGEST:
            block = "cell" if settings["cell"] else block
            raise ValueError(f"{count:.1e} parameters; allowed are at most {LARGEST:,}")
    except ValueError as error:
        return ((f"{block}.{getattr(error, 'key', '') or 'name'}", str(error)),)
    return ()


def check_waiting(model: models.Model, delay: int) -> None:
    """Invalid where outputs for an input come late, and neither the model waits for them nor a task whose
    targets are `delay` steps late; and for masks of each step in a model that waits, which it runs past."""
    late = model.layers * model.cell.delay if isinstance(model, Recurrent) else 0
    waits = isinstance(model, Delayed)
    dropped = waits and (model.input_dropout or (model.output_dropout and not model.last_only))
    if late and dropped and model.dropout == "step":
        told = f"a mask for each step given, and {late} steps after the last input have none"
        raise Invalid("dropout", f"model {model.name}: {told}; allowed: dropout: sequence")
    if late and not waits and late != delay:
        told = f"the outputs of the cell {model.cell.name} come {late} steps late, targets {delay}"
        raise Invalid("", f"model {model.name}: {told}; allowed: as many, or a model that waits, delayed_*")
