"""The small files in a zip archive that may be hostile, read into memory and never unpacked to the disk."""

import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

MOST_MEMBERS = 5_000
MOST_BYTES = 1 << 26
"""Limits: members of an archive, and bytes that come out of all of them."""


def members(path: Path, suffix: str, most: int) -> dict[str, bytes]:
    """The files of a zip archive by path, in the order of their paths; folders are passed over.

    ValueError for a damaged archive, too many members, a member that is encrypted, a link, twice there, has
    another suffix, leads out of the archive, or unpacks to more than `most` bytes or than it declares.
    """
    found: dict[str, bytes] = {}
    total = 0
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_MEMBERS:
                raise ValueError(f"{path}: {len(entries):,} members; at most {MOST_MEMBERS:,} are read")
            for entry in entries:
                if entry.is_dir():
                    continue
                total += checked(path, entry, suffix, most)
                if entry.filename in found:
                    raise ValueError(f"{path}: {entry.filename!r} is there twice")
                if total > MOST_BYTES:
                    raise ValueError(f"{path}: more than {MOST_BYTES:,} bytes come out")
                with archive.open(entry) as stream:
                    found[entry.filename] = stream.read(most + 1)
                if len(found[entry.filename]) != entry.file_size:
                    raise ValueError(f"{path}: {entry.filename!r} unpacks to another size than it declares")
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise ValueError(f"{path}: not a whole zip archive ({error})") from error
    return dict(sorted(found.items()))


def checked(path: Path, entry: zipfile.ZipInfo, suffix: str, most: int) -> int:
    """The declared size of a member that may be read; ValueError as of `members`."""
    name = entry.filename
    parts = PurePosixPath(name).parts
    if name.startswith("/") or ".." in parts or "\\" in entry.orig_filename or "\0" in entry.orig_filename:
        raise ValueError(f"{path}: the member {entry.orig_filename!r} leads out of the archive")
    if not name.endswith(suffix):
        raise ValueError(f"{path}: the member {name!r} does not end in {suffix}")
    if stat.S_ISLNK(entry.external_attr >> 16):
        raise ValueError(f"{path}: the member {name!r} is a link")
    if entry.flag_bits & 1:
        raise ValueError(f"{path}: the member {name!r} is encrypted")
    if entry.file_size > most:
        raise ValueError(
            f"{path}: the member {name!r} declares {entry.file_size:,} bytes; at most {most:,} are read"
        )
    return entry.file_size
