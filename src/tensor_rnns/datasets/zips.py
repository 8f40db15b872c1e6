"""The small files in a zip archive that may be hostile, read into memory and never unpacked to the disk."""

import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

MOST_MEMBERS = 5_000
MOST_BYTES = 1 << 26
"""Limits: members of an archive, and bytes that come out of all of them."""
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
)
"""What the reading of a damaged archive raises."""


def inside(name: str) -> str:
    """The path of a member, without a leading "./"; ValueError if it leads out of the archive."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"the member {name!r} leads out of the archive")
    return str(path)


def checked(archive: zipfile.ZipFile, most: int) -> dict[str, zipfile.ZipInfo]:
    """The files of an archive by path; folders are passed over.

    ValueError for more than `most` members, and for one that is a link, encrypted, twice there or leads out.
    """
    entries: dict[str, zipfile.ZipInfo] = {}
    if len(archive.infolist()) > most:
        raise ValueError(f"{len(archive.infolist()):,} members; at most {most:,} are read")
    for entry in archive.infolist():
        name = inside(entry.orig_filename)
        if entry.is_dir():
            continue
        if stat.S_ISLNK(entry.external_attr >> 16):
            raise ValueError(f"the member {name!r} is a link, no plain file")
        if entry.flag_bits & 1:
            raise ValueError(f"the member {name!r} is encrypted")
        if name in entries:
            raise ValueError(f"the member {name!r} is there twice")
        entries[name] = entry
    return entries


def members(path: Path, suffix: str, most: int) -> dict[str, bytes]:
    """The files of a zip archive by path, in the order of their paths; folders are passed over.

    ValueError for a damaged archive, as of `checked`, and for a member that has another suffix, or unpacks to
    more than `most` bytes or than it declares.
    """
    contents: dict[str, bytes] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            entries = checked(archive, MOST_MEMBERS)
            for name, entry in entries.items():
                if not name.endswith(suffix):
                    raise ValueError(f"the member {name!r} does not end in {suffix}")
                if entry.file_size > most:
                    size = f"{entry.file_size:,} bytes; at most {most:,} are read"
                    raise ValueError(f"the member {name!r} declares {size}")
            if sum(entry.file_size for entry in entries.values()) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES:,} bytes come out")
            for name, entry in sorted(entries.items()):
                with archive.open(entry) as stream:
                    contents[name] = stream.read(most + 1)
                if len(contents[name]) != entry.file_size:
                    raise ValueError(f"the member {name!r} unpacks to another size than it declares")
    except FileNotFoundError:
        raise
    except (*DAMAGED, ValueError) as error:
        whole = "" if isinstance(error, ValueError) else "not a whole zip archive: "
        raise ValueError(f"{path}: {whole}{error}") from error
    return contents
