"""The four sets of polyphonic music of Boulanger-Lewandowski, Bengio and Vincent (2012): pickle -> rolls."""

from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets.rolls import SPLITS, join, roll
from tensor_rnns.datasets.unpickle import loads


def read(raw: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and counted facts of the one pickle in the folder `raw`; see `read_pickle`."""
    paths = sorted(raw.glob("*.pickle"))
    if len(paths) != 1:
        raise ValueError(f"{raw}: expected one pickle, found {[path.name for path in paths]}")
    return read_pickle(paths[0])


def read_pickle(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A pickled dict split -> pieces -> steps -> MIDI notes, as arrays and counted facts of `rolls.join`.

    ValueError if the pickle asks for anything but numpy integers or has another structure.
    """
    content = loads(path.read_bytes(), str(path))
    if not isinstance(content, dict) or content.keys() != set(SPLITS):
        found = sorted(map(str, content)) if isinstance(content, dict) else type(content).__name__
        raise ValueError(f"{path}: expected a dict with {', '.join(SPLITS)}, found {found}")
    pieces = {}
    for split in SPLITS:
        pieces[split] = []
        if not listed(content[split], f"{path}: {split}"):
            raise ValueError(f"{path}: {split}: no pieces")
        for number, piece in enumerate(content[split]):
            where = f"{path}: {split}, piece {number}"
            for notes in listed(piece, where):
                listed(notes, where)
            pieces[split].append(roll(piece, where))
    return join(pieces)


def listed(value: Any, where: str) -> list | tuple:
    """`value` if it is a list or tuple, else ValueError."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"{where}: expected a list, found {type(value).__name__}")
    return value
