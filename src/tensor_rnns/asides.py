"""Names of temporary files: each names the process that writes it, so that those of dead ones can go."""

import glob
import os
import socket
from contextlib import suppress
from pathlib import Path

SUFFIX = ".aside"


def prefix(path: Path) -> str:
    """What the name of a temporary file of `path` begins with in this process."""
    return f".{path.name}.{socket.gethostname()}.{os.getpid()}."


def remove_left(path: Path) -> None:
    """Remove the temporary files of `path` whose process on this host has ended."""
    begins = f".{path.name}.{socket.gethostname()}."
    for left in path.parent.glob(f"{glob.escape(begins)}*{SUFFIX}"):
        process = left.name.removeprefix(begins).partition(".")[0]
        with suppress(FileNotFoundError):  # another writer removes it too
            if process.isdecimal() and not is_alive(int(process)):
                left.unlink()


def is_alive(process: int) -> bool:
    """Whether there is a process of this number on this host."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
