"""Keyboard music of the music21 corpus as piano rolls at an eighth note: solo pieces and piano parts."""

from pathlib import Path

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.rolls import corpus, described, sampled

EIGHTHS = 2
PIECES = {
    "train": (
        "beach/prayer_of_a_tired_child.musicxml",
        "joplin/maple_leaf_rag.mxl",
        "schumann_clara/polonaise_op1n1.mxl",
        "schumann_clara/polonaise_op1n3.mxl",
        "weber/concertino_clarinet.mxl",
    ),
    "valid": (
        "cpebach/h186.mxl",
        "mozart/k545/movement1_exposition.mxl",
        "schumann_clara/opus17/movement3.xml",
    ),
    "test": (
        "schubert/Lindenbaum.xml",
        "schumann_clara/polonaise_op1n2.mxl",
        "schumann_clara/polonaise_op1n4.mxl",
    ),
}


def files() -> list[Path]:
    """The scores that are read, in the installed music21, split after split."""
    return [corpus() / name for names in PIECES.values() for name in names]


def read() -> Parsed:
    """Arrays of `rolls.join` and counted facts. The piano is the last part of a score."""
    return described({split: [eighths(corpus() / name) for name in names] for split, names in PIECES.items()})


def eighths(path: Path) -> np.ndarray:
    """The roll of the last part of a score, uint8 [steps, 88]. ValueError for a score without parts."""
    return sampled(musicxml.aligned(musicxml.parts(path)[-1:], str(path)), str(path), EIGHTHS)
