"""Prepared data: one .npz of equal bytes for equal input, and one .json of facts."""

import hashlib
import json
import struct
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets import table
from tensor_rnns.datasets.sums import Refused, check, sha256
from tensor_rnns.files import write_json, writing

MAPPED = 1 << 24
"""Bytes from which a one-byte array is mapped and not read."""
MOST_FACTS = 1 << 22
"""Bytes of a .json of facts that is read."""
AGAIN = "run `tensor-rnns prepare {}`"
"""What to do about a prepared file that is not as `prepare` wrote it."""
HEADER, HEADER_NAME = 30, 26
"""Length of a zip member's header, and where in it the lengths of its name and extra field stand."""


@dataclass(frozen=True)
class Dataset:
    """A prepared data set: arrays by name, and the facts of its .json.

    images: {split}_images uint8 [n, rows, columns], {split}_labels uint8 [n].
    polyphony: {split}_roll uint8 [steps, 88] (column 0 = MIDI 21), {split}_lengths int64 [pieces].
    text: {split}_tokens uint8 or uint16 [n], vocabulary str [symbols]; a token is a place in the vocabulary.
    bytes: {split}_tokens uint8 [n], vocabulary uint8 [symbols], the byte of each token.
    fonts: images uint8 [styles, letters, 32, 32], style_names str [styles], letter_names str [letters].
    split is train, valid or test.
    """

    name: str
    arrays: Mapping[str, np.ndarray]
    facts: Mapping[str, Any] = field(repr=False)


def prepare(dataset: str, raw: Path | str | None, ready: Path | str) -> Path:
    """Parse `dataset` and write ready/dataset.npz and ready/dataset.json; return the path of the .npz.

    The source's files are read from raw/source/ and checked again (size, sha256); a stand-in is read from
    its package and needs no `raw`. Equal input gives equal bytes. Errors: FileNotFoundError for a missing
    file or package; ValueError for a file that is not the expected one, or when a counted fact differs from
    the table's (both printed).
    """
    entry = table.entry(dataset)
    parser = import_module(f"tensor_rnns.datasets.{entry.parser}")
    if entry.source is None:
        arrays, found = parser.read()
        used = {
            "package": ", ".join(entry.packages),
            "package_version": ", ".join(version(package) for package in entry.packages),
            **_digest(parser.files()),
        }
    else:
        if raw is None:
            raise ValueError(
                f"{dataset} is prepared from the source {entry.source!r}; its raw folder is needed"
            )
        folder = Path(raw) / entry.source
        used = {"files": _verify(entry.source, folder)}
        arrays, found = parser.read(folder)
    compare(dataset, entry.counted, found)
    path = Path(ready) / f"{dataset}.npz"
    write_npz(path, arrays)
    card = {key: value for key, value in table.card(dataset).items() if key not in ("counted", "files")}
    write_json(
        path.with_suffix(".json"), card | found | dict(entry.facts) | used | {"sha256": sha256(path)}, dataset
    )
    return path


def compare(dataset: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """ValueError listing every counted fact that differs from the table's, with both values."""
    differing = [
        f"{name}: expected {value}, found {found.get(name, 'nothing')}"
        for name, value in expected.items()
        if found.get(name) != value
    ]
    if differing:
        raise ValueError(f"{dataset}: counted facts differ: {'; '.join(differing)}")


def load(folder: Path | str, name: str) -> Dataset:
    """The data set `name` prepared in `folder`.

    Large arrays of bytes are mapped from the file and copied where they are written to (`read_npz`).
    Errors: ValueError for an unknown name, or for an .npz that is not the one its .json was written with
    (both sha256 printed); FileNotFoundError if it has not been prepared, with the command that does.
    """
    entry = table.entry(name)
    path = Path(folder) / f"{name}.npz"
    for needed in (path, path.with_suffix(".json")):
        if not needed.is_file():
            first = f"`tensor-rnns download {entry.source}`, then " if entry.source else ""
            raise FileNotFoundError(
                f"{name} is not prepared: {needed} is missing; run {first}`tensor-rnns prepare {name}`"
            )
    facts = read_facts(path.with_suffix(".json"))
    digest = sha256(path)
    if digest != facts["sha256"]:
        raise ValueError(
            f"{path} is not the file that {path.with_suffix('.json').name} describes: sha256: expected "
            f"{facts['sha256']}, found {digest}; {AGAIN.format(name)}"
        )
    return Dataset(name, read_npz(path), facts)


def read_facts(path: Path) -> dict[str, Any]:
    """The facts beside a prepared data set; ValueError for a file that is not what `prepare` writes."""
    if path.stat().st_size > MOST_FACTS:
        raise ValueError(f"{path}: {path.stat().st_size:,} bytes; at most {MOST_FACTS:,} are read")
    try:
        facts = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        told = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"{path}: not JSON ({told}); {AGAIN.format(path.stem)}") from error
    if not isinstance(facts, dict) or not isinstance(facts.get("sha256"), str):
        raise ValueError(
            f"{path}: expected facts with a sha256, found {str(facts)[:40]}; {AGAIN.format(path.stem)}"
        )
    return facts


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz that `write_npz` wrote. One-byte arrays of MAPPED bytes and more are mapped into
    memory copy on write: processes that train on the same data share it.
    """
    arrays = {}
    with zipfile.ZipFile(path) as archive, open(path, "rb") as raw:
        for member in archive.infolist():
            name = member.filename.removesuffix(".npy")
            with archive.open(member) as stream:
                np.lib.format.read_magic(stream)
                shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
                ahead = stream.tell()
            if dtype.itemsize > 1 or member.file_size < MAPPED or member.compress_type or fortran:
                with archive.open(member) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                continue
            raw.seek(member.header_offset + HEADER_NAME)
            begin = member.header_offset + HEADER + sum(struct.unpack("<HH", raw.read(4))) + ahead
            arrays[name] = np.asarray(np.memmap(path, dtype, mode="c", offset=begin, shape=shape))
    return arrays


def write_npz(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    """Write arrays as an uncompressed .npz in order of name, dated 1980: equal arrays give equal bytes."""
    with writing(path, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            member = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            member.create_system, member.external_attr = 3, 0o644 << 16
            with archive.open(member, "w", force_zip64=True) as out:
                np.lib.format.write_array(
                    out, np.ascontiguousarray(arrays[name]), version=(1, 0), allow_pickle=False
                )


def _verify(source: str, folder: Path) -> list[dict[str, Any]]:
    files = []
    for file in table.source(source).files:
        path = folder / file.name
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; run `tensor-rnns download {source}`")
        try:
            check(path, file.size, file.sha256)
        except Refused as error:
            raise ValueError(f"{path}: {error}; remove it and run `tensor-rnns download {source}`") from None
        files.append({"name": file.name, "size": file.size, "sha256": file.sha256})
    return files


def _digest(paths: list[Path]) -> dict[str, Any]:
    """Number of files read and one sha256 over their names and sums."""
    lines = "".join(f"{path.name} {sha256(path)}\n" for path in paths)
    return {"files_read": len(paths), "files_sha256": hashlib.sha256(lines.encode()).hexdigest()}
