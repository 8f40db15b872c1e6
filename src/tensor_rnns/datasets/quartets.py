"""String quartets (Haydn, Mozart, Beethoven, Schumann) of the music21 corpus as rolls at an eighth note."""

from pathlib import Path

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.rolls import collected, matching, sampled

EIGHTHS, PARTS = 2, 4
COMPOSERS = ("beethoven", "haydn", "mozart", "schumann_robert")


def files() -> list[Path]:
    """The movements that are read, in the installed music21, sorted by composer, work and movement."""
    return matching(*(f"{name}/*/movement?.mxl" for name in COMPOSERS))


def read() -> Parsed:
    """Arrays of `rolls.join` and counted facts. ValueError for a score of other than four parts."""
    paths = files()
    arrays, facts = collected(("/".join(path.parts[-3:]), eighths(path)) for path in paths)
    return arrays, facts | {"movements": len(paths)}


def eighths(path: Path) -> np.ndarray:
    """The roll of a movement, uint8 [steps, 88]."""
    parts = musicxml.parts(path)
    if len(parts) != PARTS:
        raise ValueError(f"{path}: {len(parts)} parts; {PARTS} are expected")
    return sampled(musicxml.aligned(parts, str(path)), str(path), EIGHTHS)
