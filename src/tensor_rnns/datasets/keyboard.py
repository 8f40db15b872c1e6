"""Keyboard music of the music21 corpus as piano rolls at an eighth note: solo pieces and piano parts."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.rolls import corpus, described, sampled

EIGHTHS = 2
Pieces = Mapping[str, Sequence[str]]
"""Scores by split."""


def files(pieces: Pieces) -> list[Path]:
    """The scores that are read, in the installed music21, split after split."""
    return [corpus() / name for names in pieces.values() for name in names]


def read(pieces: Pieces) -> Parsed:
    """Arrays of `rolls.join` and counted facts. The piano is the last part of a score."""
    return described({split: [eighths(corpus() / name) for name in names] for split, names in pieces.items()})


def eighths(path: Path) -> np.ndarray:
    """The roll of the last part of a score, uint8 [steps, 88]. ValueError for a score without parts."""
    return sampled(musicxml.aligned(musicxml.parts(path)[-1:], str(path)), str(path), EIGHTHS)
