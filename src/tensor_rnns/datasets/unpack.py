"""Packed files that may be hostile: unpacked with a limit on what comes out and a check of it, or, the small
files of a zip archive, read into memory and never unpacked to the disk.
"""

import gzip
import itertools
import lzma
import os
import shutil
import stat
import struct
import tarfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from tensor_rnns.datasets.sums import Refused, check
from tensor_rnns.datasets.transfer import make_own
from tensor_rnns.files import of_the_disk

MOST_MEMBERS = 10_000
MOST_BYTES = 1 << 26
MOST_OF_TAR = 1 << 30
"""Limits: members of an archive, bytes of all the files that are read of a zip, bytes of a packed tar that
are unpacked while its member is looked for."""
DAMAGED = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError, OSError)
"""What the reading of a damaged archive raises."""


def inside(name: str) -> str:
    """The path of a member, without a leading "./"; ValueError if it leads out of the archive, or holds a
    control character."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise ValueError(f"the member {name!r} leads out of the archive")
    if any(unicodedata.category(sign) in ("Cc", "Cf", "Cs") for sign in name):
        raise ValueError(f"the name of the member {name!a} holds a control character")
    return str(path)


def checked(archive: zipfile.ZipFile, most: int = MOST_MEMBERS) -> dict[str, zipfile.ZipInfo]:
    """The files of an archive by path; folders are passed over.

    ValueError for more than `most` members, for one that is a link, encrypted, twice there (in another case
    or spelling too), leads out or is both a file and a folder, and where two share bytes.
    """
    entries: dict[str, zipfile.ZipInfo] = {}
    folded: dict[str, str] = {}
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
        if other := folded.get(fold(name)):
            raise ValueError(f"the members {other!r} and {name!r} are one file where case does not count")
        entries[name], folded[fold(name)] = entry, name
    for name in folded:
        if above := next((str(path) for path in PurePosixPath(name).parents if str(path) in folded), None):
            raise ValueError(f"the member {folded[above]!r} is both a file and a folder")
    placed = sorted(archive.infolist(), key=lambda entry: entry.header_offset)
    for entry, after in itertools.pairwise(placed):
        # A header has 30 bytes, then the name.
        if entry.header_offset + 30 + len(entry.orig_filename) + entry.compress_size > after.header_offset:
            raise ValueError(f"the members {entry.filename!r} and {after.filename!r} share bytes")
    return entries


def fold(name: str) -> str:
    """Equal for names that some file systems take for one."""
    return unicodedata.normalize("NFC", name).casefold()


def extract(archive: zipfile.ZipFile, entries: Mapping[str, zipfile.ZipInfo], into: Path) -> None:
    """Write the `checked` files of an archive below the empty folder `into`, each up to its declared size."""
    for name, entry in entries.items():
        target = into / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with archive.open(entry) as stream, open(target, "xb") as out:
            shutil.copyfileobj(Bounded(stream, entry.file_size), out)


def members(path: Path, suffix: str, most: int) -> dict[str, bytes]:
    """The files of a zip archive by path, in the order of their paths; folders are passed over.

    ValueError for a damaged archive, as of `checked`, and for a member that has another suffix, or unpacks to
    more than `most` bytes.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            entries = checked(archive)
            for name, entry in entries.items():
                if not name.endswith(suffix):
                    raise ValueError(f"the member {name!r} does not end in {suffix}")
                if entry.file_size > most:
                    size = f"{entry.file_size:,} bytes; at most {most:,} are read"
                    raise ValueError(f"the member {name!r} declares {size}")
            if sum(entry.file_size for entry in entries.values()) > MOST_BYTES:
                raise ValueError(f"more than {MOST_BYTES:,} bytes come out")
            # No more than its declared size is read of a member, and a shorter one has another CRC.
            return {name: archive.read(entry) for name, entry in sorted(entries.items())}
    except (*DAMAGED, ValueError) as error:
        if of_the_disk(error):
            raise
        whole = "" if isinstance(error, ValueError) else "not a whole zip archive: "
        raise ValueError(f"{path}: {whole}{error}") from error


class Bounded:
    """A stream that refuses to give more than `most` bytes."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self.stream, self.left, self.most = stream, most, most

    def read(self, count: int) -> bytes:
        """The next bytes; Refused once more than `most` have come."""
        data = self.stream.read(min(count, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise Refused(f"more than {self.most:,} bytes come out")
        return data


@contextmanager
def zip_member(packed: Path, member: str | None) -> Iterator[IO[bytes]]:
    """A file of a zip archive, opened; ValueError as of `checked`, and if the file is not there."""
    with zipfile.ZipFile(packed) as archive:
        entries = checked(archive)
        if member not in entries:
            raise ValueError(f"no member is called {member}")
        with archive.open(entries[member]) as stream:
            yield stream


@contextmanager
def tar_member(packed: Path, member: str | None) -> Iterator[IO[bytes]]:
    """A file of a gzipped tar archive, opened, read in one pass; ValueError as for `zip_member`.

    The first member of that path counts: the whole archive is not read to see whether there is another.
    """
    with (
        gzip.open(packed) as unzipped,
        tarfile.open(fileobj=Bounded(unzipped, MOST_OF_TAR), mode="r|") as archive,
    ):
        for number, entry in enumerate(archive):
            if number == MOST_MEMBERS:
                raise ValueError(f"more than {MOST_MEMBERS:,} members")
            if inside(entry.name) == member:
                if not entry.isreg():
                    raise ValueError(f"the member {member} is no plain file")
                yield archive.extractfile(entry)
                return
        raise ValueError(f"no member is called {member}")


FORMS: dict[str, Callable] = {
    "xz": lambda packed, member: lzma.LZMAFile(packed),  # noqa: SIM115 - the caller closes it
    "zip": zip_member,
    "tgz": tar_member,
}


def unpack(packed: Path, target: Path, form: str, size: int, digest: str, member: str | None = None) -> None:
    """Unpack `packed`, or its `member`, to `target`; Refused if it is damaged or what comes out has another
    size or sha256.

    At most `size` bytes are written. `packed` is removed when it is refused.
    """
    aside = target.with_name(f"{target.name}.unpacked.part")
    make_own(aside)
    try:
        with FORMS[form](packed, member) as stream, open(aside, "wb") as out:
            shutil.copyfileobj(Bounded(stream, size), out)
            out.flush()
            os.fsync(out.fileno())
        check(aside, size, digest)
    except (*DAMAGED, tarfile.TarError, ValueError, Refused) as error:
        if of_the_disk(error):
            raise
        packed.unlink()
        aside.unlink(missing_ok=True)
        reason = str(error) if isinstance(error, ValueError | Refused) else f"damaged ({error})"
        raise Refused(f"unpacked from {form}: {reason}") from error
    aside.replace(target)
