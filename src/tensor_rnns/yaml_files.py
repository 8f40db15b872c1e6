"""YAML as plain data that knows its lines: parsed by libyaml, built here in one pass, without recursion.

Plain words resolve by the core schema of YAML 1.2 (PyYAML's own are those of 1.1: `on` is true, `1e-4` is
text). Not read are tags, keys that are not scalars or stand twice, and text beyond the limits below: whatever
a hostile file asks for, time and memory stay in proportion to its size.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn

import yaml

from tensor_rnns.messages import shortened

MOST_CHARACTERS = 1 << 23
MOST_DEPTH = 100
MOST_NODES = 1 << 20
MOST_DIGITS = 1000
"""Limits: characters of a text, containers within one another, values once every alias is written out, and
digits of a whole number; longer ones stay text."""
PARSER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
CONSTANTS: dict[str, bool | float | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **{word: float("nan") for word in (".nan", ".NaN", ".NAN")},
}
INTEGER = re.compile(r"[-+]?[0-9]+")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
NUMBER_BEGINS = frozenset("+-.0123456789")


class InvalidYaml(ValueError):
    """Text that is not YAML as it is read here: `line` (1 is the first) and `problem`."""

    def __init__(self, line: int, problem: str) -> None:
        self.line, self.problem = line, shortened(problem, 500)
        super().__init__(f"line {line}: not YAML: {self.problem}")


@dataclass(frozen=True)
class Document:
    """Plain data, not to be changed, and the lines of their parts by the identity of the container."""

    content: Any
    lines: dict[int, dict[Any, int] | list[int]] = field(repr=False)

    def line_of(self, path: Iterable[str | int]) -> int:
        """The line (from 1) of the key or item at `path`; that of its nearest parent where there is none."""
        line, part = 1, self.content
        for key in path:
            try:
                line, part = self.lines[id(part)][key], part[key]
            except (LookupError, TypeError):
                break
        return line


def read(path: Path | str) -> Document:
    """The document in a file; ValueError, with file and line, where it is not YAML."""
    try:
        return parse(text_of(Path(path)))
    except InvalidYaml as error:
        raise ValueError(f"{path}:{error.line}: not YAML: {error.problem}") from None


def text_of(path: Path) -> str:
    """The text of a file without a byte order mark; ValueError, with file and line, where it is not UTF-8."""
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        reason = f"{error.reason}: byte 0x{content[error.start]:02x}"
        raise ValueError(f"{path}:{line}: not UTF-8: {reason}") from None


@lru_cache(maxsize=256)
def parse(text: str) -> Document:
    """The one document in `text`; InvalidYaml where it is none. Kept: a workflow reads each file often."""
    if len(text) > MOST_CHARACTERS:
        raise InvalidYaml(1, f"{len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    builder = Builder()
    try:
        for event in yaml.parse(text, PARSER):
            builder.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        reason = getattr(error, "problem", None) or " ".join(str(error).split())
        raise InvalidYaml(mark.line + 1 if mark else 1, reason) from None
    return Document(builder.root[0] if builder.root else None, builder.lines)


@dataclass
class Container:
    """A mapping or sequence that is being filled; a key that waits for its value has a line already."""

    values: dict[Any, Any] | list[Any]
    lines: dict[Any, int] | list[int]
    anchor: str | None = None
    nodes_before: int = 0


class Builder:
    """Plain data from the events of a parser."""

    def __init__(self) -> None:
        self.root: list[Any] = []
        self.lines: dict[int, dict[Any, int] | list[int]] = {}
        self.open = [Container(self.root, [])]
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.nodes, self.line = 0, 1

    def take(self, event: yaml.Event) -> None:
        """Follow one event; InvalidYaml for what is not read."""
        kind, self.line = type(event), event.start_mark.line + 1
        if kind in (yaml.ScalarEvent, yaml.MappingStartEvent, yaml.SequenceStartEvent):
            if event.tag is not None:
                self.refuse(f"the tag {event.tag!r}; tags are not read")
            if kind is yaml.ScalarEvent:
                value = resolve(event.value) if event.implicit[0] else event.value
                self.add(value, 1)
                if event.anchor is not None:
                    self.anchors[event.anchor] = (value, 1)
            elif len(self.open) > MOST_DEPTH:
                self.refuse(f"nested more than {MOST_DEPTH} deep")
            else:
                parts = ({}, {}) if kind is yaml.MappingStartEvent else ([], [])
                self.add(parts[0], 1)
                self.open.append(Container(*parts, event.anchor, self.nodes - 1))
        elif kind in (yaml.MappingEndEvent, yaml.SequenceEndEvent):
            ended = self.open.pop()
            self.lines[id(ended.values)] = ended.lines
            if ended.anchor is not None:
                self.anchors[ended.anchor] = (ended.values, self.nodes - ended.nodes_before)
        elif kind is yaml.AliasEvent:
            if event.anchor not in self.anchors:
                self.refuse(f"the alias *{event.anchor} stands for nothing that ended above it")
            self.add(*self.anchors[event.anchor])
        elif kind is yaml.DocumentStartEvent and self.root:
            self.refuse("a second document; one is expected")

    def add(self, value: Any, nodes: int) -> None:
        """Put a value, which stands for `nodes` values, into the innermost container."""
        self.nodes += nodes
        if self.nodes > MOST_NODES:
            self.refuse(f"more than {MOST_NODES:,} values once its aliases are written out")
        into = self.open[-1]
        if isinstance(into.values, list):
            into.values.append(value)
            into.lines.append(self.line)
        elif len(into.lines) > len(into.values):
            into.values[next(reversed(into.lines))] = value
        elif isinstance(value, dict | list):
            self.refuse("a mapping or list as a key; keys are single words")
        elif value in into.values:
            self.refuse(f"the key {value!r} stands twice")
        else:
            into.lines[value] = self.line

    def refuse(self, problem: str) -> NoReturn:
        """InvalidYaml at the line that has been reached."""
        raise InvalidYaml(self.line, problem)


def resolve(word: str) -> str | int | float | bool | None:
    """What a plain word stands for by the core schema of YAML 1.2."""
    if word in CONSTANTS:
        return CONSTANTS[word]
    if word[0] in NUMBER_BEGINS:
        if INTEGER.fullmatch(word):
            return int(word) if len(word) < MOST_DIGITS else word
        if FLOAT.fullmatch(word):
            return float(word)
    return word
