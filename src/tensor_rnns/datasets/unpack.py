"""Unpack a packed file that has been checked, with a limit on what comes out and a check of it."""

import gzip
import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from tensor_rnns.datasets.sums import CHUNK, Refused, check

MOST_MEMBERS = 10_000
"""Members of an archive that are looked at before it is refused."""
MOST_BYTES = 1 << 30
"""Bytes of a packed tar that are unpacked while its member is looked for."""
DAMAGED = (lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, tarfile.TarError)


class Bounded:
    """A stream that refuses to give more than `most` bytes."""

    def __init__(self, stream: IO[bytes], most: int) -> None:
        self.stream, self.left, self.most = stream, most, most

    def read(self, count: int = CHUNK) -> bytes:
        """The next bytes; Refused once more than `most` have come."""
        data = self.stream.read(min(count, self.left + 1))
        self.left -= len(data)
        if self.left < 0:
            raise Refused(f"more than {self.most:,} bytes come out")
        return data


def member_path(name: str) -> str:
    """A member's path without a leading "./"; Refused if it leads out of the archive."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or "\0" in name:
        raise Refused(f"the member {name!r} leads out of the archive")
    return str(path)


def only(found: list, member: str) -> None:
    """Refused unless exactly one member was found."""
    if len(found) != 1:
        raise Refused(f"{len(found)} members are called {member}, expected one")


@contextmanager
def zip_member(packed: Path, member: str | None) -> Iterator[IO[bytes]]:
    """A file of a zip archive, opened; Refused if it is not there once, or is a link, or is encrypted."""
    with zipfile.ZipFile(packed) as archive:
        entries = archive.infolist()
        if len(entries) > MOST_MEMBERS:
            raise Refused(f"{len(entries):,} members; at most {MOST_MEMBERS:,} are looked at")
        found = [entry for entry in entries if member_path(entry.filename) == member]
        only(found, str(member))
        if stat.S_ISLNK(found[0].external_attr >> 16) or found[0].is_dir():
            raise Refused(f"the member {member} is no plain file")
        if found[0].flag_bits & 1:
            raise Refused(f"the member {member} is encrypted")
        with archive.open(found[0]) as stream:
            yield stream


@contextmanager
def tar_member(packed: Path, member: str | None) -> Iterator[IO[bytes]]:
    """A file of a gzipped tar archive, opened, read in one pass; Refused as for `zip_member`.

    The first member of that path counts: the whole archive is not read to see whether there is another.
    """
    with (
        gzip.open(packed) as unzipped,
        tarfile.open(fileobj=Bounded(unzipped, MOST_BYTES), mode="r|") as archive,
    ):
        for number, entry in enumerate(archive):
            if number == MOST_MEMBERS:
                raise Refused(f"more than {MOST_MEMBERS:,} members")
            if member_path(entry.name) == member:
                if not entry.isreg():
                    raise Refused(f"the member {member} is no plain file")
                yield archive.extractfile(entry)
                return
        only([], str(member))


def _plain(opened: Callable[[Path], IO[bytes]]) -> Callable:
    return lambda packed, member: opened(packed)


FORMS: dict[str, Callable] = {
    "xz": _plain(lzma.LZMAFile),
    "gz": _plain(gzip.open),
    "zip": zip_member,
    "tgz": tar_member,
}


def unpack(packed: Path, target: Path, form: str, size: int, digest: str, member: str | None = None) -> None:
    """Unpack `packed`, or its `member`, to `target`; Refused if it is damaged or what comes out has another
    size or sha256.

    At most `size` + 1 bytes are written. `packed` is removed when it is refused.
    """
    aside = target.with_name(f"{target.name}.unpacked.part")
    written = 0
    try:
        with FORMS[form](packed, member) as stream, open(aside, "wb") as out:
            while chunk := stream.read(min(CHUNK, size + 1 - written)):
                out.write(chunk)
                written += len(chunk)
            out.flush()
            os.fsync(out.fileno())
        if written > size:
            raise Refused(f"more comes out than the {size:,} bytes expected")
        check(aside, size, digest)
    except DAMAGED as error:
        packed.unlink()
        aside.unlink(missing_ok=True)
        raise Refused(f"unpacked from {form}: damaged ({error})") from error
    except Refused as error:
        packed.unlink()
        aside.unlink(missing_ok=True)
        raise Refused(f"unpacked from {form}: {error}") from None
    aside.replace(target)
