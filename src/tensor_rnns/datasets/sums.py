"""Is a file the one that was asked for? Size and sha256, with both values in the message when not."""

import hashlib
from pathlib import Path

MD5 = 32


class Refused(Exception):
    """A file or an address is not what was asked for; the message has what was expected and found."""


def summed(path: Path, kind: str = "sha256") -> str:
    """The sum of a file, of the kind md5 or sha256, in hexadecimal digits."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, kind).hexdigest()


def page(path: Path) -> str:
    """A remark if the file begins like an HTML page, else ''."""
    with open(path, "rb") as stream:
        head = stream.read(512).lstrip(b"\xef\xbb\xbf \t\r\n")
    if not head.lower().startswith((b"<!doctype html", b"<html", b"<head")):
        return ""
    return f"; it looks like an HTML page (it begins {head[:40].decode('latin1')!r})"


def check(path: Path, size: int, digest: str) -> None:
    """Compare the size in bytes and the sum of `path` with those given; Refused prints all four.

    A `digest` of 32 digits is an md5, any other a sha256.
    """
    kind = "md5" if len(digest) == MD5 else "sha256"
    found_size, found_digest = path.stat().st_size, summed(path, kind)
    if (found_size, found_digest) != (size, digest):
        raise Refused(
            f"size: expected {size:,} bytes, found {found_size:,}; "
            f"{kind}: expected {digest}, found {found_digest}{page(path)}"
        )
