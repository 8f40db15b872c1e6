"""Prepared data: one .npz of equal bytes for equal input, and one .json of facts, each with its digest."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns import files, npz_files
from tensor_rnns.datasets import table
from tensor_rnns.datasets.sums import Refused, check, summed


@dataclass(frozen=True)
class Dataset:
    """A prepared data set: arrays by name, and the facts of its .json.

    images: {split}_images uint8 [n, rows, columns], {split}_labels uint8 [n].
    polyphony: {split}_roll uint8 [steps, 88] (column 0 = MIDI 21), {split}_lengths int64 [pieces].
    text: {split}_tokens uint8 or uint16 [n], vocabulary str [symbols]; a token is an index of the vocabulary.
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
        arrays, counted = parser.read(**entry.options)
        origin = {
            "package": ", ".join(entry.packages),
            "package_version": ", ".join(version(package) for package in entry.packages),
            **digest_of(parser.files(**entry.options)),
        }
    elif raw is None:
        raise ValueError(f"{dataset} is prepared from the source {entry.source!r}; its raw folder is needed")
    else:
        folder = Path(raw) / entry.source
        origin = {"files": verified(entry.source, folder)}
        arrays, counted = parser.read(folder, **entry.options)
    compare(dataset, entry.counted, counted)
    card = {key: value for key, value in table.card(dataset).items() if key not in ("counted", "files")}
    return write(Path(ready), dataset, arrays, card | counted | dict(entry.facts) | origin)


def write(folder: Path, name: str, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Path:
    """Write folder/name.npz, and folder/name.json with its sha256; return the path of the .npz."""
    path = folder / f"{name}.npz"
    npz_files.write_npz(path, arrays, name)
    files.write_json(path.with_suffix(".json"), dict(facts) | {"sha256": summed(path)}, name)
    return path


def compare(dataset: str, expected: Mapping[str, Any], counted: Mapping[str, Any]) -> None:
    """ValueError listing every counted fact that differs from the table's, with both values."""
    differing = [
        f"{name}: expected {value}, found {counted.get(name, 'nothing')}"
        for name, value in expected.items()
        if counted.get(name) != value
    ]
    if differing:
        raise ValueError(f"{dataset}: counted facts differ: {'; '.join(differing)}")


def load(folder: Path | str, name: str) -> Dataset:
    """The data set `name` prepared in `folder`.

    Large arrays of bytes are mapped from the file and copied where they are written to (`read_npz`).
    Errors: ValueError for an unknown name; FileNotFoundError if it has not been prepared; files.Damaged for a
    file with another digest, of another data set, or an .npz and a .json that were not written together. Each
    says what to run.
    """
    entry = table.entry(name)
    path = Path(folder) / f"{name}.npz"
    remedy = f"run `tensor-rnns prepare {name}`"
    for needed in (path, path.with_suffix(".json")):
        if not needed.is_file():
            first = f"`tensor-rnns download {entry.source}`, then " if entry.source else ""
            raise FileNotFoundError(
                f"{name} is not prepared: {needed} is missing; run {first}`tensor-rnns prepare {name}`"
            )
    facts = files.read_json(path.with_suffix(".json"), name, remedy)
    arrays = npz_files.read_npz(path, name, remedy)
    if (digest := summed(path)) != facts.get("sha256"):
        described = f"{path.with_suffix('.json').name} describes one of sha256 {facts.get('sha256')}"
        raise files.damaged(path, f"its sha256 is {digest}, but {described}", remedy)
    return Dataset(name, arrays, facts)


def verified(source: str, folder: Path) -> list[dict[str, Any]]:
    """Name, size and sha256 of every file of `source`, checked in `folder`; errors as of `prepare`."""
    expected = table.source(source).files
    for file in expected:
        path = folder / file.name
        if not path.is_file():
            raise FileNotFoundError(f"{path} is missing; run `tensor-rnns download {source}`")
        try:
            check(path, file.size, file.sha256)
        except Refused as error:
            raise ValueError(f"{path}: {error}; remove it and run `tensor-rnns download {source}`") from None
    return [{"name": file.name, "size": file.size, "sha256": file.sha256} for file in expected]


def digest_of(paths: Sequence[Path]) -> dict[str, Any]:
    """Number of files read and one sha256 over their names and sums."""
    lines = "".join(f"{path.name} {summed(path)}\n" for path in paths)
    return {"files_read": len(paths), "files_sha256": hashlib.sha256(lines.encode()).hexdigest()}
