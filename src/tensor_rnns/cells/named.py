"""Classes that experiment files call by name (cells, models, tasks): finding them, and building them.

Such a class is a dataclass with a literal line `name: ClassVar[str] = "..."`; its fields are the keys of its
block and its annotations their rules, see `tensor_rnns.declared`.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any, get_origin

from tensor_rnns.bilinear import rank_problem
from tensor_rnns.declared import PLAIN, Invalid, Reading, hints, problems, suggestion


def classes(room: ModuleType, base: type) -> dict[str, type]:
    """Every class in the modules of `room` that extends `base` and says its own name."""
    found = {}
    for module in pkgutil.iter_modules(room.__path__, room.__name__ + "."):
        found |= classes_of(importlib.import_module(module.name), base)
    return found


def classes_of(module: ModuleType, base: type) -> dict[str, type]:
    """The same for one module."""
    types = [thing for thing in vars(module).values() if isinstance(thing, type) and issubclass(thing, base)]
    return {found.name: found for found in types if "name" in vars(found)}


def find(kind: str, known: Mapping[str, type], name: Any) -> type:
    """known[name], or ValueError with the names that are allowed."""
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"unknown {kind} {name!r}; {suggestion(name, known)}")
    return known[name]


def construct(kind: str, chosen: type, given: Mapping[str, Any], provided: Mapping[str, Any]) -> Any:
    """`chosen` from the keys `given` in a block and those that the program provides (where the class has
    them).

    ValueError with every unknown or missing key, and every value that breaks the rule of its field.
    """
    what = f"{kind} {chosen.name}"
    if found := [message.removeprefix(f"{what} ") for _, message in problems(chosen, given, what, provided)]:
        raise ValueError(f"{what}: {'; '.join(found)}")
    fields = {field.name for field in dataclasses.fields(chosen)}
    return chosen(**given, **{key: value for key, value in provided.items() if key in fields})


def check_fields(kind: str, instance: Any) -> None:
    """ValueError that lists every field of `instance` that breaks a rule; `form` and `rank` are a bilinear
    form and its rank."""
    reading, names = Reading(), {field.name for field in dataclasses.fields(instance)}
    for name, rule in hints(type(instance)).items():
        # A cell, an engine or another object that the program hands over has no rule.
        if name in names and (rule in PLAIN or get_origin(rule)):
            reading.value(rule, getattr(instance, name), (name,))
    if reading.problems:
        raise ValueError(f"{kind} {instance.name}: {'; '.join(message for _, message in reading.problems)}")
    if {"form", "rank"} <= names:
        problem = rank_problem(instance.form, instance.rank)
        if problem:
            raise Invalid("rank" if instance.rank else "", f"{kind} {instance.name}: {problem}")
