"""The table of sources and data sets: what exists, where it comes from, what may be passed on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

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

    @property
    def digest(self) -> str:
        """The sha256, or else the md5."""
        return str(self.sha256 or self.md5)


@dataclass(frozen=True)
class File:
    """One file of a source: name, size in bytes, sha256, path below a mirror, public addresses."""

    name: str
    size: int
    sha256: str
    mirror: str
    urls: tuple[str, ...] = ()
    packed: tuple[Packed, ...] = ()

    @property
    def digest(self) -> str:
        """The sha256."""
        return self.sha256


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
    archive: str
    files: tuple[File, ...]
    remark: str = ""


@dataclass(frozen=True)
class Entry:
    """One data set: its kind, its source or the packages read instead, its splits and counted facts.

    `parser` is the module that reads it, by default the one of the same name.
    """

    name: str
    title: str
    kind: str
    splits: str
    preprocessing: tuple[str, ...]
    licence: str
    redistribution: str
    archive: str
    parser: str
    source: str | None = None
    packages: tuple[str, ...] = ()
    stands_in_for: tuple[str, ...] = ()
    counted: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def stand_in(self) -> bool:
        """True for embedded data in place of a paper's."""
        return bool(self.stands_in_for)


def _listed(value: Any) -> tuple[Any, ...]:
    """One value or a list of them, as a tuple; nothing is none."""
    return () if value is None else tuple(value) if isinstance(value, list) else (value,)


def _filled(value: Any, name: str) -> Any:
    """`value` with the name of a file in place of {name} in every text."""
    if isinstance(value, dict):
        return {key: _filled(part, name) for key, part in value.items()}
    if isinstance(value, list):
        return [_filled(part, name) for part in value]
    return value.replace("{name}", name) if isinstance(value, str) else value


def _file(own: Mapping[str, Any], shared: Mapping[str, Any]) -> File:
    """A file from its own block and from what it shares with the others of its source."""
    copies = [*_listed(own.get("packed")), *_listed(shared.get("packed"))]
    packed = tuple(Packed(**{**copy, "urls": _listed(copy.get("urls"))}) for copy in copies)
    urls = _listed(own.get("urls", shared.get("urls")))
    return File(**{**shared, **own, "urls": urls, "packed": packed})


@cache
def sources() -> dict[str, Source]:
    """All sources by name."""
    table = {}
    for name, block in read(Path(__file__).with_name("sources.yaml")).content.items():
        shared = block.get("each", {})
        files = tuple(_file(file, _filled(shared, file["name"])) for file in block["files"])
        own = {key: value for key, value in block.items() if key != "each"}
        table[name] = Source(**{**own, "name": name, "files": files})
    return table


@cache
def entries() -> dict[str, Entry]:
    """All data sets by name; those with a source have its licence, redistribution and archive."""
    table = {}
    for name, block in read(Path(__file__).with_name("datasets.yaml")).content.items():
        origin: dict[str, Any] = {"name": name, "parser": name}
        if "source" in block:
            source = sources()[block["source"]]
            origin |= {key: getattr(source, key) for key in ("licence", "redistribution", "archive")}
        lists = {key: _listed(block.get(key)) for key in ("packages", "stands_in_for", "preprocessing")}
        table[name] = Entry(**{**origin, **block, **lists})
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


def public(dataset: str) -> bool:
    """Whether every file of `dataset` has a public address, or it is read from an installed package."""
    origin = source_of(dataset)
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
    return {
        "dataset": dataset,
        "title": data.title,
        "kind": data.kind,
        "stand_in": data.stand_in,
        "stands_in_for": ", ".join(data.stands_in_for) or None,
        "source": data.source,
        "package": ", ".join(data.packages) or None,
        "home": origin.home if origin else None,
        "licence": data.licence,
        "redistribution": data.redistribution,
        "archive": data.archive,
        "remark": (origin.remark if origin else "") or None,
        "splits": data.splits,
        "preprocessing": list(data.preprocessing),
        "counted": dict(data.counted),
        "files": [
            {"name": file.name, "size": file.size, "sha256": file.sha256, "urls": list(file.urls)}
            for file in (origin.files if origin else ())
        ],
    }
