"""Where the generated code of kernels and what is built from it are kept, each file with its digest."""

import hashlib
import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)
DIGEST = 32
"""Bytes of the digest behind a library. A loader reads as far as the header says, and no further."""


class BuildError(Exception):
    """The tool that builds kernels is not there, or refused the code; the message says which."""


def folder() -> Path:
    """$TENSOR_RNNS_KERNELS, or tensor-rnns/kernels in the user's cache."""
    chosen = os.environ.get("TENSOR_RNNS_KERNELS")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(chosen) if chosen else Path(cache) / "tensor-rnns" / "kernels"


def made_folder() -> Path:
    """The folder, made if it is not there; BuildError where everybody may put code into it."""
    kernels = folder()
    kernels.mkdir(parents=True, exist_ok=True)
    if kernels.stat().st_mode & stat.S_IWOTH:
        raise BuildError(f"everybody may write to {kernels}; allowed: a folder of your own")
    return kernels


def digest_of(path: Path, content: bytes) -> bytes:
    """The digest of a kernel and of the name that it has, so that no other can take its place."""
    return hashlib.sha256(path.name.encode() + b"\0" + content).digest()


def seal(made: Path, target: Path) -> None:
    """Put the digest behind a file, and the file where it is kept: whole or not at all."""
    with open(made, "r+b") as stream:
        stream.write(digest_of(target, stream.read()))
    os.replace(made, target)


def is_whole(path: Path) -> bool:
    """Whether a kept file has the digest that it got.

    A damaged library must not reach the loader, which would take it, or end the process by a signal.
    """
    content = path.read_bytes() if path.exists() else b""
    return content[-DIGEST:] == digest_of(path, content[:-DIGEST])


def warn_of_damage(path: Path) -> None:
    """Say which kept file is not what was built, and what is done about it."""
    log.warning("kernel %s is damaged: its digest does not match; it is built anew", path)
