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
    """Set the dotted `key` (block.name) of nested `settings`."""
    block, dot, name = key.partition(".")
    if not dot:
        raise ValueError(f"{key!r} is not a dotted name; allowed are task.*, model.*, cell.* and training.*")
    if settings.get(block) is None:
        settings[block] = {}
    settings[block][name] = copy.deepcopy(value)


def condition_keys(experiment: ExperimentFile, condition: str, variant: str) -> dict[str, Any]:
    """The overrides of a condition for one variant: its own keys, then each matching pattern of `per`."""
    block = dict(experiment.conditions.get(condition) or {})
    for pattern, values in (block.pop("per", None) or {}).items():
        if fnmatchcase(variant, pattern):
            block |= values
    return block


def option_keys(experiment: ExperimentFile, condition: str, variant: str, option: str) -> dict[str, Any]:
    """The dotted overrides of an option for one curve: `set` for all, then each matching pattern of `per`."""
    block = experiment.options.get(option, {})
    keys = dict(block.get("set") or {})
    for pattern, values in (block.get("per") or {}).items():
        if fnmatchcase(f"{condition}/{variant}", pattern):
            keys |= values
    return keys


def scale_keys(experiment: ExperimentFile, scale: str, condition: str, variant: str) -> dict[str, Any]:
    """The dotted overrides of a scale for one curve: `set` for all, then each matching pattern of `per`."""
    block = experiment.scale_block(scale)
    keys = dict(block.get("set") or {})
    for pattern, values in (block.get("per") or {}).items():
        if fnmatchcase(f"{condition}/{variant}", pattern):
            keys |= values
    return keys


def settings_of(
    experiment: ExperimentFile, scale: str, data: str, condition: str, variant: str, option: str
) -> dict[str, Any]:
    """The resolved settings of one curve before any search: file, condition, variant, option, scale, in this
    order.

    What is said of cells is not of guests: the block of one has as `budget` the cell of the variant that it
    is to equal in parameters, resolved for the same curve.
    """
    settings: dict[str, Any] = {
        "task": copy.deepcopy(experiment.task),
        "model": copy.deepcopy(experiment.model),
        "cell": None,
        "training": copy.deepcopy(experiment.training),
    }
    dataset = experiment.dataset
    for key, value in condition_keys(experiment, condition, variant).items():
        if key == "dataset":
            dataset = value
        else:
            put(settings, key, value)
    block = {
        k: copy.deepcopy(v) for k, v in experiment.variants[variant].items() if "." not in k and k != "label"
    }
    if "cell" in block:
        settings["cell"] = {"name": block.pop("cell")} | (settings["cell"] or {}) | block
    else:
        settings["model"] |= {"name": block.pop("model")} | block
    dotted = {key: value for key, value in experiment.variants[variant].items() if "." in key}
    for keys in (
        dotted,
        option_keys(experiment, condition, variant, option),
        scale_keys(experiment, scale, condition, variant),
    ):
        for key, value in keys.items():
            put(settings, key, value)
    if "budget" in block:
        like = settings_of(experiment, scale, data, condition, block["budget"], option)
        settings["cell"] = {key: settings["cell"][key] for key in ("name", "file")} | {"budget": like["cell"]}
    settings["dataset"] = (dataset["real"] if data == "real" else dataset["stand_in"]) if dataset else None
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
    for pattern, more in (search.get("per") or {}).items():
        if fnmatchcase(variant, pattern):
            keys |= more
    fixed = option_keys(experiment, condition, variant, option)
    if "budget" in experiment.variants[variant]:
        keys = {key: values for key, values in keys.items() if "cell." not in key}
    return {key: values for key, values in keys.items() if not set(key.split(",")) & fixed.keys()}


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
        raise ValueError(
            f"stage {stage!r} with data {data!r}; stages are search, final and data are embedded, real"
        )
    if experiment.kind != "train":
        return []
    block = experiment.scale_block(scale)
    found = []
    for condition, variant, option in curves(experiment, scale):
        base = settings_of(experiment, scale, data, condition, variant, option)
        keys = grid(experiment, scale, condition, variant, option)
        names = tuple(name for key in keys for name in key.split(","))
        if stage == "search":
            seeds = range(
                SEARCH_SEED, SEARCH_SEED + int((experiment.search.get("select") or {}).get("seeds", 1))
            )
            places = list(enumerate(points(keys))) if keys else []
        else:
            seeds = range(int(block.get("seeds", 1)))
            places = [(0, (chosen or {}).get((condition, variant, option), {}) if keys else {})]
        for point, values in places:
            settings = copy.deepcopy(base)
            for key, value in values.items():
                put(settings, key, value)
            found += [
                Replica(
                    experiment.paper, experiment.name, scale, condition, variant, option, stage, point, seed,
                    settings, names,
                )
                for seed in seeds
            ]  # fmt: skip
    return found


def cohorts(found: Iterable[Replica], size: int) -> list[list[Replica]]:
    """`found` cut into cohorts of at most `size` replicas of equal shape, in a fixed order."""
    shapes: dict[str, list[Replica]] = {}
    for replica in found:
        shapes.setdefault(replica.shape, []).append(replica)
    return [group[start : start + size] for group in shapes.values() for start in range(0, len(group), size)]
