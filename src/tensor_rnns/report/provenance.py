"""Which commit the report was made from, and the one time that it carries."""

import os
import subprocess
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

OUTSIDE = 315532800
"""The time outside a checkout, 1 January 1980, as in the Makefile."""
SHORT = 12
"""Digits of a commit where it is printed: so long a word is taken for a commit even where all are decimal."""


@dataclass(frozen=True)
class Commit:
    """The commit of the checkout, whether tracked files differ from it, and its time, seconds since 1970."""

    name: str
    dirty: bool
    epoch: int

    @property
    def date(self) -> str:
        """The day of the time that the report carries, in UTC."""
        return datetime.fromtimestamp(self.epoch, UTC).date().isoformat()

    @property
    def text(self) -> str:
        """The commit as printed."""
        return f"{self.name[:SHORT]}{', with uncommitted changes' if self.dirty else ''}"


def commit_of(folder: Path | str) -> Commit:
    """The commit of the git checkout around `folder`; `SOURCE_DATE_EPOCH` overrides its time.

    Outside a checkout the name is `unknown` and the time `OUTSIDE`. ValueError if SOURCE_DATE_EPOCH is not a
    whole number.
    """
    name = git_or_nothing(folder, "rev-parse", "HEAD")
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given and not given.isdigit():
        raise ValueError(f"SOURCE_DATE_EPOCH is {given!r}; it must be a whole number of seconds since 1970")
    epoch = int(given or git_or_nothing(folder, "show", "-s", "--format=%ct", "HEAD") or OUTSIDE)
    dirty = bool(git_or_nothing(folder, "status", "--porcelain", "--untracked-files=no"))
    return Commit(name or "unknown", dirty, epoch)


def git(folder: Path | str, *arguments: str) -> str:
    """What git answers; CalledProcessError where it refuses."""
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def git_or_nothing(folder: Path | str, *arguments: str) -> str:
    """What git answers; '' where there is no git or no checkout."""
    try:
        return git(folder, *arguments).strip()
    except (OSError, subprocess.CalledProcessError):
        return ""
