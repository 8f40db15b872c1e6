"""The table of sources and data sets: what exists, where it comes from, what may be passed on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML


@dataclass(frozen=True)
class Packed:
    """A packed copy of a file: form, size in bytes, sha256, path below a mirror, public addresses."""

    form: str
    size: int
    sha256: str
    mirror: str
    urls: tuple[str, ...] = ()


@dataclass(frozen=True)
class File:
    """One file of a source: name, size in bytes, sha256, path below a mirror, public addresses."""

    name: str
    size: int
    sha256: str
    mirror: str
    urls: tuple[str, ...]
    packed: Packed | None = None


@dataclass(frozen=True)
class Source:
    """Where data come from: title, home page, licence, what may be passed on, files."""

    name: str
    title: str
    home: str
    licence: str
    redistribution: str
    files: tuple[File, ...]


@dataclass(frozen=True)
class Entry:
    """One data set: its kind, its source or the package read instead, its splits and counted facts."""

    name: str
    title: str
    kind: str
    splits: str
    preprocessing: tuple[str, ...]
    licence: str
    redistribution: str
    source: str | None = None
    package: str | None = None
    stands_in_for: str | None = None
    counted: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stand_in(self) -> bool:
        """True for embedded data in place of a paper's."""
        return self.stands_in_for is not None


def _read(name: str) -> dict[str, Any]:
    return YAML(typ="safe").load(Path(__file__).with_name(name).read_text(encoding="utf-8"))


@cache
def sources() -> dict[str, Source]:
    """All sources by name."""
    table = {}
    for name, block in _read("sources.yaml").items():
        files = []
        for one in block["files"]:
            packed = one.get("packed")
            if packed is not None:
                packed = Packed(**{**packed, "urls": tuple(packed.get("urls", ()))})
            files.append(File(**{**one, "urls": tuple(one["urls"]), "packed": packed}))
        table[name] = Source(**{**block, "name": name, "files": tuple(files)})
    return table


@cache
def entries() -> dict[str, Entry]:
    """All data sets by name; those with a source have its licence and redistribution."""
    table = {}
    for name, block in _read("datasets.yaml").items():
        origin = {}
        if "source" in block:
            source = sources()[block["source"]]
            origin = {"licence": source.licence, "redistribution": source.redistribution}
        table[name] = Entry(
            **{**origin, **block, "name": name, "preprocessing": tuple(block["preprocessing"])}
        )
    return table


def source(name: str) -> Source:
    """The source of that name; ValueError names those that exist."""
    if name not in sources():
        raise ValueError(f"no source is called {name!r}; there are {', '.join(sources())}")
    return sources()[name]


def entry(dataset: str) -> Entry:
    """The data set of that name; ValueError names those that exist."""
    if dataset not in entries():
        raise ValueError(f"no data set is called {dataset!r}; there are {', '.join(entries())}")
    return entries()[dataset]


def names() -> tuple[str, ...]:
    """The names of all data sets."""
    return tuple(entries())


def source_of(dataset: str) -> str | None:
    """The source that `dataset` is prepared from; None for a stand-in, read from an installed package."""
    return entry(dataset).source


def files_of(name: str) -> tuple[str, ...]:
    """The names of the files of the source `name`, as they lie in <raw folder>/<name>/."""
    return tuple(file.name for file in source(name).files)


def kind_of(dataset: str) -> str:
    """The kind of `dataset`: images or polyphony."""
    return entry(dataset).kind


def card(dataset: str) -> dict[str, Any]:
    """What a reader must know of `dataset` before using it.

    Keys: dataset, title, kind, stand_in, stands_in_for, source, package, home, licence, redistribution,
    splits, preprocessing (list), counted (the facts that are counted again), files (name, size in bytes,
    sha256, urls).
    """
    found = entry(dataset)
    origin = source(found.source) if found.source else None
    return {
        "dataset": dataset,
        "title": found.title,
        "kind": found.kind,
        "stand_in": found.stand_in,
        "stands_in_for": found.stands_in_for,
        "source": found.source,
        "package": found.package,
        "home": origin.home if origin else None,
        "licence": found.licence,
        "redistribution": found.redistribution,
        "splits": found.splits,
        "preprocessing": list(found.preprocessing),
        "counted": dict(found.counted),
        "files": [
            {"name": file.name, "size": file.size, "sha256": file.sha256, "urls": list(file.urls)}
            for file in (origin.files if origin else ())
        ],
    }
