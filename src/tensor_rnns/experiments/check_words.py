"""What is wrong with the words of an experiment file: cells, models, tasks, initialisers, measures,
selectors."""

import ast
import difflib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensor_rnns.experiments import vocabulary
from tensor_rnns.experiments.experiment import Experiment
from tensor_rnns.experiments.selector import MAIN

Place = tuple[str | int, ...]
Problem = tuple[Place, str]
SPLITS = ("train", "valid", "test", "none")
CHOICES = {
    "split": SPLITS,
    "against": SPLITS,
    "best": ("lowest", "highest"),
    "kind": ("difference", "ratio"),
    "reduce": ("mean", "median", "minimum", "maximum", "sum", "last"),
    "unit": ("one", "baseline"),
}
"""Arguments of measures that are one of a few words."""
BLOCKS = ("task", "model", "cell", "training")
READ_OUT = ("weight", "bias")
FORM = "cp"
"""The form of a tensor where a block does not say it: the default of every cell and model that has one."""


@dataclass(frozen=True)
class Names:
    """What lies in rooms above this one, handed in: data sets, the arguments of each measure (name -> allowed
    keys), the data sets that are used in both data modes, the source of each computed function and probe."""

    datasets: Collection[str]
    measures: Callable[[str], Mapping[str, bool]]
    packaged: Collection[str]
    computed: Mapping[str, Path]
    probes: Mapping[str, Path]


def suggestion(asked: Any, allowed: Collection[Any]) -> str:
    """The allowed names, with the nearest one first where the asked one looks like a slip."""
    near = difflib.get_close_matches(str(asked), [str(name) for name in allowed], n=1)
    told = ", ".join(sorted(map(str, allowed))) or "none"
    return (f"did you mean {near[0]!r}? " if near else "") + f"allowed are {told}"


def is_number(value: Any) -> bool:
    """Whether `value` is a number and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether `value` is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def initialiser_problem(scheme: Any) -> str | None:
    """Why `scheme` names no initial values; None where it does."""
    known = vocabulary.initialisers()
    name, argument = scheme, None
    if isinstance(scheme, Mapping):
        if len(scheme) != 1:
            return f"an initialiser has one name, {dict(scheme)} given; {suggestion('', known)}"
        ((name, argument),) = scheme.items()
    elif isinstance(scheme, str) and (match := re.fullmatch(r"(\w+)\((.+)\)", scheme)):
        name, argument = match[1], match[2]
    if not isinstance(name, str) or name not in known:
        return f"unknown initialiser {name!r}; {suggestion(name, known)}"
    wanted = known[name]
    if wanted is None:
        return None if argument is None else f"the initialiser {name!r} takes no argument, {argument!r} given"
    try:
        float("" if argument is None or isinstance(argument, bool) else argument)
    except (TypeError, ValueError):
        return f"the initialiser {name!r} takes the number {wanted}, {argument!r} given"
    return None


def read_out_problem(schemes: Any) -> str | None:
    """Why `schemes` are no initialisers of a read-out; None where they are."""
    if not isinstance(schemes, Mapping):
        return f"read_out is {schemes!r}; allowed are initialisers under {', '.join(READ_OUT)}"
    for key, scheme in schemes.items():
        if key not in READ_OUT:
            return f"read_out has no key {key!r}; {suggestion(key, READ_OUT)}"
        if problem := initialiser_problem(scheme):
            return f"read_out.{key}: {problem}"
    return None


def typed_problem(key: str, value: Any, annotation: str) -> str | None:
    """Why `value` is not of the annotated kind; None where it is."""
    if annotation == "int" and not is_whole(value):
        return f"{key} is {value!r}; allowed is a whole number of at least 1"
    if annotation == "int | None" and not (value is None or is_whole(value)):
        return f"{key} is {value!r}; allowed is none (null) or a whole number of at least 1"
    if annotation == "float" and not is_number(value):
        return f"{key} is {value!r}; allowed is a number"
    if annotation == "bool" and not isinstance(value, bool):
        return f"{key} is {value!r}; allowed are true, false"
    if annotation.startswith("Literal["):
        allowed = ast.literal_eval(f"({annotation.removeprefix('Literal[').removesuffix(']')},)")
        if value not in allowed:
            return f"{key} is {value!r}; {suggestion(value, allowed)}"
    if annotation == "str | dict" and (problem := initialiser_problem(value)):
        return f"{key}: {problem}"
    if key == "read_out":
        return read_out_problem(value)
    return None


def word_problems(room: str, kind: str, name: Any, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, message) for whatever keeps a cell, model or task with the keys `given` from being built; the key
    is "" where its name is at fault."""
    known = vocabulary.words(room)
    if not isinstance(name, str) or name not in known:
        yield "", f"unknown {kind} {name!r}; {suggestion(name, known)}"
        return
    keys = known[name].keys
    for key, value in given.items():
        if key not in keys:
            yield key, f"{kind} {name} has no key {key!r}; {suggestion(key, keys)}"
        elif problem := typed_problem(key, value, keys[key][0]):
            yield key, f"{kind} {name}: {problem}"
    for key, (annotation, required) in keys.items():
        if required and key not in given:
            yield "", f"{kind} {name} needs the key {key!r} ({annotation})"
    if {"form", "rank"} <= keys.keys():
        form, rank = given.get("form", FORM), given.get("rank")
        if form == "full" and rank is not None:
            yield "rank", f"{kind} {name}: rank is {rank!r}; a full tensor has none"
        elif form in ("cp", "tensor_train") and rank is None:
            yield (
                "",
                f"{kind} {name} needs the key 'rank' (a whole number) with the form {form}",
            )


def argument_problem(key: str, value: Any, annotation: str) -> str | None:
    """Why `value` is no argument of the annotated kind of a measure; None where it is."""
    kinds = annotation.split(" | ")
    if "float" in kinds and not is_number(value):
        return f"{key} is {value!r}; allowed is a number"
    if "int" in kinds and not (isinstance(value, int) and not isinstance(value, bool)):
        return f"{key} is {value!r}; allowed is a whole number"
    if "str" in kinds and not isinstance(value, str):
        return f"{key} is {value!r}; allowed is a name"
    return None


def measure_problems(measure: Any, names: Names, experiment: Experiment) -> Iterator[str]:
    """Why a measure block cannot be evaluated."""
    if not isinstance(measure, Mapping) or "name" not in measure:
        yield f"{measure!r} is no measure; allowed is {{name: ..., its arguments}}"
        return
    try:
        allowed = names.measures(measure["name"])
    except (ValueError, TypeError) as error:
        yield str(error)
        return
    types = vocabulary.measures().get(measure["name"], {})
    for key, needed in allowed.items():
        if needed and key not in measure:
            yield f"the measure {measure['name']} needs {key!r}"
    for key, value in measure.items():
        if key != "name" and key not in allowed:
            yield f"the measure {measure['name']} has no argument {key!r}; {suggestion(key, allowed)}"
        elif key in CHOICES and value not in CHOICES[key]:
            yield f"{key} of the measure {measure['name']} is {value!r}; {suggestion(value, CHOICES[key])}"
        elif key != "name" and (problem := argument_problem(key, value, types.get(key, ""))):
            yield f"the measure {measure['name']}: {problem}"
    if measure["name"] == "probe" and "probe" in measure and str(measure["probe"]) not in experiment.probes:
        yield f"unknown probe {measure['probe']!r}; {suggestion(measure['probe'], experiment.probes)}"
    key = measure.get("key") if measure["name"] == "setting" else None
    if isinstance(key, str) and key.partition(".")[0] not in BLOCKS:
        yield f"unknown setting {key!r}; allowed are {', '.join(f'{block}.*' for block in BLOCKS)}"
    if "per" in measure and "per" in allowed:
        yield from (f"per: {message}" for message in measure_problems(measure["per"], names, experiment))


def reads_test(measure: Any) -> bool:
    """Whether a measure, or one that divides it, reads the test split."""
    return isinstance(measure, Mapping) and (
        "test" in (measure.get("split"), measure.get("against")) or reads_test(measure.get("per"))
    )


def known_names(experiment: Experiment) -> dict[str, Collection[str]]:
    """The values that each key of a selector may have in this file."""
    return {
        "condition": list(experiment.conditions) or ["only"],
        "variant": list(experiment.variants),
        "option": [MAIN, *experiment.options],
        "stage": ["search", "final"],
        "split": SPLITS,
    }


def where_problems(
    where: Any,
    experiment: Experiment,
    names: Names,
    keys: Collection[str],
    single: Collection[str] = (),
    every: bool = True,
) -> Iterator[Problem]:
    """Keys and values of a selector that the file does not define, each with its place in the selector.

    `keys` are allowed; those in `single` take one value; `every` tells whether `all` is understood.
    """
    if not isinstance(where, Mapping):
        yield (), f"{where!r} is no selector; allowed is a mapping of {', '.join(keys)}"
        return
    known = known_names(experiment) | {"dataset": names.datasets}
    for key, value in where.items():
        if key not in keys:
            yield (key,), f"unknown key {key!r} in where; {suggestion(key, keys)}"
        elif key in single and isinstance(value, list):
            yield (key,), f"{key} is {value!r}; allowed is one of {', '.join(known[key])}"
        elif value == []:
            yield (
                (key,),
                f"{key} is an empty list, which selects nothing; {suggestion('', known.get(key, []))}",
            )
        elif value == "all" and every and key not in single:
            continue
        elif key in known:
            for name in value if isinstance(value, list) else [value]:
                if name not in known[key]:
                    yield (key,), f"unknown {key} {name!r}; {suggestion(name, known[key])}"
