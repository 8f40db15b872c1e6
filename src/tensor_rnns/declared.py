"""What a thing accepts is said by its own declaration, a dataclass; blocks of YAML are held against it here.

An annotation is the rule of a key: `int` is a whole number from 1 to a billion (sizes and counts), `float` a
finite number, `bool` true or false, `str` a text, `Literal` one of its values, `X | None` also none,
`tuple[X, ...]` a list, `dict[K, V]` a mapping, another dataclass a mapping of its fields and no other key.
The types below say more. A field `as_` is the key `as`. Rules between fields stand in `__post_init__`,
raising `Invalid`. Every problem is found at once, with its location, a path of keys; a library would report
one for each member of a union, at places that are not in the file.
"""

import dataclasses
import inspect
import math
import re
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from tensor_rnns.messages import suggestion

Location = tuple[str | int, ...]
Problem = tuple[Location, str]
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
NAMED = "letters, digits and . _ + -, the first a letter or digit"
LARGEST = 10**9
"""The largest size or count, and the most parameters of a model."""


class Invalid(ValueError):
    """A value that breaks a rule: the keys that lead to it (none for the whole block), what is wrong."""

    def __init__(self, key: str, message: str, *deeper: str | int) -> None:
        super().__init__(message)
        self.key = key
        self.location: Location = (key, *deeper) if key else ()


def unknown(location: Location, what: str, name: Any, allowed: Collection[Any]) -> Iterator[Problem]:
    """A problem where `name` is not among the allowed."""
    if name not in allowed:
        yield location, f"unknown {what} {name!r}; {suggestion(name, allowed)}"


def is_number(value: Any) -> bool:
    """Whether `value` is a finite number and not true or false."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max


def is_name(value: Any) -> bool:
    """Whether `value` may become a path, a wildcard or an argument of a command."""
    return isinstance(value, str) and NAME.fullmatch(value) is not None


def is_whole(value: Any, least: float = -math.inf) -> bool:
    """Whether `value` is a whole number from `least` to a billion and not true or false."""
    return type(value) is int and least <= value <= LARGEST


@dataclasses.dataclass(frozen=True)
class Rule:
    """What a value must be: in words, and a test that answers, or raises ValueError with what is wrong."""

    words: str
    test: Callable[[Any], Any]


@dataclasses.dataclass(frozen=True)
class ByName:
    """A block that says by `key` which of the `known` declarations its other keys are of, but for the fields
    `provided`, which are none of its keys."""

    what: str
    key: str
    known: Callable[[], Mapping[str, Any]]
    provided: Collection[str] = ()


PLAIN: dict[Any, Rule] = {
    int: Rule("a whole number from 1 to a billion", lambda value: is_whole(value, 1)),
    float: Rule("a number", is_number),
    bool: Rule("true, false", lambda value: isinstance(value, bool)),
    str: Rule("a text", lambda value: isinstance(value, str)),
    dict: Rule("a mapping", lambda value: isinstance(value, Mapping)),
    type(None): Rule("none (null)", lambda value: value is None),
    Any: Rule("anything", lambda value: True),
}
"""What the plain types ask of a value."""
Natural = Annotated[int, Rule("a whole number from 0 to a billion", lambda value: is_whole(value, 0))]
Positive = Annotated[float, Rule("a number above 0", lambda value: is_number(value) and value > 0)]
AtLeastZero = Annotated[float, Rule("a number of at least 0", lambda value: is_number(value) and value >= 0)]
Share = Annotated[float, Rule("a share from 0 to 1", lambda value: is_number(value) and 0 <= value <= 1)]
BelowOne = Annotated[float, Rule("at least 0 and below 1", lambda value: is_number(value) and 0 <= value < 1)]
Name = Annotated[str, Rule(f"a name of {NAMED}", is_name)]
Finite = Annotated[Any, Rule("texts, finite numbers, lists and mappings", lambda value: is_finite(value))]


def is_finite(value: Any) -> bool:
    """Whether plain data holds no number that is not finite."""
    if isinstance(value, Mapping):
        return all(map(is_finite, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


@dataclasses.dataclass
class Reading:
    """What reading a block found: every problem, and every record that could be made, with its location."""

    nulls: bool = False
    """Whether null may be given for a field that is none by default, or the key must be left out."""
    swapped: Mapping[type, type] = dataclasses.field(default_factory=dict)
    """Records to be read in place of others."""
    problems: list[Problem] = dataclasses.field(default_factory=list)
    records: list[tuple[Location, Any]] = dataclasses.field(default_factory=list)

    def refuse(self, location: Location, message: str) -> None:
        """Note a problem."""
        self.problems.append((location, message))

    def value(self, kind: Any, value: Any, location: Location = ()) -> Any:
        """`value` as one of `kind`: lists as tuples, mappings as records; itself where a problem is noted."""
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self.annotated(parts[0], parts[1], value, location)
        if origin in (Union, types.UnionType):
            return self.union(parts, value, location)
        if origin is Literal:
            if not any(type(value) is type(part) and value == part for part in parts):
                given = "unknown name" if called(location) == value else f"{called(location)} is"
                self.refuse(location, f"{given} {value!r}; {suggestion(value, parts)}")
            return value
        if origin is tuple:
            return self.listed(kind, parts, value, location)
        if origin in (dict, Mapping):
            if not isinstance(value, Mapping):
                self.refuse(location, f"{called(location)} is {value!r}; allowed is {words(kind)}")
                return value
            for key in value:
                self.value(parts[0], key, (*location, key))
            return {key: self.value(parts[1], item, (*location, key)) for key, item in value.items()}
        if dataclasses.is_dataclass(kind):
            return self.record(self.swapped.get(kind, kind), value, location)
        return self.annotated(kind, PLAIN[kind], value, location)

    def annotated(self, kind: Any, rule: Any, value: Any, location: Location) -> Any:
        """`value` by the rule of an annotation."""
        if isinstance(rule, ByName):
            return self.named(rule, value, location)
        try:
            fits = rule.test(value)
        except ValueError as error:
            self.refuse(location, f"{called(location)}: {error}")
        else:
            if not fits:
                self.refuse(location, f"{called(location)} is {value!r}; allowed is {rule.words}")
        return value

    def union(self, parts: tuple[Any, ...], value: Any, location: Location) -> Any:
        """`value` as the first of the kinds that takes it, else the problems of the one it looks like."""
        tried: list[Reading] = []
        if not self.nulls and value is not None:
            parts = tuple(kind for kind in parts if kind is not type(None))
        for kind in parts:
            own = Reading(self.nulls, self.swapped)
            made = own.value(kind, value, location)
            if not own.problems:
                self.records += own.records
                return made
            tried.append(own)
        alike = [own for own in tried if any(len(where) > len(location) for where, _ in own.problems)]
        if len(alike) == 1 or len(tried) == 1:
            self.problems += (alike or tried)[0].problems
        else:
            allowed = " or ".join(words(kind) for kind in parts)
            self.refuse(location, f"{called(location)} is {value!r}; allowed is {allowed}")
        return value

    def listed(self, kind: Any, parts: tuple[Any, ...], value: Any, location: Location) -> Any:
        """`value` as a tuple: of any length, or of as many as are annotated."""
        same = len(parts) == 2 and parts[1] is Ellipsis
        if not isinstance(value, list | tuple) or not (same or len(value) == len(parts)):
            self.refuse(location, f"{called(location)} is {value!r}; allowed is {words(kind)}")
            return value
        kinds = [parts[0]] * len(value) if same else parts
        return tuple(self.value(item_kind, item, (*location, at))
                     for at, (item_kind, item) in enumerate(zip(kinds, value, strict=True)))  # fmt: skip

    def named(self, rule: ByName, value: Any, location: Location) -> Any:
        """`value` as the declaration that it names."""
        if not isinstance(value, Mapping) or rule.key not in value:
            self.refuse(location, f"{value!r} is no {rule.what}; allowed is {{{rule.key}: ..., its keys}}")
            return value
        name, known = value[rule.key], rule.known()
        if not isinstance(name, str) or name not in known:
            self.refuse((*location, rule.key), f"unknown {rule.what} {name!r}; {suggestion(name, known)}")
            return value
        rest = {key: given for key, given in value.items() if key != rule.key}
        made = self.record(known[name], rest, location, f"{rule.what} {name}", rule.provided)
        if made is not rest:
            object.__setattr__(made, "block", value)
        return made

    def record(
        self, kind: Any, value: Any, location: Location = (), what: str = "", provided: Collection[str] = ()
    ) -> Any:
        """The record `kind` of a mapping; the fields `provided` are none of its keys, and it is not made."""
        fields = {name: field for name, field in keys(kind).items() if name not in provided}
        if not isinstance(value, Mapping):
            allowed = f"a mapping of {', '.join(fields) or 'nothing'}"
            self.refuse(location, f"{what or called(location)} is {value!r}; allowed is {allowed}")
            return value
        before, made = len(self.problems), {}
        for key, given in value.items():
            if key not in fields:
                foreign = f"{what} has no key {key!r}" if what else f"unknown key {key!r}"
                self.refuse((*location, key), f"{foreign}; {suggestion(key, fields)}")
            elif given is None and fields[key].default is None and not self.nulls:
                self.refuse((*location, key), f"{key} is none (null); leave the key out")
            else:
                made[fields[key].name] = self.value(hints(kind)[fields[key].name], given, (*location, key))
        for key, field in fields.items():
            if key not in value and field.default is field.default_factory:
                needs = f"{what} needs" if what else f"{called(location)} needs" if location else "needed is"
                self.refuse(location, f"{needs} the key {key!r} ({words(hints(kind)[field.name])})")
        if len(self.problems) > before or provided:
            return value
        try:
            record = kind(**made)
        except ValueError as error:
            at = (*location, *getattr(error, "location", ()))
            self.refuse(at, f"{what}: {error}" if what else str(error))
            return value
        self.records.append((location, record))
        return record


@cache
def hints(kind: type) -> dict[str, Any]:
    """The annotations of a dataclass, with their rules."""
    return get_type_hints(kind, include_extras=True)


@cache
def keys(kind: type) -> dict[str, dataclasses.Field]:
    """The fields of a dataclass by the keys that they are in a file."""
    return {field.name.removesuffix("_"): field for field in dataclasses.fields(kind) if field.init}


def of_signature(name: str, function: Callable[..., Any], *more: Any, **rest: Any) -> type:
    """The record `name` of what a function takes by keyword alone, and `more` fields; see make_dataclass."""
    kinds = get_type_hints(function, include_extras=True)
    own = [p for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]
    fields = [(p.name, kinds[p.name], *(() if p.default is p.empty else (p.default,))) for p in own]
    return dataclasses.make_dataclass(name, [*fields, *more], frozen=True, kw_only=True, **rest)


def called(location: Location) -> str:
    """How the value at a location is called in a message: its key, and its number in a list."""
    if not location:
        return "it"
    last = location[-1]
    return f"{called(location[:-1])} {last + 1}" if isinstance(last, int) else str(last)


def words(kind: Any) -> str:
    """What a kind allows, in words."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return parts[1].words if isinstance(parts[1], Rule) else f"{{{parts[1].key}: ..., its keys}}"
    if origin in (Union, types.UnionType):
        return " or ".join(map(words, parts))
    if origin is Literal:
        return f"one of {', '.join(map(str, parts))}"
    if origin is tuple:
        same = f"a list of {words(parts[0])}"
        return same if parts[-1] is Ellipsis else f"a list of {len(parts)}: {', '.join(map(words, parts))}"
    if origin in (dict, Mapping):
        return f"a mapping, each value {words(parts[1])}"
    if dataclasses.is_dataclass(kind):
        return f"a mapping of {', '.join(keys(kind))}"
    return PLAIN[kind].words


def problems(kind: Any, value: Any, what: str = "", provided: Collection[str] = ()) -> list[Problem]:
    """Everything that keeps a record `kind` from being made of a mapping."""
    reading = Reading(nulls=True)
    reading.record(kind, value, (), what, provided)
    return reading.problems


def build(kind: Any, value: Mapping[str, Any], what: str, reading: Reading | None = None) -> Any:
    """The record `kind` of a mapping by the rules of `reading`; ValueError with every problem of it."""
    reading = reading or Reading()
    record = reading.record(kind, value, (), what)
    if reading.problems:
        raise ValueError("; ".join(f"{what}: {message}" for _, message in reading.problems))
    return record
