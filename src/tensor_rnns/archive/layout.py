"""Where things lie in an archive, below its one top folder, and what its own tables say they hold."""

import hashlib
import mmap
from collections.abc import Mapping
from typing import IO

from tensor_rnns.experiments.records import DRAWN

README, CRATE = "README.md", "ro-crate-metadata.json"
CODECHECK, FORRT, MANIFEST = "codecheck.yml", "forrt.csv", "MANIFEST.csv"
CODE, RESULTS, DATA, ENVIRONMENT, PROVENANCE = "code", "results", "data", "environment", "provenance"
DATA_TABLE, JOBS_TABLE = f"{DATA}/manifest.csv", f"{PROVENANCE}/jobs.csv"
CONFIG = f"{PROVENANCE}/config.json"
SETTINGS = ("roots", "scale", "data", "papers", "guests")
"""The settings of the report, as the commands take them, and the file that holds them."""
INSTALLED = f"{ENVIRONMENT}/installed.txt"

BY_HAND = f"{RESULTS}/recorded/stopping.csv"
"""A table that is written by hand and has no seal."""
FOLDERS = ("report", "runs", "probes", "computed", "collected", *DRAWN)
FILES = ("claims.csv", "board.json", "stopping.csv")
"""What of a scale and of the recorded runs may be in an archive; logs are not."""
TRACKED = tuple(f"recorded/{name}" for name in ("runs", "computed", *FILES))
"""What of the recorded runs is under version control and in every archive."""
WEIGHTS = "weights.safetensors"
"""Of a run folder only on request: most of an archive's bytes, and no number is printed from them alone."""

COMMENT = 64
"""Bytes of the comment of the zip file."""
MOST_MEMBERS, MOST_BYTES = 200_000, 1 << 35
"""Of an archive that is read, and bytes of all of them."""
MANIFEST_COLUMNS = ("path", "bytes", "sha256")


def report(scale: str) -> str:
    """The first page of the report of a scale."""
    return f"{RESULTS}/{scale}/report/index.html"


def listed(settings: Mapping[str, str], name: str) -> list[str]:
    """The names, with commas between, of one of the settings in CONFIG."""
    return [part for part in settings.get(name, "").split(",") if part]


def holds(table: str) -> str:
    """What the seal of a table of the archive says: `archive/<path>`."""
    return f"archive/{table}"


def digest_of(raw: IO[bytes]) -> bytes:
    """The sha256 of a zip file on disk but for its comment, which it is, in hexadecimal."""
    with mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as whole, memoryview(whole)[:-COMMENT] as before:
        return hashlib.sha256(before).hexdigest().encode()
