"""Read an archive that may be hostile: every member is looked at before one is written.

The archive has one form, which `make` writes: members one after another in the order of their names, each
under the header that its entry in the directory gives, nothing before, between or behind them, and the digest
of the whole as its comment: what unpacking passes over may not differ either.
"""

import copy
import csv
import hashlib
import io
import struct
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from tensor_rnns.archive import layout
from tensor_rnns.datasets import unpack
from tensor_rnns.files import Damaged, of_the_disk, parsing, read_table, verify

MOST_RATIO = 200
"""How many bytes may come out of one that is packed."""
SEALED = (".csv", ".csv.gz", ".json", ".npz", ".safetensors")
"""Endings of results that carry their own digest."""
END, END64, LOCATOR = struct.Struct("<4s4H2LH"), struct.Struct("<4sQ2H2L4Q"), struct.Struct("<4sLQL")
REMEDY = "make the archive again"
Entries = Mapping[str, zipfile.ZipInfo]


class NotAnArchive(ValueError):
    """A file that is no archive of this project, or one that nobody should unpack."""


def entries_of(archive: zipfile.ZipFile, raw: IO[bytes]) -> Entries:
    """{path below the top folder: entry} of the members, without reading what is in them.

    ValueError as of `unpack.checked`, for more bytes than the limits, for a second top folder, and where the
    file is not in the form that an archive has.
    """
    entries = unpack.checked(archive, layout.MOST_MEMBERS)
    for name, entry in entries.items():
        if entry.file_size > MOST_RATIO * (entry.compress_size + 1000):
            told = f"the member {name!r} declares {entry.file_size:,} bytes out of {entry.compress_size:,}"
            raise ValueError(f"{told}; at most {MOST_RATIO} times as many are read")
    if sum(entry.file_size for entry in entries.values()) > layout.MOST_BYTES:
        raise ValueError(f"more than {layout.MOST_BYTES:,} bytes come out")
    tops = sorted({name.partition("/")[0] for name in entries})
    if len(tops) != 1 or tops[0] in entries:
        raise ValueError(f"expected is one top folder; there are {tops[:5]}")
    members = {name.partition("/")[2]: entry for name, entry in entries.items()}
    try:
        in_form(archive, raw)
    except ValueError as error:
        # What adds a member to an archive, or removes one, may write the others in another form, too.
        lines = [*faults(archive, members, sums=False)] if layout.MANIFEST in members else []
        raise ValueError("; ".join(lines) or str(error)) from error
    return members


def in_form(archive: zipfile.ZipFile, raw: IO[bytes]) -> None:
    """ValueError unless the bytes around the members are those that `make` writes."""
    at, previous, times = 0, "", {entry.date_time for entry in archive.infolist()}
    for entry in archive.infolist():
        raw.seek(at)
        name = entry.orig_filename
        header_bytes = raw.read(30 + len(name.encode()) + 20)
        bare = copy.copy(entry)
        bare.extra = b""
        headers = [bare.FileHeader(zip64) for zip64 in (False, True)]
        header = next((form for form in headers if header_bytes.startswith(form)), None)
        if entry.header_offset != at or header is None or str(Path(name)) != name or name <= previous:
            raise ValueError(f"the member {name!r} is not where or what the directory says")
        plain = entry.external_attr >> 16 in (0o100644, 0o100755) and not entry.external_attr & 0xFFFF
        made = entry.create_system, entry.create_version, entry.reserved, entry.volume, entry.internal_attr
        versions = entry.extract_version in (20, 45) and made == (3, entry.extract_version, 0, 0, 0)
        usual = entry.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) and len(times) == 1
        if not (plain and versions and usual) or entry.extra != large(entry) or entry.comment:
            raise ValueError(f"the member {name!r} has attributes that no archive has")
        at, previous = at + len(header) + entry.compress_size, name
    end = ending(len(archive.infolist()), raw.seek(0, io.SEEK_END), at, archive.comment)
    raw.seek(-len(end), io.SEEK_END)
    if archive.start_dir != at or raw.read() != end:
        raise ValueError("the directory is not behind the last member, or something is behind it")


def large(entry: zipfile.ZipInfo) -> bytes:
    """What an entry has beside itself: the numbers that its own fields are too small for."""
    sizes = entry.file_size, entry.compress_size
    numbers = sizes if max(sizes) > zipfile.ZIP64_LIMIT else ()
    if entry.header_offset > zipfile.ZIP64_LIMIT:
        numbers += (entry.header_offset,)
    return struct.pack(f"<2H{len(numbers)}Q", 1, 8 * len(numbers), *numbers) if numbers else b""


def ending(count: int, whole: int, at: int, comment: bytes) -> bytes:
    """What is behind the directory of `count` members, which begins at `at` in a file of `whole` bytes."""
    is_large = count > zipfile.ZIP_FILECOUNT_LIMIT or at > zipfile.ZIP64_LIMIT
    size = max(0, whole - at - END.size - len(comment) - is_large * (END64.size + LOCATOR.size))
    end64 = END64.pack(b"PK\6\6", 44, 45, 45, 0, 0, count, count, size, at)
    least = [min(count, 0xFFFF)] * 2 + [min(number, 0xFFFF_FFFF) for number in (size, at)]
    end = END.pack(b"PK\5\6", 0, 0, *least, layout.COMMENT) + comment
    return (end64 + LOCATOR.pack(b"PK\6\7", 0, at + size, 1) if is_large else b"") + end


def faults(archive: zipfile.ZipFile, entries: Entries, sums: bool = True) -> Iterator[str]:
    """What differs from MANIFEST.csv, a line each; without `sums` the names alone."""
    try:
        content = archive.read(entries[layout.MANIFEST])
        verify(layout.MANIFEST, content, layout.holds(layout.MANIFEST), REMEDY)
        with parsing(layout.MANIFEST, REMEDY):
            rows = csv.DictReader(io.StringIO(content.decode().partition("\n")[2]))
            listed = {row["path"]: (int(row["bytes"]), row["sha256"]) for row in rows}
    except (Damaged, zipfile.BadZipFile, *unpack.DAMAGED) as error:
        yield f"{layout.MANIFEST}: {error}".replace(f"{layout.MANIFEST}: {layout.MANIFEST}", layout.MANIFEST)
        return
    there = entries.keys() - {layout.MANIFEST}
    yield from (f"{name}: in {layout.MANIFEST}, not in the archive" for name in sorted(listed.keys() - there))
    yield from (f"{name}: in the archive, not in {layout.MANIFEST}" for name in sorted(there - listed.keys()))
    for name in sorted(there & listed.keys()) if sums else ():
        size, digest = listed[name]
        try:
            with archive.open(entries[name]) as stream:
                sha256 = hashlib.file_digest(stream, "sha256").hexdigest()
        except unpack.DAMAGED as error:
            yield f"{name}: {error}"
            continue
        given = entries[name].file_size
        if (size, digest) != (given, sha256):
            listed_as = f"{layout.MANIFEST} says {size:,} bytes of {digest}"
            yield f"{name}: given are {given:,} bytes of sha256 {sha256}; {listed_as}"


def unpacked(path: Path, into: Path) -> tuple[list[str], list[str]]:
    """(members, faults) of the archive `path`, which is unpacked below `into` only where it has no fault.

    NotAnArchive, before anything is written, where the file is none or a hostile one.
    """
    try:
        with open(path, "rb") as raw, zipfile.ZipFile(raw) as archive:
            entries = entries_of(archive, raw)
            if layout.MANIFEST not in entries:
                raise ValueError(f"it has no {layout.MANIFEST}")
            problems = list(faults(archive, entries))
            if not problems and layout.digest_of(raw) != archive.comment:
                problems = ["the file itself: its bytes are not those that were written"]
            if not problems:
                unpack.extract(archive, entries, into)
            return sorted(entries), problems
    except (*unpack.DAMAGED, ValueError, NotImplementedError) as error:
        if of_the_disk(error):
            raise
        raise NotAnArchive(f"{path}: no archive that can be verified: {error}") from error


def unsound(top: Path, members: list[str]) -> Iterator[str]:
    """Each result that is not what its own digest says, a line each."""
    for name in members:
        if name.startswith(f"{layout.RESULTS}/") and name.endswith(SEALED) and name != layout.BY_HAND:
            try:
                if name.endswith(".gz"):
                    read_table(top / name, remedy=REMEDY)
                else:
                    verify(name, (top / name).read_bytes(), remedy=REMEDY)
            except Damaged as error:
                yield str(error).replace(f"{top}/", "")
