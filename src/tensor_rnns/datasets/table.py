"""The table of sources and data sets: what exists, where it comes from, what may be passed on."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tensor_rnns.declared import build
from tensor_rnns.yaml_files import read


@dataclass(frozen=True)
class Packed:
    """A packed copy of a file: form, size in bytes, sum, path below a mirror, public addresses.

    Of an archive (form zip or tgz) `member` is the path of the file in it. Where no sha256 of the packed
    copy is known, `md5` is; what comes out is checked by the file's own sha256 in any case.
    """

    form: str
    size: int
    sha256: str | None = None
    md5: str | None = None
    mirror: str | None = None
    urls: tuple[str, ...] = ()
    member: str | None = None


@dataclass(frozen=True)
class File:
    """One file of a source: name, size in bytes, sha256, path below a mirror, public addresses."""

    name: str
    size: int
    sha256: str
    mirror: str
    urls: tuple[str, ...] = ()
    packed: tuple[Packed, ...] = ()


@dataclass(frozen=True)
class Source:
    """Where data come from: title, home page, licence, what may be passed on, files.

    `archive` is never or allowed: whether an archive of results may hold these files, or arrays made from
    them. `remark` says what a reader must know of the addresses.
    """

    name: str
    title: str
    home: str
    licence: str
    redistribution: str
    archive: Literal["never", "allowed"]
    files: tuple[File, ...]
    remark: str = ""


@dataclass(frozen=True)
class Entry:
    """One data set: its kind, its source or the packages read instead, its splits and counted facts.

    `parser` is the module that reads it, by default the one of the same name, with these `options`.
    """

    name: str
    title: str
    kind: str
    splits: str
    preprocessing: tuple[str, ...]
    licence: str
    redistribution: str
    archive: Literal["never", "allowed"]
    parser: str
    options: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None
    packages: tuple[str, ...] = ()
    stands_in_for: tuple[str, ...] = ()
    counted: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stand_in(self) -> bool:
        """True for embedded data in place of a paper's."""
        return bool(self.stands_in_for)


@cache
def sources() -> dict[str, Source]:
    """All sources by name."""
    table = {}
    for name, block in read(Path(__file__).with_name("sources.yaml")).content.items():
        own = dict(block) | {"name": name, "files": []}
        shared = own.pop("each", {})
        for file in block["files"]:
            packed = [*file.get("packed", ()), *shared.get("packed", ())]
            text = json.dumps({**shared, **file, "packed": packed}).replace("{name}", file["name"])
            own["files"].append(json.loads(text))
        table[name] = build(Source, own, f"source {name}")
    return table


@cache
def entries() -> dict[str, Entry]:
    """All data sets by name; those with a source have its licence, redistribution and archive."""
    table = {}
    for name, block in read(Path(__file__).with_name("datasets.yaml")).content.items():
        own = {"name": name, "parser": name, **block}
        if "source" in block:
            origin = sources()[block["source"]]
            own |= {key: getattr(origin, key) for key in ("licence", "redistribution", "archive")}
        table[name] = build(Entry, own, f"data set {name}")
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


def public(dataset: str) -> bool:
    """Whether every file of `dataset` has a public address, or it is read from an installed package."""
    origin = entry(dataset).source
    files = source(origin).files if origin else ()
    return all(file.urls or any(packed.urls for packed in file.packed) for file in files)


def packaged() -> tuple[str, ...]:
    """The data sets that installed packages carry and that stand in for no other: used in both data modes."""
    return tuple(name for name, data in entries().items() if data.source is None and not data.stand_in)


def card(dataset: str) -> dict[str, Any]:
    """What a reader must know of `dataset` before using it.

    Keys: dataset, title, kind, stand_in, stands_in_for, source, package, home, licence, redistribution,
    archive, remark, splits, preprocessing (list), counted (the facts that are counted again), files (name,
    size in bytes, sha256, urls). stands_in_for and package are names with commas, or None.
    """
    data = entry(dataset)
    origin = source(data.source) if data.source else None
    kept = ("title", "kind", "stand_in", "source", "licence", "redistribution", "archive", "splits")
    return {key: getattr(data, key) for key in kept} | {
        "dataset": dataset,
        "stands_in_for": ", ".join(data.stands_in_for) or None,
        "package": ", ".join(data.packages) or None,
        "home": origin.home if origin else None,
        "remark": (origin.remark if origin else "") or None,
        "preprocessing": list(data.preprocessing),
        "counted": dict(data.counted),
        "files": [
            {"name": file.name, "size": file.size, "sha256": file.sha256, "urls": list(file.urls)}
            for file in (origin.files if origin else ())
        ],
    }
