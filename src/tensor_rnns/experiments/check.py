"""Everything that is wrong with the experiment files, found before any job: all errors at once, with file and
line."""

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.catalogue import PAPER_FILE, read_experiment, read_yaml
from tensor_rnns.experiments.check_claims import claim_problems
from tensor_rnns.experiments.records import SCALES, Experiment
from tensor_rnns.experiments.resolve import MAIN, curves, grid, points, put, settings_of

Problem = tuple[tuple[str | int, ...], str]


@dataclass(frozen=True)
class Names:
    """What lies in rooms above this one, handed in: data sets, and the arguments of each measure (name ->
    allowed keys)."""

    datasets: Collection[str]
    measures: Callable[[str], Collection[str]]


def suggestion(asked: str, allowed: Collection[str]) -> str:
    """The allowed names, with the nearest one first where the asked one looks like a slip."""
    near = difflib.get_close_matches(str(asked), [str(name) for name in allowed], n=1)
    return (
        f"did you mean {near[0]!r}? " if near else ""
    ) + f"allowed are {', '.join(sorted(map(str, allowed)))}"


def line_of(tree: Any, place: tuple[str | int, ...]) -> int:
    """The line (1 is the first) of a key in a round-trip YAML tree; that of its nearest parent where it has
    none."""
    line = 1
    for part in place:
        try:
            line = tree.lc.key(part)[0] + 1 if isinstance(tree, dict) else tree.lc.item(part)[0] + 1
            tree = tree[part]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line


def schema_problems(content: Any, schema: Mapping[str, Any]) -> Iterator[Problem]:
    """Every violation of the schema."""
    for error in sorted(
        Draft202012Validator(schema).iter_errors(content), key=lambda e: [str(p) for p in e.absolute_path]
    ):
        message = error.message
        if error.validator == "additionalProperties" and isinstance(error.schema.get("properties"), dict):
            allowed = error.schema["properties"]
            for key in sorted(set(error.instance) - set(allowed)):
                yield (*error.absolute_path, key), f"unknown key {key!r}; {suggestion(key, allowed)}"
        elif error.validator == "oneOf" and error.validator_value[0].get("required"):
            choices = [
                " and ".join(choice["required"]) for choice in error.validator_value if "required" in choice
            ]
            yield (
                tuple(error.absolute_path),
                f"exactly one of {' or '.join(choices)} must be given; given are {sorted(error.instance)}",
            )
        else:
            yield tuple(error.absolute_path), message


def typed_problem(key: str, value: Any, annotation: str) -> str | None:
    """Why `value` is not of the annotated kind; None where it is."""
    if annotation == "int" and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        return f"{key} is {value!r}; allowed is a whole number of at least 1"
    if annotation == "float" and (not isinstance(value, int | float) or isinstance(value, bool)):
        return f"{key} is {value!r}; allowed is a number"
    if annotation.startswith("Literal["):
        import ast

        allowed = ast.literal_eval(f"({annotation.removeprefix('Literal[').removesuffix(']')},)")
        if value not in allowed:
            return f"{key} is {value!r}; {suggestion(value, allowed)}"
    return None


def word_problems(
    room: str, kind: str, name: Any, given: Mapping[str, Any], ignore: Collection[str] = ()
) -> Iterator[str]:
    """Why a cell, shell or task with the keys `given` cannot be built."""
    known = vocabulary.words(room)
    if name not in known:
        yield f"unknown {kind} {name!r}; {suggestion(str(name), known)}"
        return
    keys = known[name].keys
    for key, value in given.items():
        if key in keys:
            problem = typed_problem(key, value, keys[key][0])
            if problem:
                yield f"{kind} {name}: {problem}"
        elif key not in ignore:
            yield f"{kind} {name} has no key {key!r}; {suggestion(key, keys)}"
    for key, (annotation, required) in keys.items():
        if required and key not in given:
            yield f"{kind} {name} needs the key {key!r} ({annotation})"


def settings_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """What is wrong with the settings that the file resolves to, at every scale, for every curve and grid
    point."""
    for name, condition in experiment.conditions.items():
        for key in condition or {}:
            if key != "dataset" and key.partition(".")[0] not in ("task", "model", "training"):
                yield (
                    ("conditions", name, key),
                    f"{key!r} is no setting; allowed are dataset, task.*, model.*, training.*",
                )
    reported: set[str] = set()
    for scale in SCALES:
        if scale not in experiment.scales:
            yield ("scales",), f"the scale {scale!r} is missing; needed are {', '.join(SCALES)}"
            continue
        for condition, variant, option in curves(experiment, scale):
            try:
                base = settings_of(experiment, scale, "real", condition, variant, option)
                keys = grid(experiment, scale, condition, variant, option)
                candidates = points(keys)
            except (ValueError, KeyError, TypeError) as error:
                yield (
                    ("variants", variant),
                    f"cannot be resolved at {scale} for {condition}/{option}: {error}",
                )
                continue
            for values in candidates:
                settings = {k: dict(v) if isinstance(v, dict) else v for k, v in base.items()}
                for key, value in values.items():
                    put(settings, key, value)
                for message in resolved_problems(settings, names):
                    if message not in reported:
                        reported.add(message)
                        yield ("variants", variant), message


def resolved_problems(settings: Mapping[str, Any], names: Names) -> Iterator[str]:
    """What is wrong with one resolved setting."""
    task = {key: value for key, value in settings["task"].items() if key != "name"}
    yield from word_problems("tasks", "task", settings["task"].get("name"), task)
    model = {key: value for key, value in settings["model"].items() if key != "shell"}
    yield from word_problems("models", "shell", settings["model"].get("shell"), model, ignore=("read_out",))
    if settings["cell"] is not None:
        cell = {key: value for key, value in settings["cell"].items() if key != "name"}
        yield from word_problems("cells", "cell", settings["cell"]["name"], cell)
    optimiser = settings["training"].get("optimiser")
    kind = optimiser["name"] if isinstance(optimiser, Mapping) else optimiser
    if kind not in vocabulary.optimisers():
        yield f"unknown optimiser {kind!r}; {suggestion(str(kind), vocabulary.optimisers())}"
    if settings["dataset"] is not None and settings["dataset"] not in names.datasets:
        yield f"unknown data set {settings['dataset']!r}; {suggestion(settings['dataset'], names.datasets)}"


def reference_problems(experiment: Experiment) -> Iterator[Problem]:
    """Names of conditions, variants and options that the file uses and does not define."""
    known = {
        "conditions": list(experiment.conditions) or ["only"],
        "variants": list(experiment.variants),
        "options": [MAIN, *experiment.options],
    }
    for scale, block in experiment.scales.items():
        for kind, allowed in known.items():
            for name in (block or {}).get(kind, []):
                if name not in allowed:
                    yield (
                        ("scales", scale, kind),
                        f"unknown {kind[:-1]} {name!r}; {suggestion(name, allowed)}",
                    )
    for option, block in experiment.options.items():
        for kind in ("conditions", "variants"):
            for name in block.get(kind, []):
                if name not in known[kind]:
                    yield (
                        ("options", option, kind),
                        f"unknown {kind[:-1]} {name!r}; {suggestion(name, known[kind])}",
                    )
        for pattern in block.get("per") or {}:
            places = [f"{c}/{v}" for c in known["conditions"] for v in known["variants"]]
            if not any(fnmatchcase(place, pattern) for place in places):
                yield (
                    ("options", option, "per", pattern),
                    f"{pattern!r} matches no condition/variant; {suggestion(pattern, places)}",
                )
    stand_in = experiment.dataset.get("stand_in")
    if stand_in is not None and experiment.dataset.get("real") == stand_in:
        yield ("dataset",), f"the stand-in {stand_in!r} is the real data set itself"


def experiment_problems(experiment: Experiment, names: Names) -> Iterator[Problem]:
    """Everything that is wrong with one file of valid form."""
    if experiment.kind == "train":
        missing = [
            block
            for block in ("task", "model", "training", "variants", "scales")
            if not experiment.block(block)
        ]
        if missing:
            yield (), f"an experiment of kind train needs the blocks {', '.join(missing)}"
            return
        references = list(reference_problems(experiment))
        yield from references
        if not references:
            yield from settings_problems(experiment, names)
    else:
        function = experiment.compute.get("function")
        allowed = vocabulary.modules_with("compute", "compute")
        if function not in allowed:
            yield (
                ("compute", "function"),
                f"unknown function {function!r}; {suggestion(str(function), allowed)}",
            )
    kinds = vocabulary.modules_with("drawing", "draw")
    for name, spec in experiment.block("artefacts").items():
        if spec["draw"] not in kinds:
            yield (
                ("artefacts", name, "draw"),
                f"unknown kind of drawing {spec['draw']!r}; {suggestion(spec['draw'], kinds)}",
            )
        if "measure" in spec:
            for message in measure_problems(spec["measure"], names):
                yield ("artefacts", name, "measure"), message
        for value in spec.get("beside") or []:
            if value not in experiment.paper_values:
                yield (
                    ("artefacts", name, "beside"),
                    f"unknown paper value {value!r}; {suggestion(value, experiment.paper_values)}",
                )
    functions = vocabulary.modules_with("probes", "probe")
    for name, spec in experiment.probes.items():
        if spec["function"] not in functions:
            yield (
                ("probes", name, "function"),
                f"unknown probe {spec['function']!r}; {suggestion(spec['function'], functions)}",
            )
    select = experiment.search.get("select") or {}
    for message in measure_problems(select["measure"], names) if select else ():
        yield ("search", "select", "measure"), message
    yield from claim_problems(experiment, lambda measure: measure_problems(measure, names), suggestion)


def measure_problems(measure: Mapping[str, Any], names: Names) -> Iterator[str]:
    """Why a measure block cannot be evaluated."""
    try:
        allowed = names.measures(measure.get("name"))
    except ValueError as error:
        yield str(error)
        return
    for key, needed in allowed.items():
        if needed and key not in measure:
            yield f"the measure {measure['name']} needs {key!r}"
    for key in set(measure) - {"name"} - set(allowed):
        yield f"the measure {measure['name']} has no argument {key!r}; {suggestion(key, allowed)}"


def check(root: Path, schema: Path, names: Names, shown: Path | None = None) -> list[str]:
    """Every problem of the files below `root`, one line each: file:line: key: what is wrong; [] when all is
    well.

    Paths are printed relative to `shown` where they lie below it.
    """
    found: list[str] = []
    rules = read_yaml(schema)
    owner: dict[tuple[str, str, str], Path] = {}
    for path in sorted(root.glob("*/*.yaml")):
        if path.name == PAPER_FILE:
            continue
        short = path.relative_to(shown) if shown and path.is_relative_to(shown) else path
        try:
            content = read_yaml(path)
        except ValueError as error:
            found.append(str(error).replace(str(path), str(short)))
            continue
        problems = list(schema_problems(content, rules))
        if not problems:
            experiment = read_experiment(path)
            problems = list(experiment_problems(experiment, names))
            for kind in ("artefacts", "claims"):
                for name in experiment.block(kind):
                    other = owner.setdefault((experiment.paper, kind, name), path)
                    if other != path:
                        problems.append(
                            ((kind, name), f"{name!r} stands in {other.name} already; an id has one home")
                        )
        tree = YAML(typ="rt").load(path.read_text(encoding="utf-8")) if problems else None
        found += [
            f"{short}:{line_of(tree, place)}: {'.'.join(map(str, place)) or 'file'}: {message}"
            for place, message in problems
        ]
    return found
