"""What is wrong with the dotted keys of an experiment file: conditions, variants, options, scales, grids."""

import copy
import difflib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.check_words import (
    BLOCKS,
    Names,
    Place,
    Problem,
    measure_problems,
    reads_test,
    suggestion,
)
from tensor_rnns.experiments.experiment import Experiment

ROOMS = {"task": ("tasks", "name"), "model": ("models", "name"), "cell": ("cells", "name")}
"""Per block of the settings: the room of its classes, and the key that names one."""
COMPUTED = "compute.arguments."


def grids(experiment: Experiment) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Every mapping of dotted keys to lists of values, with its place: in `search` and the scales."""
    blocks: list[tuple[Place, Any]] = [(("search",), experiment.search)]
    blocks += [(("scales", scale, "search"), (block or {}).get("search")) for scale, block in
               experiment.scales.items()]  # fmt: skip
    for place, block in blocks:
        if isinstance(block, Mapping):
            yield (*place, "grid"), block.get("grid") or {}
            for pattern, keys in (block.get("per") or {}).items():
                yield (*place, "per", pattern), keys or {}


def settings_blocks(experiment: Experiment) -> Iterator[tuple[Place, Mapping[str, Any]]]:
    """Every mapping of dotted keys to one value, with its place."""
    for name, block in experiment.conditions.items():
        yield ("conditions", name), {key: value for key, value in (block or {}).items() if key != "per"}
        for pattern, keys in ((block or {}).get("per") or {}).items():
            yield ("conditions", name, "per", pattern), keys or {}
    for name, block in experiment.variants.items():
        yield ("variants", name), {key: value for key, value in block.items() if "." in str(key)}
    for kind in ("options", "scales"):
        for name, block in experiment.block(kind).items():
            yield (kind, name, "set"), (block or {}).get("set") or {}
            for pattern, keys in ((block or {}).get("per") or {}).items():
                yield (kind, name, "per", pattern), keys or {}


def known_keys(experiment: Experiment, training: Collection[str]) -> dict[str, list[str]]:
    """Per block of the settings: the keys that some task, model or cell of this file takes."""
    found = {"training": list(training)}
    for block, (room, naming) in ROOMS.items():
        named = [experiment.block(block).get(naming)] if block != "cell" else []
        named += [variant.get(block) for variant in experiment.variants.values()]
        named += [values.get(f"{block}.{naming}") for _, values in settings_blocks(experiment)]
        words = vocabulary.words(room)
        used = [words[name] for name in named if isinstance(name, str) and name in words] or words.values()
        found[block] = list(dict.fromkeys([naming, *(key for word in used for key in word.keys)]))
    return found


def dotted_problem(key: Any, blocks: Collection[str], known: Mapping[str, Collection[str]]) -> str | None:
    """Why `key` names no setting in one of `blocks`; None where it does."""
    block, _, name = str(key).partition(".")
    if block in blocks:
        names = [f"{block}.{one}" for one in known[block]]
        return None if name in known[block] else f"unknown key {key!r}; {suggestion(key, names)}"
    near = difflib.get_close_matches(str(key), [f"{b}.{one}" for b in blocks for one in known[b]], n=1)
    told = f"did you mean {near[0]!r}? " if near else ""
    return f"unknown key {key!r}; {told}allowed are {', '.join(f'{one}.*' for one in blocks)}"


def override_problems(experiment: Experiment, training: Collection[str]) -> Iterator[Problem]:
    """Every dotted key that names no setting, and every joint key whose values do not fit it."""
    known = known_keys(experiment, training)
    for place, values in settings_blocks(experiment):
        more = ("dataset", "per") if place[0] == "conditions" and place[-2] != "per" else ()
        for key in values:
            if key in more:
                continue
            if problem := dotted_problem(key, BLOCKS, known):
                yield (*place, key), ", ".join((problem, *more))
    for name, block in experiment.conditions.items():
        for pattern in (block or {}).get("per") or {}:
            if not any(fnmatchcase(variant, str(pattern)) for variant in experiment.variants):
                place = ("conditions", name, "per", pattern)
                yield place, f"{pattern!r} matches no variant; {suggestion(pattern, experiment.variants)}"
    for place, values in grids(experiment):
        for key, points in values.items():
            parts = str(key).split(",")
            for part in parts:
                if problem := dotted_problem(part, BLOCKS, known):
                    yield (*place, key), problem
            for point in points if isinstance(points, list) and len(parts) > 1 else ():
                if not isinstance(point, list) or len(point) != len(parts):
                    yield (
                        (*place, key),
                        f"the value {point!r} of the joint key {key!r}; allowed is a list of {len(parts)} "
                        f"values, one for each of {', '.join(parts)}",
                    )


def search_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Patterns that match no variant, a choice on test data, a split that contradicts itself."""
    for place, _ in grids(experiment):
        if place[-2] == "per" and not any(fnmatchcase(name, str(place[-1])) for name in experiment.variants):
            yield place, f"{place[-1]!r} matches no variant; {suggestion(place[-1], experiment.variants)}"
    for scale, block in experiment.scales.items():
        if isinstance((block or {}).get("search"), Mapping) and not experiment.search:
            yield ("scales", scale, "search"), "the file has no block 'search' that this could change"
    select = experiment.search.get("select")
    if not select:
        return
    place = ("search", "select", "measure")
    measure, split = select["measure"], select["split"]
    for message in measure_problems(measure, names, experiment):
        yield place, message
    if reads_test(measure):
        yield (*place, "split"), "a search never chooses on the split 'test'; allowed are train, valid"
    elif measure.get("split", split) != split:
        yield (
            (*place, "split"),
            f"the measure reads the split {measure['split']!r}, select.split is {split!r}; give one of them",
        )
    if measure.get("name") in ("probe", "computed"):
        yield place, f"a search has no {measure['name']}; allowed are the measures of a run's own curves"


def computed_problems(experiment: Experiment) -> Iterator[Problem]:
    """What a scale sets beyond the arguments of a computed experiment."""
    given = experiment.compute.get("arguments") or {}
    allowed = [f"{COMPUTED}{name}" for name in given]
    for scale, block in experiment.scales.items():
        for key in (block or {}).get("set") or {}:
            if key not in allowed:
                yield ("scales", scale, "set", key), f"unknown key {key!r}; {suggestion(key, allowed)}"
        if (block or {}).get("per"):
            yield ("scales", scale, "per"), "a computed experiment has no variants for 'per'; allowed is set"


def computed_data_problems(experiment: Experiment, function: str, names: Names) -> Iterator[Problem]:
    """A data set too many or too few for the computed function, and unknown ones."""
    places: dict[Place, Mapping[str, str]] = {("dataset",): experiment.dataset} if experiment.dataset else {}
    for condition, block in experiment.conditions.items():
        keys = set(block or {})
        if keys != {"dataset"}:
            yield (
                ("conditions", condition),
                f"a condition of a computed experiment has the one key dataset, found {sorted(keys)}",
            )
        if "dataset" in keys:
            places["conditions", condition, "dataset"] = block["dataset"]
    if experiment.dataset and experiment.conditions:
        yield ("dataset",), "a data set for the whole file beside those of its conditions"
    on_data = vocabulary.computes_on_data(names.computed[function])
    if on_data != bool(places):
        told = "needs a data set" if on_data else "takes no data set"
        yield next(iter(places), ("compute", "function")), f"the function {function} {told}"
    for place, block in places.items():
        for key, name in block.items():
            if name not in names.datasets:
                yield (*place, key), f"unknown data set {name!r}; {suggestion(name, names.datasets)}"


def without(experiment: Experiment, places: Collection[Place]) -> Experiment:
    """The experiment without the keys at `places`, so that the rest can still be looked at."""
    content = copy.deepcopy(dict(experiment.content))
    for place in places:
        block: Any = content
        for part in place[:-1]:
            block = block[part]
        block.pop(place[-1], None)
    return replace(experiment, content=content)
