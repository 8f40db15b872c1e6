"""Digests of settings and of code, so that a job runs again exactly when what it depends on has changed."""

import ast
import atexit
import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import cache
from pathlib import Path
from typing import Any

from tensor_rnns import files

PACKAGE = Path(__file__).resolve().parents[1]
TREES: dict[str, str] = {}
"""What was found in syntax trees, by the SHA-256 of their text and what was asked for."""
ROOMS = ("cells", "models", "tasks")
KEPT = 5000
"""Findings that are written for the next process."""


def digest(content: Any) -> str:
    """Sixteen hexadecimal digits of the SHA-256 of `content` written as canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def without_docstrings(tree: ast.Module) -> ast.Module:
    """`tree` with the docstrings of modules, classes and functions removed, in place."""
    for node in ast.walk(tree):
        documented = isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        if documented and ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:] or [ast.Pass()]
    return tree


def dumped(tree: ast.AST) -> str:
    """`tree` in the words of Python 3.11: what was recorded under one version counts under a later one."""
    whole = {"show_empty": True} if sys.version_info >= (3, 13) else {}
    return ast.dump(tree, **whole).replace(", type_params=[]", "")


def declared_name(node: ast.stmt) -> str | None:
    """The value of `name = "..."` in a class body, which is how a cell, model or task says its own name."""
    for line in node.body if isinstance(node, ast.ClassDef) else ():
        match line:
            case (
                ast.Assign(targets=[ast.Name(id="name"), *_], value=ast.Constant(value=text))
                | ast.AnnAssign(target=ast.Name(id="name"), value=ast.Constant(value=text))
            ):
                return text
    return None


def kept(path: Path) -> AbstractContextManager:
    """Has the digests of syntax trees that an earlier process left in `path`, unless other code made them."""
    own = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    of = f"syntax trees of Python {sys.version_info[0]}.{sys.version_info[1]}, code {own[:16]}"
    return files.kept(path, TREES, of, KEPT)


def keep(path: Path) -> None:
    """Have what is `kept` until this process ends."""
    stack = ExitStack()
    stack.enter_context(kept(path))
    atexit.register(stack.close)


@cache
def of_source(path: Path, name: str | None = None) -> str:
    """The digest of a module's syntax tree; with `name`, without its other named classes.

    Comments, docstrings and layout do not count. In a family file the cells beside `name` do not count
    either, so that a change of the GRU leaves the LSTM's finished runs alone, unless `name` uses them, as one
    that inherits from another does.
    """

    def found(tree: ast.Module) -> str:
        if name is not None:
            used = used_by(name, tree)
            tree.body = [node for node in tree.body if declared_name(node) is None or node in used]
        return hashlib.sha256(dumped(tree).encode()).hexdigest()[:16]

    return remembered(path, name or "", found)


def used_by(name: str, tree: ast.Module) -> set[ast.stmt]:
    """The class that declares `name`, and what its module defines and it names, itself or by others."""
    by_name = {getattr(node, "name", None): node for node in tree.body}
    for node in tree.body:
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        by_name |= {target.id: node for target in targets if isinstance(target, ast.Name)}
    used: set[ast.stmt] = set()
    found = {node for node in tree.body if declared_name(node) == name}
    while found:
        used |= found
        words = {it.id for node in found for it in ast.walk(node) if isinstance(it, ast.Name)}
        found = {by_name[word] for word in words & by_name.keys()} - used
    return used


def remembered(path: Path, what: str, found: Callable[[ast.Module], str]) -> str:
    """`found` of the module's syntax tree without docstrings, once for its text and `what`."""
    text = path.read_text(encoding="utf-8")
    key = f"{hashlib.sha256(text.encode()).hexdigest()} {what}"
    if key not in TREES:
        TREES[key] = found(without_docstrings(ast.parse(text)))
    return TREES[key]


def of_module(path: Path) -> str:
    """The digest of a module and of the modules of its room that it imports, directly or by others."""
    return digest({module.name: of_source(module) for module in reached(path)})


@cache
def reached(path: Path) -> tuple[Path, ...]:
    """The module and those of its room and of ROOMS that it imports, directly or by others."""
    modules = {path}
    while more := {file for module in modules for file in imported(module)} - modules:
        modules |= more
    return tuple(sorted(modules))


@cache
def imported(path: Path) -> list[Path]:
    """The modules of the room of `path` and of ROOMS that it imports."""
    rooms, files = {path.parent.name, *ROOMS}, set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(home)):
                names = [home, *(f"{home}.{name.name}" for name in node.names)]
            case ast.Import():
                names = [name.name for name in node.names]
            case _:
                continue
        inside = [name.split(".")[1:] for name in names if name.startswith(f"{PACKAGE.name}.")]
        files |= {PACKAGE.joinpath(*parts).with_suffix(".py") for parts in inside}
    return sorted(file for file in files if file.parent.name in rooms and file.exists())


@cache
def of_folder(folder: Path) -> str:
    """The digest of every module, and within the package of every other text, in a folder and below."""
    digests = {path: of_source(path) for path in folder.rglob("[!.]*.py")}
    if PACKAGE in folder.resolve().parents:
        texts = [path for path in folder.rglob("[!.]*.*") if path.suffix not in (".py", ".pyc")]
        digests |= {path: digest(path.read_text(encoding="utf-8")) for path in texts}
    return digest({path.relative_to(folder).as_posix(): digests[path] for path in sorted(digests)})


def of_room(room: str) -> str:
    """The digest of every module of a room of the package."""
    return of_folder(PACKAGE / room)


@cache
def sources(room: str) -> dict[str, Path]:
    """The file of every named class of a room, by its name; ValueError where two have one name."""
    files: dict[str, Path] = {}
    for path in sorted((PACKAGE / room).glob("[!.]*.py")):
        for name in declared_in(path):
            if name in files:
                raise ValueError(f"{path}: {name!r} is the name of a class in {files[name]} already")
            files[name] = path
    return files


@cache
def declared_in(path: Path) -> tuple[str, ...]:
    """The names of the classes of a file that say their own."""
    tree = ast.parse(path.read_text(encoding="utf-8"), path.name)
    return tuple(name for node in tree.body if (name := declared_name(node)) is not None)


def check_decorated(path: Path) -> None:
    """ValueError for a named class of a file that has fields of its own and no decorator makes them any: they
    would be attributes, which no block can set."""
    for node in ast.parse(path.read_text(encoding="utf-8"), path.name).body:
        if declared_name(node) is not None and not node.decorator_list:
            notes = {line.target: line.annotation for line in node.body if isinstance(line, ast.AnnAssign)}
            own = [ast.unparse(name) for name, note in notes.items() if "ClassVar" not in ast.unparse(note)]
            if own:
                told = f"the class {node.name} has the fields {', '.join(own)} and no decorator"
                raise ValueError(f"{path}:{node.lineno}: {told}; needed above it: @dataclass(frozen=True)")


def read_rooms() -> None:
    """Have at hand what `code_of` reads of every module: it took half of a short job's time."""
    for room in ("bilinear", *ROOMS):
        of_room(room)
        for path in (*sources(room).values(), PACKAGE / room / "__init__.py"):
            reached(path)


def code_of(settings: Mapping[str, Any]) -> str:
    """The digest of the code that these settings run: cell, bilinear forms, model and task; docstrings do not
    count.

    What the module of a class or its room's `__init__` imports of the room without naming a class (base
    classes, loading) counts with its whole text, and so do the modules of other named classes that it imports
    of any of ROOMS, such as those that it inherits from.
    """
    cell = settings.get("cell") or {}
    parts: dict[str, Any] = {"bilinear": of_room("bilinear")}
    model, task = settings["model"].get("name"), settings["task"]["name"]
    named = {path for room in ROOMS for path in sources(room).values()}
    for room, name in zip(ROOMS, (cell.get("name"), model, task), strict=True):
        home = Path(cell["file"]) if room == "cells" and "file" in cell else sources(room).get(name)
        ours = reached(home) if home is not None else ()
        shared = {it for it in {*ours, *reached(PACKAGE / room / "__init__.py")} if it.parent.name == room}
        above = [of_source(path) for path in ours if path in named and path != home]
        own = of_source(home, name) if home is not None else None
        parts[room] = [{path.name: of_source(path) for path in sorted(shared - named - {home})}, own, *above]
    return digest(parts)
