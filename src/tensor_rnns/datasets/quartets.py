"""String quartets (Haydn, Mozart, Beethoven, Schumann) of the music21 corpus as rolls at an eighth note."""

from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.scores import collected, corpus, sampled

EIGHTHS, PARTS = 2, 4
COMPOSERS = ("beethoven", "haydn", "mozart", "schumann_robert")


def files() -> list[Path]:
    """The movements that are read, in the installed music21, sorted by composer, work and movement."""
    paths = sorted(path for name in COMPOSERS for path in (corpus() / name).glob("*/movement?.mxl"))
    if not paths:
        raise FileNotFoundError(f"{corpus()}: no movements of quartets")
    return paths


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of `rolls.join` and counted facts. ValueError for a score of other than four parts."""
    paths = files()
    arrays, facts = collected(("/".join(path.parts[-3:]), eighths(path)) for path in paths)
    return arrays, facts | {"movements": len(paths)}


def eighths(path: Path) -> np.ndarray:
    """The roll of a movement, uint8 [steps, 88]."""
    parts = musicxml.score(path).findall("part")
    if len(parts) != PARTS:
        raise ValueError(f"{path}: {len(parts)} parts; {PARTS} are expected")
    return sampled(musicxml.aligned(parts), str(path), EIGHTHS)
