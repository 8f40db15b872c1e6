"""Classes that experiment files call by name (cells, models, tasks): finding them, building them, checking
fields.

Such a class is a dataclass with a literal line `name: ClassVar[str] = "..."`; its fields are the keys of its
block. Field rules, checked on construction: an int is at least 1, a float is a number, a Literal is one of
its values, a field of type `str | dict` is an initialiser, `int | None` may also be none. Fields `form` and
`rank` together are a bilinear form and its rank.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Mapping
from types import ModuleType
from typing import Any, Literal, get_args, get_origin

from tensor_rnns.bilinear import rank_problem
from tensor_rnns.bilinear.initialisers import parse


def classes(room: ModuleType, base: type) -> dict[str, type]:
    """Every class in the modules of `room` that extends `base` and says its own name."""
    found = {}
    for module in pkgutil.iter_modules(room.__path__, room.__name__ + "."):
        for thing in vars(importlib.import_module(module.name)).values():
            if isinstance(thing, type) and issubclass(thing, base) and "name" in vars(thing):
                found[thing.name] = thing
    return found


def find(kind: str, known: Mapping[str, type], name: Any) -> type:
    """known[name], or ValueError with the names that are allowed."""
    if name not in known:
        raise ValueError(f"{kind} {name!r} is not known; allowed: {', '.join(sorted(known))}")
    return known[name]


def construct(kind: str, chosen: type, given: Mapping[str, Any], provided: Mapping[str, Any]) -> Any:
    """`chosen` from the keys `given` in a block and those that the program provides (where the class has
    them).

    An unknown key, a missing one, or a value that breaks a field rule raises ValueError naming given and
    allowed.
    """
    fields = {field.name: field for field in dataclasses.fields(chosen)}
    allowed = [key for key in fields if key not in provided]
    if unknown := sorted(given.keys() - set(allowed)):
        options = ", ".join(allowed) or "nothing"
        raise ValueError(f"{kind} {chosen.name}: {', '.join(unknown)} given; allowed: {options}")
    needed = {key for key in allowed if fields[key].default is fields[key].default_factory}
    if missing := sorted(needed - given.keys()):
        stated = ", ".join(given) or "nothing"
        raise ValueError(f"{kind} {chosen.name}: {', '.join(missing)} asked for; given: {stated}")
    return chosen(**given, **{key: value for key, value in provided.items() if key in fields})


def check_fields(kind: str, instance: Any) -> None:
    """ValueError that lists every field of `instance` that breaks a field rule."""
    problems = []
    for field in dataclasses.fields(instance):
        value, rule = getattr(instance, field.name), None
        whole = isinstance(value, int) and not isinstance(value, bool) and value >= 1
        if field.type is int and not whole:
            rule = "a whole number of at least 1"
        elif field.type == int | None and not (value is None or whole):
            rule = "none, a whole number of at least 1"
        elif field.type is float and (isinstance(value, bool) or not isinstance(value, int | float)):
            rule = "a number"
        elif field.type is bool and not isinstance(value, bool):
            rule = "true, false"
        elif get_origin(field.type) is Literal and value not in get_args(field.type):
            rule = ", ".join(map(str, get_args(field.type)))
        if rule:
            problems.append(f"{field.name} = {value!r} given; allowed: {rule}")
        if field.type == str | dict:
            try:
                parse(value)
            except ValueError as error:
                problems.append(f"{field.name}: {error}")
    has_tensor = {"form", "rank"} <= {field.name for field in dataclasses.fields(instance)}
    if has_tensor and not problems and (problem := rank_problem(instance.form, instance.rank)):
        problems.append(problem)
    if problems:
        raise ValueError(f"{kind} {instance.name}: " + "; ".join(problems))
