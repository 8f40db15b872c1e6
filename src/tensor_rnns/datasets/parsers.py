"""What all parsers share: the splits, the type of their answer, packed files, and those of packages."""

import bz2
import gzip
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.files import of_the_disk

SPLITS = ("train", "valid", "test")
Parsed = tuple[dict[str, np.ndarray], dict[str, Any]]
"""The arrays of a data set by name, and the facts counted in them."""


def folder(module: str, package: str) -> Path:
    """The folder of the installed `module`, which is not imported; FileNotFoundError says what to install."""
    spec = find_spec(module)
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            f"the package {package} is not installed; its data stand in for a paper's data set"
        )
    return Path(spec.origin).parent


def only(folder: Path, pattern: str) -> Path:
    """The file of a folder that matches; ValueError unless it is one."""
    paths = sorted(folder.glob(pattern))
    if len(paths) != 1:
        raise ValueError(f"{folder}: {len(paths)} files {pattern}; one is expected")
    return paths[0]


def unpacked(path: Path, most: int) -> bytes:
    """The bytes of a .gz or .bz2 file; ValueError if it is damaged or more than `most` come out."""
    form = path.suffix.removeprefix(".")
    try:
        with (bz2.open if form == "bz2" else gzip.open)(path, "rb") as stream:
            data = stream.read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        if of_the_disk(error):
            raise
        raise ValueError(f"{path}: not a whole {form} file ({error})") from error
    if len(data) > most:
        raise ValueError(f"{path}: more than {most:,} bytes come out")
    return data
