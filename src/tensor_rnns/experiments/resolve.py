"""From one experiment file to the replicas of a stage: every setting resolved, every seed explicit."""

import copy
import itertools
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from tensor_rnns.experiments.records import PARTIAL, SEARCH_SEED, ExperimentFile, Replica
from tensor_rnns.experiments.selector import MAIN, Curve


def conditions(experiment: ExperimentFile, scale: str) -> list[str]:
    """The conditions that run at `scale`; an experiment without conditions has the one called `only`."""
    known = list(experiment.conditions) or ["only"]
    return [name for name in known if name in experiment.scale_block(scale).get("conditions", known)]


def variants(experiment: ExperimentFile, scale: str) -> list[str]:
    """The variants that run at `scale`, in the order of the file."""
    known = list(experiment.variants)
    return [name for name in known if name in experiment.scale_block(scale).get("variants", known)]


def options(experiment: ExperimentFile, scale: str, condition: str, variant: str) -> list[str]:
    """The options of one curve at `scale`: `main` and those of the file that are not restricted to other
    curves."""
    known = [MAIN, *experiment.options]
    asked = experiment.scale_block(scale).get("options", known)
    return [
        name
        for name in known
        if name in asked
        and condition in experiment.options.get(name, {}).get("conditions", [condition])
        and variant in experiment.options.get(name, {}).get("variants", [variant])
    ]


def main_option(experiment: ExperimentFile, scale: str) -> str:
    """The option of the main protocol at `scale`: main, or the first that a scale without main lists."""
    asked = experiment.scale_block(scale.removesuffix(PARTIAL)).get("options", [MAIN])
    return MAIN if MAIN in asked else asked[0]


def curves(experiment: ExperimentFile, scale: str) -> Iterable[Curve]:
    """Every (condition, variant, option) that runs at `scale`."""
    for condition in conditions(experiment, scale):
        for variant in variants(experiment, scale):
            for option in options(experiment, scale, condition, variant):
                yield condition, variant, option


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
    experiment: ExperimentFile, scale: str, condition: str, variant: str, option: str
) -> Iterable[tuple[tuple[str, ...], str, Any]]:
    """Every setting of a curve as (place in the file, dotted key, value): file, condition, variant, option,
    scale; a later one stands in place of an earlier one."""
    for block in ("task", "model", "training"):
        for key, value in experiment.block(block).items():
            yield (block, key), f"{block}.{key}", value
    own = dict(experiment.conditions.get(condition) or {})
    for pattern, keys in [(None, own), *matching(own.pop("per", None), variant)]:
        home = ("conditions", condition) + (() if pattern is None else ("per", pattern))
        for key, value in keys.items():
            yield (*home, key), key, value
    chosen = experiment.variants[variant]
    block = "cell" if "cell" in chosen else "model"
    for key, value in sorted(chosen.items(), key=lambda entry: "." in entry[0]):
        if key != "label":
            dotted = key if "." in key else f"{block}.{'name' if key == block else key}"
            yield ("variants", variant, key), dotted, value
    changes = [(("options", option), experiment.options.get(option, {}))]
    for home, changed in [*changes, (("scales", scale), experiment.scale_block(scale))]:
        for key, value in (changed.get("set") or {}).items():
            yield (*home, "set", key), key, value
        for pattern, keys in matching(changed.get("per"), f"{condition}/{variant}"):
            for key, value in keys.items():
                yield (*home, "per", pattern, key), key, value


def option_keys(experiment: ExperimentFile, condition: str, variant: str, option: str) -> set[str]:
    """The dotted keys that an option sets for one curve."""
    block = experiment.options.get(option, {})
    found = set(block.get("set") or {})
    return found.union(*(keys for _, keys in matching(block.get("per"), f"{condition}/{variant}")))


def settings_of(
    experiment: ExperimentFile, scale: str, data: str, condition: str, variant: str, option: str
) -> dict[str, Any]:
    """The resolved settings of one curve before any search; see `layers`.

    What is said of cells is not of guests: the block of one has as `budget` the cell of the variant that it
    is to equal in parameters, resolved for the same curve.
    """
    settings: dict[str, Any] = {"task": {}, "model": {}, "cell": None, "training": {}}
    settings["dataset"] = experiment.dataset
    for _, key, value in layers(experiment, scale, condition, variant, option):
        put(settings, key, value)
    if "budget" in experiment.variants[variant]:
        like = settings_of(experiment, scale, data, condition, experiment.variants[variant]["budget"], option)
        settings["cell"] = {key: settings["cell"][key] for key in ("name", "file")} | {"budget": like["cell"]}
    pair = settings["dataset"]
    settings["dataset"] = (pair["real"] if data == "real" else pair["stand_in"]) if pair else None
    return settings


def grid(
    experiment: ExperimentFile, scale: str, condition: str, variant: str, option: str
) -> dict[str, list]:
    """The grid of one curve: {dotted key, or several joined by commas: values}; {} where nothing is searched.

    A key that the option fixes for this curve is not searched, nor are fields of cells for a guest.
    """
    if not experiment.search or experiment.scale_block(scale).get("search") == "none":
        return {}
    search = experiment.search | (experiment.scale_block(scale).get("search") or {})
    keys = dict(search.get("grid") or {})
    for _, more in matching(search.get("per"), variant):
        keys |= more
    fixed = option_keys(experiment, condition, variant, option)
    if "budget" in experiment.variants[variant]:
        keys = {key: values for key, values in keys.items() if "cell." not in key}
    return {key: values for key, values in keys.items() if not set(key.split(",")) & fixed}


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
    experiment: ExperimentFile,
    scale: str,
    data: str,
    stage: str,
    chosen: Mapping[tuple, Mapping[str, Any]] | None = None,
) -> list[Replica]:
    """All replicas of `stage` ("search" or "final") at `scale`, with `data` "embedded" or "real".

    `chosen` maps (condition, variant, option) to the values that the search chose; without it the searched
    keys of a final replica keep the file's value, which is enough to plan. ValueError for another stage or
    data.
    """
    if stage not in ("search", "final") or data not in ("embedded", "real"):
        told = f"stage {stage!r} with data {data!r}"
        raise ValueError(f"{told}; stages are search, final and data are embedded, real")
    if experiment.kind != "train":
        return []
    block = experiment.scale_block(scale)
    found = []
    for condition, variant, option in curves(experiment, scale):
        base = settings_of(experiment, scale, data, condition, variant, option)
        keys = grid(experiment, scale, condition, variant, option)
        names = tuple(name for key in keys for name in key.split(","))
        if stage == "search":
            count = int((experiment.search.get("select") or {}).get("seeds", 1))
            seeds, places = range(SEARCH_SEED, SEARCH_SEED + count), points(keys) if keys else []
        else:
            seeds = range(int(block.get("seeds", 1)))
            places = [(chosen or {}).get((condition, variant, option), {}) if keys else {}]
        curve = experiment.paper, experiment.name, scale, condition, variant, option, stage
        for point, values in enumerate(places):
            settings = with_values(base, values)
            found += [Replica(*curve, point, seed, settings, names) for seed in seeds]
    return found


def cohorts(found: Iterable[Replica], size: int) -> list[list[Replica]]:
    """`found` cut into cohorts of at most `size` replicas of equal shape, in a fixed order."""
    shapes: dict[str, list[Replica]] = {}
    for replica in found:
        shapes.setdefault(replica.shape, []).append(replica)
    return [group[start : start + size] for group in shapes.values() for start in range(0, len(group), size)]
