"""The words that experiment files may use, read from the rooms' sources without importing them.

A cell, a model and a task are classes with a line `name: ClassVar[str] = "..."`; their annotated fields are
the keys that the file may give. So a new cell is one file, and checking needs no torch.
"""

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tensor_rnns.experiments.digest import PACKAGE, declared_name, digest, of_room, of_source

GIVEN = {
    "cells": {"inputs"},
    "models": {"inputs", "outputs", "symbols", "cell", "engine"},
    "tasks": {"dataset", "batch_size"},
}
"""Fields that the program fills in: a file may not give them."""


@dataclass(frozen=True)
class Word:
    """A named class of a room: where it stands and which keys it takes ({key: (annotation, required)})."""

    name: str
    path: Path
    keys: Mapping[str, tuple[str, bool]]

    @property
    def digest(self) -> str:
        """The digest of its code, without docstrings and without the other named classes of its file."""
        return of_source(self.path, self.name)


@cache
def words(room: str, guests: tuple[Path, ...] = ()) -> dict[str, Word]:
    """Every named class of `room`, with the classes of the files `guests` beside them."""
    found: dict[str, Word] = {}
    for path in (*sorted((PACKAGE / room).glob("*.py")), *guests):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in tree.body:
            name = declared_name(node)
            if name is None or not isinstance(node, ast.ClassDef):
                continue
            fields = {
                key: field
                for part in lineage(tree, node)
                for key, field in annotated(part).items()
                if key not in GIVEN[room]
            }
            if name in found:
                raise ValueError(f"{path}: {name!r} is already the name of a class in {found[name].path}")
            found[name] = Word(name, path, fields)
    return found


def lineage(tree: ast.Module, node: ast.ClassDef) -> list[ast.ClassDef]:
    """The class `node` after those of its bases that stand in the same module, the furthest first."""
    classes = {one.name: one for one in tree.body if isinstance(one, ast.ClassDef)}
    bases = [classes[base] for base in map(ast.unparse, reversed(node.bases)) if base in classes]
    found = [part for base in bases for part in lineage(tree, base)]
    return [*dict.fromkeys(found), node]


def annotated(node: ast.ClassDef) -> dict[str, tuple[str, bool]]:
    """The fields that a class itself declares: {name: (annotation, without a default)}."""
    return {
        line.target.id: (ast.unparse(line.annotation), line.value is None)
        for line in node.body
        if isinstance(line, ast.AnnAssign)
        and isinstance(line.target, ast.Name)
        and not ast.unparse(line.annotation).startswith("ClassVar")
    }


@cache
def modules_with(room: str, function: str) -> tuple[str, ...]:
    """The modules of `room` that define `function` at their top: kinds of drawing."""
    trees = {path.stem: module(room, path.stem) for path in sorted((PACKAGE / room).glob("*.py"))}
    return tuple(
        name
        for name, tree in trees.items()
        if any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body)
    )


@cache
def computes_on_data(source: Path) -> bool:
    """Whether the computed function in the file `source` takes a data set beside its arguments."""
    found = {node.name: node for node in ast.parse(source.read_text(encoding="utf-8")).body
             if isinstance(node, ast.FunctionDef)}  # fmt: skip
    return len(found["compute"].args.args) > 1


@cache
def module(room: str, name: str) -> ast.Module:
    """The syntax tree of one module of `room`."""
    return ast.parse((PACKAGE / room / f"{name}.py").read_text(encoding="utf-8"))


def assigned(room: str, name: str, target: str) -> ast.expr:
    """What the module `name` of `room` assigns to `target` at its top; ValueError where it does not."""
    return assigned_in(module(room, name), target)


def assigned_in(tree: ast.Module, target: str) -> ast.expr:
    """What a module assigns to `target` at its top; ValueError where it does not."""
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and node.value and ast.unparse(node.target) == target:
            return node.value
        if isinstance(node, ast.Assign) and target in [ast.unparse(one) for one in node.targets]:
            return node.value
    raise ValueError(f"the module has no {target}")


def literal(room: str, name: str, target: str) -> Any:
    """The same as a value, where it is written out as a literal."""
    return ast.literal_eval(assigned(room, name, target))


def literal_in(source: Path, target: str) -> Any:
    """What the file `source` assigns to `target` as a literal."""
    return ast.literal_eval(assigned_in(ast.parse(source.read_text(encoding="utf-8")), target))


def table(room: str, name: str, target: str) -> list[tuple[str, ast.expr]]:
    """The same as (key, expression), where it is a dict with literal keys."""
    found = assigned(room, name, target)
    if not isinstance(found, ast.Dict):
        raise ValueError(f"{room}/{name}.py: {target} is no table")
    return [
        (ast.literal_eval(key), value)
        for key, value in zip(found.keys, found.values, strict=True)
        if key is not None
    ]


@cache
def optimisers() -> dict[str, dict[str, str]]:
    """The optimisers that the trainer offers, each with its options: {name: {option: annotation}}."""
    fields = {
        node.name: {
            line.target.id: ast.unparse(line.annotation)
            for line in node.body
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name)
        }
        for node in module("training", "optimisers").body
        if isinstance(node, ast.ClassDef)
    }
    return {name: fields[ast.unparse(kind)] for name, kind in table("training", "optimisers", "OPTIMISERS")}


@cache
def initialisers() -> dict[str, str | None]:
    """The schemes of initial values, each with the name of its argument, None where it takes none."""
    return {
        name: ast.literal_eval(entry.elts[1])
        for name, entry in table("bilinear", "initialisers", "SCHEMES")
        if isinstance(entry, ast.Tuple)
    }


@cache
def measures() -> dict[str, dict[str, str]]:
    """The functions among which the measures are, each with its arguments: {name: {argument: annotation}}."""
    return {
        node.name: {one.arg: ast.unparse(one.annotation) for one in node.args.kwonlyargs if one.annotation}
        for node in module("analysis", "measures").body
        if isinstance(node, ast.FunctionDef)
    }


def models_around_a_cell() -> frozenset[str]:
    """The models that have a field `cell`."""
    return models_with("cell")


@cache
def models_with(field: str) -> frozenset[str]:
    """The models that have a certain field, their own or of a base class in the same module."""
    return frozenset(
        name for name, parts in lineages("models").items() if any(field in annotated(part) for part in parts)
    )


@cache
def lineages(room: str) -> dict[str, list[ast.ClassDef]]:
    """Every named class of `room` with its bases in the same module, the furthest first."""
    found = {}
    for path in sorted((PACKAGE / room).glob("*.py")):
        tree = module(room, path.stem)
        for node in tree.body:
            name = declared_name(node)
            if name is not None and isinstance(node, ast.ClassDef):
                found[name] = lineage(tree, node)
    return found


@cache
def tasks_that(attribute: str, value: Any) -> frozenset[str]:
    """The tasks whose class, or a base class in the same module, gives `attribute` this literal value."""
    found = set()
    for name, parts in lineages("tasks").items():
        given = [
            line.value
            for part in parts
            for line in part.body
            if isinstance(line, ast.Assign | ast.AnnAssign)
            and attribute
            in map(ast.unparse, [line.target] if isinstance(line, ast.AnnAssign) else line.targets)
        ]
        if given and isinstance(given[-1], ast.Constant) and given[-1].value == value:
            found.add(name)
    return frozenset(found)


def tasks_without_epochs() -> frozenset[str]:
    """The tasks whose class says `updates_per_epoch = None`: every batch is new."""
    return tasks_that("updates_per_epoch", None)


def code_of(settings: Mapping[str, Any]) -> str:
    """The digest of the code that these settings run: cell, bilinear forms, model and task; docstrings do not
    count.

    The modules that a room's words share (base classes, loading) count with their whole text.
    """
    file = (settings.get("cell") or {}).get("file")
    guests = () if file is None else (Path(file),)
    parts: dict[str, Any] = {"bilinear": of_room("bilinear")}
    asked = {
        "cells": (settings.get("cell") or {}).get("name"),
        "models": settings["model"].get("name"),
        "tasks": settings["task"]["name"],
    }
    for room, name in asked.items():
        known = words(room, guests if room == "cells" else ())
        homes = {word.path for word in known.values()}
        shared = {p.name: of_source(p) for p in sorted((PACKAGE / room).glob("*.py")) if p not in homes}
        parts[room] = [shared, known[name].digest if name is not None and name in known else None]
    return digest(parts)
