"""The words that experiment files may use, read from the rooms' sources without importing them.

A cell, a shell and a task are classes with a line `name: ClassVar[str] = "..."`; their annotated fields are
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
    "models": {"inputs", "outputs", "cell", "run"},
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
                line.target.id: (ast.unparse(line.annotation), line.value is None)
                for line in node.body
                if isinstance(line, ast.AnnAssign)
                and isinstance(line.target, ast.Name)
                and not ast.unparse(line.annotation).startswith("ClassVar")
                and line.target.id not in GIVEN[room]
            }
            if name in found:
                raise ValueError(f"{path}: {name!r} is already the name of a class in {found[name].path}")
            found[name] = Word(name, path, fields)
    return found


@cache
def modules_with(room: str, function: str) -> tuple[str, ...]:
    """The modules or packages of `room` that define `function` at their top: kinds of drawing, computed
    functions."""
    found = []
    for path in sorted((PACKAGE / room).iterdir()):
        source = path / "__init__.py" if path.is_dir() else path
        if source.suffix != ".py" or not source.exists() or path.name == "__init__.py":
            continue
        tree = ast.parse(source.read_text(encoding="utf-8"))
        if any(isinstance(node, ast.FunctionDef) and node.name == function for node in tree.body):
            found.append(path.stem)
    return tuple(found)


@cache
def optimisers() -> tuple[str, ...]:
    """The optimisers that the trainer offers, read from its table."""
    tree = ast.parse((PACKAGE / "training" / "optimisers.py").read_text(encoding="utf-8"))
    for node in tree.body:
        if (
            isinstance(node, ast.AnnAssign)
            and isinstance(node.value, ast.Dict)
            and ast.unparse(node.target) == "OPTIMISERS"
        ):
            return tuple(ast.literal_eval(key) for key in node.value.keys if key is not None)
    raise ValueError("training/optimisers.py has no table OPTIMISERS")


def code_of(settings: Mapping[str, Any], guests: tuple[Path, ...] = ()) -> str:
    """The digest of the code that these settings run: cell, bilinear forms, shell and task; docstrings do not
    count.

    The modules that a room's words share (base classes, loading) count with their whole text.
    """
    parts: dict[str, Any] = {"bilinear": of_room("bilinear")}
    asked = {
        "cells": (settings.get("cell") or {}).get("name"),
        "models": settings["model"].get("shell"),
        "tasks": settings["task"]["name"],
    }
    for room, name in asked.items():
        known = words(room, guests if room == "cells" else ())
        homes = {word.path for word in known.values()}
        shared = {p.name: of_source(p) for p in sorted((PACKAGE / room).glob("*.py")) if p not in homes}
        parts[room] = [shared, known[name].digest if name is not None and name in known else None]
    return digest(parts)
