"""From one experiment file to the replicas of a stage: every setting resolved, every seed explicit."""

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from tensor_rnns.declared import Location
from tensor_rnns.experiments.records import SEARCH_SEED, Replica
from tensor_rnns.experiments.selector import MAIN, Curve

if TYPE_CHECKING:
    from tensor_rnns.experiments.experiment import Experiment

Chosen = Mapping[Curve, Mapping[str, Any]] | None
"""What the search of a curve chose."""
EVERYWHERE = ""
"""Stands for a scale that says nothing, at which all curves of a file run."""


def curves(experiment: "Experiment", scale: str) -> Iterable[Curve]:
    """Every (condition, variant, option) that runs at `scale`, in the order of the file: `main` and the
    options that are not restricted to other curves; the condition `only` where the file has none. A condition
    leaves out the variants of its block `without`."""
    block = experiment.scale_block(scale)
    known = {
        "conditions": [*experiment.conditions] or ["only"],
        "variants": [*experiment.variants],
        "options": [MAIN, *experiment.options],
    }
    run = [[name for name in names if name in block.get(kind, names)] for kind, names in known.items()]
    for condition, variant, option in itertools.product(*run):
        own = experiment.options.get(option, {})
        if variant in left_out(experiment, condition):
            continue
        if condition in own.get("conditions", [condition]) and variant in own.get("variants", [variant]):
            yield condition, variant, option


def left_out(experiment: "Experiment", condition: str) -> dict[str, str]:
    """The variants that a condition cannot take, and why."""
    return dict((experiment.conditions.get(condition) or {}).get("without") or {})


def put(settings: dict[str, Any], key: str, value: Any) -> None:
    """Set the dotted `key` (block.name) of nested `settings`, or the data set."""
    block, dot, name = key.partition(".")
    if not dot and key != "dataset":
        raise ValueError(f"{key!r} is not a dotted name; allowed are task.*, model.*, cell.* and training.*")
    settings[block] = (settings.get(block) or {}) | {name: copy.deepcopy(value)} if dot else value


def with_values(base: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of settings with the dotted keys of a point of a grid set."""
    settings = copy.deepcopy(dict(base))
    for key, value in values.items():
        put(settings, key, value)
    return settings


def matching(blocks: Mapping[str, Any] | None, name: str) -> Iterable[tuple[str, Any]]:
    """The entries of a block `per` whose pattern takes `name`, in the order of the file."""
    return [(pattern, keys) for pattern, keys in (blocks or {}).items() if fnmatchcase(name, pattern)]


def layers(
    experiment: "Experiment", scale: str, condition: str, variant: str, option: str
) -> Iterable[tuple[Location, str, Any]]:
    """Every setting of a curve as (location, dotted key, value): file, condition, variant, option, scale; a
    later one stands in place of an earlier one."""
    for block in ("task", "model", "training"):
        for key, value in experiment.block(block).items():
            yield (block, key), f"{block}.{key}", value
    own = dict(experiment.conditions.get(condition) or {})
    own.pop("without", None)
    for pattern, keys in [(None, own), *matching(own.pop("per", None), like(experiment, variant))]:
        home = ("conditions", condition) + (() if pattern is None else ("per", pattern))
        for key, value in keys.items():
            yield (*home, key), key, value
    chosen = experiment.variants[variant]
    block, curve = "cell" if "cell" in chosen else "model", f"{condition}/{like(experiment, variant)}"
    for key, value in sorted(chosen.items(), key=lambda entry: "." in entry[0]):
        if key != "label":
            dotted = key if "." in key else f"{block}.{'name' if key == block else key}"
            yield ("variants", variant, key), dotted, value
    changes = [(("options", option), experiment.options.get(option, {}))]
    for home, changed in [*changes, (("scales", scale), experiment.scale_block(scale))]:
        for key, value in (changed.get("set") or {}).items():
            yield (*home, "set", key), key, value
        for pattern, keys in matching(changed.get("per"), curve):
            for key, value in keys.items():
                yield (*home, "per", pattern, key), key, value


def like(experiment: "Experiment", variant: str) -> str:
    """The variant whose settings a guest shares but for its cell; any other variant is itself."""
    block = experiment.variants[variant]
    return block["budget"] if "file" in block else variant


def settings_of(
    experiment: "Experiment", scale: str, data: str, condition: str, variant: str, option: str
) -> dict[str, Any]:
    """The resolved settings of one curve before any search; see `layers`.

    The block of a cell with a budget has as `budget` the cell of the variant that it is to equal in
    parameters, resolved for the same curve, and no width. What is said of cells is not of guests.
    """
    settings: dict[str, Any] = {"task": {}, "model": {}, "cell": None, "training": {}}
    settings["dataset"] = experiment.dataset
    for _, key, value in layers(experiment, scale, condition, variant, option):
        put(settings, key, value)
    if "budget" in experiment.variants[variant]:
        equal, cell = experiment.variants[variant]["budget"], settings["cell"]
        beside = settings_of(experiment, scale, data, condition, equal, option)
        own = ("name", "file") if "file" in cell else cell.keys() - {"hidden"}
        settings["cell"] = {key: cell[key] for key in cell if key in own} | {"budget": beside["cell"]}
    pair = settings["dataset"]
    settings["dataset"] = (pair["real"] if data == "real" else pair["stand_in"]) if pair else None
    return settings


def searched(experiment: "Experiment", scale: str, variant: str) -> Iterable[tuple[Location, str, list[Any]]]:
    """Every key of the grid of a variant as (location, dotted keys with commas, values); a later one
    stands in place of an earlier one."""
    own, alike = experiment.scale_block(scale).get("search") or {}, like(experiment, variant)
    if not experiment.search or own == "none":
        return
    for part in ("grid", "per"):
        home = ("scales", scale, "search", part) if part in own else ("search", part)
        block = (own if part in own else experiment.search).get(part) or {}
        for pattern, keys in [(None, block)] if part == "grid" else matching(block, alike):
            for joint, values in keys.items():
                yield (*home, *([] if pattern is None else [pattern]), joint), joint, values


def grid(
    experiment: "Experiment", scale: str, condition: str, variant: str, option: str
) -> dict[str, list[Any]]:
    """The grid of one curve: {dotted key, or several joined by commas: values}; {} where nothing is searched.

    A key that the option fixes for this curve is not searched, nor are fields of cells for a guest.
    """
    set_where = layers(experiment, scale, condition, variant, option)
    fixed = {key for location, key, _ in set_where if location[0] == "options"}
    guest = "file" in experiment.variants[variant]
    return {
        joint: values
        for _, joint, values in searched(experiment, scale, variant)
        if not set(joint.split(",")) & fixed and not (guest and "cell." in joint)
    }


def points(keys: Mapping[str, Sequence]) -> list[dict[str, Any]]:
    """The points of a grid in the order of the file, each {dotted key: value}; joint keys are taken apart."""
    combinations = itertools.product(*keys.values())
    return [
        {
            name: value
            for key, values in zip(keys, combination, strict=True)
            for name, value in zip(key.split(","), values if "," in key else [values], strict=True)
        }
        for combination in combinations
    ]


def replicas(
    experiment: "Experiment", scale: str, data: str, stage: str, chosen: Chosen = None, seeds: int = 0,
    only: Curve | None = None,
) -> list[Replica]:  # fmt: skip
    """All replicas of `stage` ("search" or "final") at `scale`, with `data` "embedded" or "real".

    `chosen` maps (condition, variant, option) to the values that the search chose; without it the searched
    keys of a final replica keep the file's value, which is enough to plan. `seeds` final seeds are more than
    the file's where that says fewer; with `only` those of one curve alone.
    """
    if experiment.kind != "train":
        return []
    result = []
    for curve in [only] if only else curves(experiment, scale):
        keys = grid(experiment, scale, *curve)
        names = tuple(name for key in keys for name in key.split(","))
        if stage == "search":
            first, count = SEARCH_SEED, experiment.search.get("select", {}).get("seeds", 1)
            places = points(keys) if keys else []
        else:
            first, count = 0, max(experiment.scale_block(scale).get("seeds", 1), seeds)
            places = [(chosen or {}).get(curve, {}) if keys else {}]
        base = settings_of(experiment, scale, data, *curve)
        key = experiment.paper, experiment.name, scale, *curve, stage
        for point, values in enumerate(places):
            settings = with_values(base, values)
            result += [Replica(*key, point, seed, settings, names) for seed in range(first, first + count)]
    return result


def cohorts(members: Iterable[Replica], size: int) -> list[list[Replica]]:
    """`found` cut into cohorts of at most `size` replicas of equal shape, in a fixed order."""
    shapes: dict[str, list[Replica]] = {}
    for replica in members:
        shapes.setdefault(replica.shape, []).append(replica)
    return [group[start : start + size] for group in shapes.values() for start in range(0, len(group), size)]
