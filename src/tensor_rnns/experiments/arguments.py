"""The arguments of probes: what each takes, and what is wrong with those that a file gives."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tensor_rnns.experiments.check_words import is_number, is_whole

Takes = Mapping[str, Sequence[Any]]
"""The table ARGUMENTS of a probe: by name the kind of an argument, then its default where it has one."""


def is_texts(value: Any) -> bool:
    """Whether `value` is a list of two texts."""
    return isinstance(value, list | tuple) and len(value) == 2 and all(isinstance(one, str) for one in value)


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "whole": (is_whole, "a whole number of at least 1"),
    "seed": (
        lambda value: is_whole(value) or (value == 0 and type(value) is int),
        "a whole number from 0 on",
    ),
    "positive": (
        lambda value: is_number(value) and math.isfinite(value) and value > 0,
        "a finite number above 0",
    ),
    "text": (lambda value: isinstance(value, str), "a text"),
    "texts": (is_texts, "a list of two texts"),
}
"""The kinds of arguments, each with what it asks of a value; `a|b` is one of the words a and b."""


def fits(kind: str, value: Any) -> bool:
    """Whether `value` is of this kind."""
    return KINDS[kind][0](value) if kind in KINDS else value in kind.split("|")


def allowed(takes: Takes) -> str:
    """What a probe takes, in words."""
    found = []
    for name, (kind, *default) in takes.items():
        words = KINDS[kind][1] if kind in KINDS else f"one of {', '.join(kind.split('|'))}"
        found.append(f"{name} ({words}{f', {default[0]} where it is left out' if default else ''})")
    return ", ".join(found) or "no arguments"


def problems(takes: Takes, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(key, message) for each argument that is unknown, of another kind, or missing with "" as its key."""
    for key, value in given.items():
        if key not in takes:
            yield key, f"{key!r} is no argument of it"
        elif not fits(takes[key][0], value):
            yield key, f"{key} is {value!r}"
    for key, (_, *default) in takes.items():
        if not default and key not in given:
            yield "", f"{key!r} is missing"
