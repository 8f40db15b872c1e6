"""Names of experiment files turned into functions: `texts` stands in a generic room, `mathews2016.theory` in
the folder of that paper. This is the one place that knows where they are.
"""

import ast
import hashlib
import importlib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, get_type_hints

from tensor_rnns import compute, datasets, papers, probes
from tensor_rnns.declared import build, of_signature, words
from tensor_rnns.experiments import Experiment, digest
from tensor_rnns.experiments.run_folders import table_name
from tensor_rnns.files import made_by
from tensor_rnns.rows import Rows
from tensor_rnns.training import revisions

ROOMS = {"compute": compute, "probe": probes}
"""The functions that experiment files name, each with the room of those that no paper has for itself."""
OTHER = "made by other code, arguments or data than today's"
CALLED = {"compute": ("compute", "bilinear", *digest.ROOMS, "papers"), "probe": ("probes", "papers")}
"""The rooms whose code counts where such a function uses it; a probe looks at what others trained."""
EVERY = ("families", "names", "classes", "*")
"""What code asks a room for that gives it every class by name, so that it may build all of them."""
BESIDE = re.compile(r"[\w-][\w.-]*\.(?!py$)\w+")
"""The name of a file that is no module."""
OWN = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:16]
"""Of the code that reads contents, which are kept for the next process."""


def sources(function: str) -> dict[str, Path]:
    """{name: source file} of every module or package that defines `function`, "compute" or "probe".

    The generic ones come first; of a paper, only the modules of its folder count, not those below it.
    """
    return defined(function, tuple(papers.__path__))


@cache
def defined(function: str, homes_of_papers: tuple[str, ...]) -> dict[str, Path]:
    """`sources`, read once for these homes of papers."""
    homes = {"": Path(ROOMS[function].__path__[0])}
    homes |= {f"{paper}.": papers.folder(paper) for paper in papers.names()}
    defines = re.compile(rf"^def {function}\(", re.MULTILINE)
    files = {}
    for prefix, home in homes.items():
        for path in sorted([*home.glob("[!.]*.py"), *home.glob("*/__init__.py")]):
            name = path.parent.name if path.name == "__init__.py" and path.parent != home else path.stem
            if defines.search(path.read_text(encoding="utf-8")):
                files[prefix + name] = path
    return files


def source(function: str, name: str) -> Path:
    """The file in which `function` has the name `name`; ValueError listing the allowed names."""
    known = sources(function)
    if name not in known:
        raise ValueError(f"no {function} {name!r}; allowed are {', '.join(known)}")
    return known[name]


def module(function: str, name: str) -> ModuleType:
    """The module in which `function` has the name `name`; ValueError as of `source`."""
    source(function, name)
    paper, _, stem = name.rpartition(".")
    home = papers.__name__ + f".{paper}" if paper else ROOMS[function].__name__
    return importlib.import_module(f"{home}.{stem}")


def arguments(function: str, name: str) -> type:
    """The record of what a computed function or probe takes by keyword alone; ValueError as for `module`, and
    for a parameter whose annotation is missing or no rule."""
    own = getattr(module(function, name), function)
    kinds = get_type_hints(own, include_extras=True)
    for key in [p.name for p in signature(own).parameters.values() if p.kind is p.KEYWORD_ONLY]:
        try:
            words(kinds[key])
        except (KeyError, TypeError):
            line, given = own.__code__.co_firstlineno, kinds.get(key, "none")
            told = f"{source(function, name)}:{line}: the parameter {key!r} has the annotation {given}"
            raise ValueError(f"{told}; allowed are int, Share, ...; see tensor_rnns.declared") from None
    return of_signature("Arguments", own)


def computed(name: str) -> Callable[..., Rows]:
    """What an experiment file calls `name`: from the block of its arguments, and data sets where it counts on
    some, to rows. ValueError as for `module`; the call raises one for other arguments, and for rows that are
    no number (NaN) or stand twice."""
    function, record = module("compute", name).compute, arguments("compute", name)
    return lambda block, *loaded: sound(function(*loaded, **vars(build(record, block, name))), name)


def sound(rows: Rows, name: str) -> Rows:
    """The `rows`; ValueError where one is NaN, or the second of its place."""
    places = set()
    for row in rows:
        place = row["item"], row["name"], row["index"]
        if math.isnan(row["value"]) or place in places:
            found = "nan" if math.isnan(row["value"]) else "a second number"
            where = f"{row['name']} of {row['item']}, index {row['index']}"
            raise ValueError(f"{name} gives {found} for {where}; allowed is one number")
        places.add(place)
    return rows


def probe(name: str) -> Callable[..., tuple[dict[str, Any], Rows]]:
    """The probe that an experiment file calls `name`: from a replica and the block of its arguments to arrays
    and rows. ValueError as for `computed`."""
    function, record = module("probe", name).probe, arguments("probe", name)
    return lambda trained, block: function(trained, **vars(build(record, block, name)))


@cache
def located(module: str, rooms: tuple[str, ...], homes_of_papers: tuple[str, ...]) -> Path | None:
    """The file of a module of these rooms, those of papers outside the package included; None for another.
    Looked for once for these homes of papers."""
    package, *parts = module.split(".")
    home: Path | None = digest.PACKAGE
    if package != digest.PACKAGE.name or not parts or parts[0] not in rooms:
        return None
    if parts[0] == "papers" and len(parts) > 1:
        home, parts = papers.folder(parts[1]), parts[2:]
    if home is None:
        return None
    base = home.joinpath(*parts) if parts else home / "__init__"
    return next((file for file in (base.with_suffix(".py"), base / "__init__.py") if file.is_file()), None)


def texts(content: Any) -> Iterator[str]:
    """Every text in lists and mappings within one another, keys included."""
    if isinstance(content, Mapping):
        content = [*content, *content.values()]
    if isinstance(content, str):
        yield content
    elif isinstance(content, list | tuple):
        for part in content:
            yield from texts(part)


@cache
def contents(path: Path) -> tuple[list[list[str]], set[str], bool]:
    """The modules that a module imports, each with the package that it is of where the name may be another
    thing; the texts in its code; whether it asks a room for EVERY class. ValueError for a relative import."""
    found = digest.remembered(path, f"contents {OWN}", lambda tree: json.dumps(contents_of(path, tree)))
    modules, words, every = json.loads(found)
    # The rooms themselves ask in order to find one, and to list names in a message.
    return modules, set(words), every and path.parent not in [digest.PACKAGE / room for room in digest.ROOMS]


def contents_of(path: Path, tree: ast.Module) -> tuple[list[list[str]], list[str], bool]:
    """`contents`, of any room."""
    nodes = list(ast.walk(tree))
    modules = [[name.name] for node in nodes if isinstance(node, ast.Import) for name in node.names]
    every = False
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in EVERY:
            every |= node.attr == EVERY[0] or getattr(node.value, "id", "") in (*digest.ROOMS, "named")
        if isinstance(node, ast.ImportFrom):
            if node.level:
                whole = f"from {digest.PACKAGE.name}..."
                raise ValueError(f"{path}:{node.lineno}: a relative import; allowed are whole names, {whole}")
            modules += [[f"{node.module}.{name.name}", str(node.module)] for name in node.names]
            every |= any(
                [digest.PACKAGE.name, room] == str(node.module).split(".")[:2] and name.name in EVERY
                for name in node.names for room in digest.ROOMS
            )  # fmt: skip
    return modules, sorted(set(texts([getattr(node, "value", None) for node in nodes]))), every


def called(function: str, name: str, arguments: Any) -> set[Path]:
    """The modules of CALLED that `name` uses, and that which runs it: what it imports, directly or by others;
    of a room from which it builds by name, the classes that a text in that code or in the arguments names.
    ValueError as of `source` and `contents`."""
    where, said = (CALLED[function], tuple(papers.__path__)), set(texts(arguments))
    files: set[Path] = set()
    more = {source(function, name), Path(ROOMS[function].__path__[0]) / "run.py"}
    while more - files:
        files |= more
        read = [contents(file) for file in files]
        words, every = said.union(*(words for _, words, _ in read)), any(asks for _, _, asks in read)
        found = [(located(of, *where) for of in names) for modules, _, _ in read for names in modules]
        more = {file for names in found if (file := next(filter(None, names), None))}
        for room in digest.ROOMS:
            if digest.PACKAGE / room / "__init__.py" in files:
                more |= {file for kind, file in digest.sources(room).items() if every or kind in words}
    return files


def code_of(function: str, name: str, arguments: Any = None) -> str:
    """The digest of the code that `name` may run, without docstrings, and of the files beside it that it
    names, such as a table that it reads."""
    digests = {}
    for file in called(function, name, arguments):
        digests[file] = digest.of_source(file)
        for word in filter(BESIDE.fullmatch, contents(file)[1]):
            if (path := file.with_name(word)).is_file():
                digests[path] = hashlib.sha256(path.read_bytes()).hexdigest()
    return digest.digest(sorted(("/".join(path.parts[-2:]), text) for path, text in digests.items()))


def dataset_digest(dataset: str) -> str:
    """The digest of a data set's entry, of its parser and of what writes the parsed."""
    entry, home = datasets.entry(dataset), digest.PACKAGE / "datasets"
    code = [digest.of_module(home / f"{name}.py") for name in (entry.parser, "ready")]
    return digest.digest([repr(entry), code])


def computed_digest(experiment: Experiment, scale: str, data: str) -> str:
    """The digest of the arguments, the code and the data of a computed experiment at a scale: of engine and
    training their revisions, as in the digest of a trained job."""
    arguments = [experiment.compute, experiment.scale_block(scale)]
    code = code_of("compute", experiment.compute["function"], arguments), revisions.ENGINE, revisions.TRAINING
    counted_on = {key: dataset_digest(name) for key, name in experiment.counted_on(data).items()}
    return digest.digest([*arguments, code, counted_on])


def is_todays(table: Path, experiment: Experiment) -> bool:
    """Whether a computed table is by the code, arguments and data of today; Damaged as of `made_by`."""
    found = made_by(table, table_name(experiment.paper, experiment.name, "paper"))
    known = experiment.compute["function"] in sources("compute")
    return known and found == computed_digest(experiment, "paper", "real")
