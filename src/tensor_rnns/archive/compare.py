"""What differs between a given file and the same file recomputed: where, what was given, what comes out."""

import csv
import io
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tensor_rnns.analysis.curves import CURVES, SERIES, read_curves
from tensor_rnns.files import SEAL
from tensor_rnns.npz_files import read_npz

MOST = 3
"""Differences of one file that are named; of the others, how many."""
AROUND = 24
NUMBER = re.compile(rb"\d+(?:\.\d+)?(?:e[-+]?\d+)?")
STREAM = re.compile(rb"stream\r?\n(.*?)endstream", re.S)
NAMES = ("claim", "condition", "variant", "option", "stage", "point", "seed", "split", "item", "name")
"""Columns that say whose a row is."""


def differences(given: Path, again: Path) -> list[str]:
    """Each place in which `given` is not the recomputed `again`; those after MOST are counted."""
    ours, other = given.read_bytes(), again.read_bytes()
    if ours == other:
        return []
    kinds = {".csv": tables, ".json": records, ".npz": arrays, ".pdf": streams}
    kind = curves if given.name == "curves.npz" else kinds.get(given.suffix, texts)
    lines = list(kind(given, again))
    if not lines and given.suffix == ".npz":
        # What curves do not read: other arrays, a series that stands twice, and whose they are.
        of, due = (SEAL.search(content[-1000:])[2].decode() for content in (ours, other))
        lines = [*arrays(given, again), *([said("holds", of, due)] if of != due else [])]
    if not lines and given.suffix not in (".npz", ".pdf"):
        lines = ["other bytes, though every value is equal"]
    more = len(lines) - MOST
    return lines[:MOST] + ([f"and {more} further difference{'s' * (more > 1)}"] if more > 0 else [])


def numbers(path: Path) -> int:
    """How many numbers a file of text or of arrays holds."""
    if path.suffix == ".npz":
        return sum(array.size for array in read_npz(path).values() if array.dtype.kind in "iuf")
    return 0 if path.suffix in (".pdf", ".mid") else len(NUMBER.findall(path.read_bytes()))


def said(where: str, given: Any, again: Any) -> str:
    """The one form of a difference."""
    return f"{where}: given {given!r}, recomputed {again!r}"


def tables(given: Path, again: Path) -> Iterator[str]:
    """Cells of two CSV files that differ, by line, row and column."""
    texts = (path.read_text(encoding="utf-8").partition("\n") for path in (given, again))
    ours, theirs = (list(csv.reader(io.StringIO(rest))) for _, _, rest in texts)
    if ours[:1] != theirs[:1]:
        yield said("columns", ours[:1], theirs[:1])
        return
    if len(ours) != len(theirs):
        yield said("rows", len(ours) - 1, len(theirs) - 1)
    header = ours[0] if ours else []
    # The line of the seal is the first.
    for line, (row, expected) in enumerate(zip(ours, theirs, strict=False), start=2):
        if row != expected:
            known = dict(zip(header, expected, strict=False))
            name = " ".join(known[column] for column in NAMES if known.get(column))
            for column, mine, right in zip_longest(header, row, expected):
                if mine != right:
                    yield said(f"line {line}{f' ({name})' if name else ''}, {column}", mine, right)


def records(given: Path, again: Path) -> Iterator[str]:
    """Values of two JSON files that differ, by their dotted names."""
    ours, theirs = (dict(leaves(json.loads(path.read_bytes()))) for path in (given, again))
    for name in ours | theirs:
        if name != "seal" and json.dumps(ours.get(name)) != json.dumps(theirs.get(name)):
            yield said(name, ours.get(name), theirs.get(name))


def leaves(content: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, value) of nested content."""
    if isinstance(content, Mapping | list):
        pairs = content.items() if isinstance(content, Mapping) else enumerate(content)
        for key, value in pairs:
            yield from leaves(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, content


def arrays(given: Path, again: Path) -> Iterator[str]:
    """Arrays of two .npz files that differ, by name."""
    ours, theirs = read_npz(given), read_npz(again)
    for name in sorted(ours.keys() | theirs.keys()):
        mine, other = ours.get(name), theirs.get(name)
        if mine is None or other is None or mine.dtype != other.dtype or mine.shape != other.shape:
            forms = (array if array is None else f"{array.dtype}{array.shape}" for array in (mine, other))
            yield said(name, *forms)
        elif mine.tobytes() != other.tobytes():
            # NaN is no number that equals itself.
            places = zip(mine.ravel().tolist(), other.ravel().tolist(), strict=True)
            at = next((k for k, (a, b) in enumerate(places) if a != b and (a == a or b == b)), 0)
            yield said(f"{name}[{at}]", mine.ravel()[at].item(), other.ravel()[at].item())


def curves(given: Path, again: Path) -> Iterator[str]:
    """Points of two files of joined curves that differ, by series and update."""
    tables = (read_curves(path).itertuples(index=False, name=None) for path in (given, again))
    ours, theirs = ({row[:-2]: row[-2:] for row in table} for table in tables)
    for key in sorted(ours.keys() | theirs.keys()):
        points = (zip(*side.get(key, ((), ())), strict=True) for side in (ours, theirs))
        named = zip(SERIES, key, strict=True)
        name = " ".join(str(part) for column, part in named if column in NAMES and part != "")
        for mine, right in zip_longest(*points, fillvalue=("none", "none")):
            # NaN is no number that equals itself.
            for column, value, other in zip(CURVES[-2:], map(str, mine), map(str, right), strict=True):
                if value != other:
                    yield said(f"update {right[0]} ({name}), {column}", value, other)


def streams(given: Path, again: Path) -> Iterator[str]:
    """The first difference of two PDF files whose streams are unpacked, as programs pack them differently."""
    ours, theirs = (STREAM.sub(inflated, path.read_bytes()) for path in (given, again))
    lengths = re.compile(rb"/Length \d+|\d{10} \d{5} [nf]|startxref\s+\d+")
    yield from first(lengths.sub(b"", ours).decode("latin1"), lengths.sub(b"", theirs).decode("latin1"))


def inflated(stream: re.Match[bytes]) -> bytes:
    """A stream of a PDF file unpacked, or as it is."""
    try:
        return zlib.decompress(stream[1])
    except zlib.error:
        return stream[1]


def texts(given: Path, again: Path) -> Iterator[str]:
    """The first difference of each line of two texts."""
    ours, theirs = (path.read_bytes().decode("utf-8", "replace").split("\n") for path in (given, again))
    for line, (ours_line, other) in enumerate(zip_longest(ours, theirs), start=1):
        if ours_line != other:
            yield from first(ours_line or "", other or "", f"line {line}")


def first(mine: str, other: str, where: str = "") -> Iterator[str]:
    """The first place where two texts differ, with some of what stands around it."""
    if mine != other:
        at = next(k for k, (a, b) in enumerate(zip_longest(mine, other)) if a != b)
        begin, end = max(0, at - AROUND), at + AROUND
        yield said(where or f"at {at}", mine[begin:end], other[begin:end])
