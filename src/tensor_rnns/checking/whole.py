"""All that is wrong with the experiment files, by building what they name, each with file and line."""

import importlib.util
import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial, reduce
from operator import getitem
from pathlib import Path
from typing import Any

from tensor_rnns import declared, yaml_files
from tensor_rnns.analysis.measures import declarations
from tensor_rnns.checking.form import ExperimentForm, PaperForm
from tensor_rnns.checking.names import name_problems
from tensor_rnns.declared import NAMED, Location, Problem, Reading, is_name, keys, problems, suggestion
from tensor_rnns.drawing.spec import reading_of
from tensor_rnns.experiments import Experiment, catalogue, digest, ledger, resolve, score, values
from tensor_rnns.experiments.records import KINDS
from tensor_rnns.experiments.tables import NUMBERS, block_of
from tensor_rnns.experiments.titles import FIELD
from tensor_rnns.messages import fault

SHARED = ("artefacts", "claims")
"""Blocks whose ids are known to all files of a paper."""
RESOLVED = {"", *keys(ExperimentForm)} - {
    "cohort_size", "seconds", "guests", "artefacts", "claims", "deviations",
}  # fmt: skip
"""Blocks that an experiment is read and built from: where one is broken, nothing is built."""


def check_papers(folders: Iterable[Path], shown: Path | None) -> list[str]:
    """Every problem of the files in the folders of papers, each once: file:line: key: what is wrong.

    Paths are relative to `shown` where they lie below it. Ids are looked up among all files of a paper, once
    all of them can be read. Where there is no torch, what it would build is not looked at.
    """
    top = f"{shown}/" if shown else ""
    lines = dict.fromkeys(room_problems())
    lines = lines or dict.fromkeys(line for folder in folders for line in paper_problems(folder))
    return [line.removeprefix(top) for line in lines]


def room_problems() -> Iterator[str]:
    """Modules of cells, models and tasks that cannot be read or, where there is torch, imported, names of two
    classes, and fields without a decorator: whatever a file names, all of them are read."""
    with_torch = importlib.util.find_spec("torch") is not None
    for room in digest.ROOMS:
        sound, paths = True, sorted((digest.PACKAGE / room).glob("[!._]*.py"))
        for path in paths:
            try:
                digest.declared_in(path)
                if with_torch:
                    importlib.import_module(f"{digest.PACKAGE.name}.{room}.{path.stem}")
            except Exception as error:  # whatever a module does when it is imported
                sound = False
                yield f"{path}: {fault(error, str(path).__eq__)}"
        try:
            if sound:
                digest.sources(room)
                for path in paths:
                    digest.check_decorated(path)
        except ValueError as error:
            yield str(error)


def paper_problems(folder: Path) -> Iterator[str]:
    """Every problem of the files of one paper, and values of its tables that no file takes; of its header
    alone where that has some, since the other files rest on it."""
    header = folder / catalogue.PAPER_FILE
    # One without a year may say so.
    if wrong := placed(header, partial(problems, PaperForm)) if header.exists() else []:
        yield from wrong
        return
    yield from (f"{path}: the ending .yml; allowed is .yaml" for path in sorted(folder.glob("[!.]*.yml")))
    needed = {values.FILE: catalogue.header_of(folder).get("tolerances")}
    needed[ledger.FILE] = (folder / score.FILE).exists()
    if absent := [name for name, named in needed.items() if named and not (folder / name).exists()]:
        yield f"{folder}: no {' and no '.join(absent)}; other files of the paper name what stands there"
        return
    contents = {path: read(path) for path in catalogue.experiment_files(folder)}
    for path, content in contents.items():
        yield from placed(path, lambda _, at=path, of=content: file_problems(at, of, contents))
    if readable(contents):
        artefacts, claims, _ = shared(contents)
        if contents:
            yield from catalogue.tables_of(folder).homeless([*artefacts])
        if (path := folder / score.FILE).exists():
            known = {*artefacts, *catalogue.header_of(folder).get("catalogue", ())}
            ids = [statement.id for statement in ledger.read(folder)]
            yield from placed(path, lambda content: score.problems(content, ids, known, claims))
        if (folder / ledger.FILE).exists():
            for path, content in contents.items():
                yield from placed(path, lambda _, at=path, of=content: unlisted(at, of))
        yield from caption_problems(folder, artefacts, claims)


def placed(path: Path, problems: Callable[[Any], Iterable[Problem]]) -> list[str]:
    """The `problems` of the content of a file, one line each."""
    try:
        document = yaml_files.read(path)
        found = {
            (document.line_of(location), ".".join(map(str, location)) or "file", message)
            for location, message in problems(document.content)
        }
    except ValueError as error:
        return str(error).splitlines()
    return [f"{path}:{line}: {location}: {message}" for line, location, message in sorted(found)]


def unlisted(path: Path, content: Any) -> Iterator[Problem]:
    """Claims of a file of which neither table of its paper has the id, nor that of a claim that they are part
    of: a report would count them as statements of the paper, unless they are ours."""
    tables = catalogue.tables_of(path.parent)
    ids = {*tables.statements, *(row.id for row in tables.values)}
    for name, spec in block_of(content, "claims").items():
        parts = str(name).split(".")
        homes = {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
        if not homes & ids and not (isinstance(spec, Mapping) and spec.get("ours") is True):
            why = f"{name!r} is in neither {ledger.FILE} nor {values.FILE}, nor is a claim that it is part of"
            yield ("claims", name), f"{why}; {suggestion(name, ids)}; or say ours: true"


def caption_problems(folder: Path, artefacts: Collection[str], claims: Collection[str]) -> Iterator[str]:
    """Files beside captions that are those of no artefact, and fields that name no claim of the paper."""
    for path in sorted(folder.glob("captions/[!.]*[!~]")):
        name = path.name.removesuffix(".md")
        if name == path.name or name not in artefacts:
            allowed = [f"{artefact}.md" for artefact in artefacts]
            yield f"{path}: the caption of no artefact; {suggestion(path.name, allowed)}"
            continue
        try:
            lines = yaml_files.text_of(path).splitlines()
        except ValueError as error:
            yield str(error)
            continue
        for number, line in enumerate(lines, 1):
            for name in sorted({*FIELD.findall(line)} - {*claims}):
                yield f"{path}:{number}: unknown claim {name!r} in a caption; {suggestion(name, claims)}"


def readable(contents: Mapping[Path, Any]) -> bool:
    """Whether all files could be read."""
    return not any(isinstance(content, ValueError) for content in contents.values())


def read(path: Path) -> Any:
    """The content of a file with its tables written out, or the ValueError that says what is no YAML or does
    not fit in them; as it stands where its form is too broken for that."""
    try:
        content = yaml_files.read(path).content
        return catalogue.tables_of(path.parent).complete(content)[0]
    except ValueError as error:
        return error
    except (AttributeError, KeyError, TypeError):
        return content


def file_problems(path: Path, content: Any, paper: Mapping[Path, Any]) -> Iterator[Problem]:
    """Everything that is wrong with one file, given all files of its `paper`; ValueError where it is none."""
    if isinstance(content, ValueError):
        raise content
    for name in (path.parent.name, path.stem):
        if not is_name(name):
            yield (), f"the name {name!r} of a file or folder; allowed are {NAMED}"
            return
    reading = read_form(content)
    yield from (told(content, *problem) for problem in reading.problems)
    for home, other in itertools.product(SHARED, (other for other in paper if other < path)):
        for name in block_of(content, home).keys() & block_of(paper[other], home).keys():
            yield (home, name), f"{name!r} stands in {other.name} already; an id has one home"
    whole = [location for location, _ in read_form(finite(content)).problems] if reading.problems else []
    if not isinstance(content, Mapping) or {location[0] if location else "" for location in whole} & RESOLVED:
        return
    # A number that is not finite is told of already, whatever is built with it.
    told_of = [location for location, _ in reading.problems if location not in whole]
    for location, message in resolved_problems(path, reading, paper):
        if not any(location[: len(home)] == home for home in told_of):
            yield location, message


def read_form(content: Any) -> Reading:
    """A file as an experiment of its kind: what else is wrong where that is misspelt is that of the kind that
    it looks like."""
    kind = content.get("kind") if isinstance(content, Mapping) else None
    reading = reading_of(kind if kind in KINDS else "compute" if block_of(content, "compute") else "train")
    reading.record(ExperimentForm, content)
    return reading


def finite(content: Any) -> Any:
    """The content with 1 in place of each number that is not finite."""
    if isinstance(content, Mapping):
        return {key: finite(part) for key, part in content.items()}
    if isinstance(content, list):
        return [finite(part) for part in content]
    return content if declared.is_finite(content) else 1


def resolved_problems(path: Path, reading: Reading, paper: Mapping[Path, Any]) -> Iterator[Problem]:
    """What is wrong with the names in a file of a sound form, and with what is built from it."""
    experiment = catalogue.read_experiment(path)
    found = [*name_problems(reading.records, experiment, *shared(paper)), *stray_settings(experiment)]
    for location, message in found:
        if readable(paper) or not message.startswith(("unknown claim", "unknown artefact")):
            yield location, message
    # Without the variant that another is to equal there is nothing to build.
    if importlib.util.find_spec("torch") is not None and all(at[:1] != ("variants",) for at, _ in found):
        from tensor_rnns.checking.building import settings_problems
        from tensor_rnns.checking.calls import call_problems

        yield from settings_problems(experiment) if experiment.kind == "train" else ()
        yield from call_problems(experiment)


def stray_settings(experiment: Experiment) -> Iterator[Problem]:
    """Settings that a number of the paper names and no curve of its artefact's file has: they would keep it
    from standing beside any."""
    artefacts, known = experiment.block("artefacts"), set()
    rows = [row for row in catalogue.tables_of(experiment.path.parent).values if row.artefact in artefacts]
    scales = (*experiment.scales, resolve.EVERYWHERE) if experiment.kind == "train" else ()
    for scale in scales if any(row.settings for row in rows) else ():
        for curve in resolve.curves(experiment, scale):
            known |= {key for _, key, _ in resolve.layers(experiment, scale, *curve)}
            known |= {part for joint in resolve.grid(experiment, scale, *curve) for part in joint.split(",")}
    for row in rows:
        for key in row.settings:
            # A block may be written whole, with keys within.
            if not any(key.startswith(f"{name}.") for name in known):
                for location, message in declared.unknown(("artefacts", row.artefact), "setting", key, known):
                    yield location, f"{values.FILE}:{row.line}: settings: {message}"


def told(content: Any, location: Location, message: str) -> Problem:
    """A problem of a block with what the tables of its paper, and the measures of its file, allow besides."""
    try:
        given = reduce(getitem, location, content)
    except (LookupError, TypeError):
        return location, message
    if message.startswith("unknown measure "):
        names = [*declarations(), *block_of(content, "measures")]
        return location, f"unknown measure {given!r}; {suggestion(given, names)}"
    if location[:1] == ("claims",) and location[-1] in NUMBERS and isinstance(given, str):
        message += f", or the id of one in {values.FILE}"
    return location, message


def shared(paper: Mapping[Path, Any]) -> tuple[set[str], set[str], dict[str, list[str]]]:
    """The ids of the artefacts and of the claims of a paper, and what its claims refer to."""
    ids = [{str(name) for content in paper.values() for name in block_of(content, home)} for home in SHARED]
    referred = {
        str(name): [claim for claim in spec["claims"] if isinstance(claim, str)]
        for content in paper.values()
        for name, spec in block_of(content, "claims").items()
        if isinstance(spec, Mapping) and isinstance(spec.get("claims"), list)
    }
    return ids[0], ids[1], referred
