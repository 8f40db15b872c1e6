"""Unpack a packed file that has been checked, with a limit on what comes out and a check of it."""

import gzip
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tensor_rnns.datasets import zips
from tensor_rnns.datasets.sums import CHUNK, Refused, check

MOST_MEMBERS = 10_000
"""Members of an archive that are looked at before it is refused."""
MOST_BYTES = 1 << 30
"""Bytes of a packed tar that are unpacked while its member is looked for."""


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


@contextmanager
def zip_member(packed: Path, member: str | None) -> Iterator[IO[bytes]]:
    """A file of a zip archive, opened; ValueError as of `zips.checked`, and if the file is not there."""
    with zipfile.ZipFile(packed) as archive:
        entries = zips.checked(archive, MOST_MEMBERS)
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
        tarfile.open(fileobj=Bounded(unzipped, MOST_BYTES), mode="r|") as archive,
    ):
        for number, entry in enumerate(archive):
            if number == MOST_MEMBERS:
                raise ValueError(f"more than {MOST_MEMBERS:,} members")
            if zips.inside(entry.name) == member:
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
    except (*zips.DAMAGED, tarfile.TarError, ValueError, Refused) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # of the disk, not of what is read
        packed.unlink()
        aside.unlink(missing_ok=True)
        reason = str(error) if isinstance(error, ValueError | Refused) else f"damaged ({error})"
        raise Refused(f"unpacked from {form}: {reason}") from error
    aside.replace(target)
