"""The Bach chorales of the music21 corpus as piano rolls at a quarter note."""

from pathlib import Path

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.rolls import collected, matching, sampled

PARTS = 4


def files() -> list[Path]:
    """The scores that are read, in the installed music21, sorted by name."""
    return matching("bach/*.mxl", "bach/*.xml", "bach/*.musicxml")


def read() -> Parsed:
    """Arrays of `rolls.join` and counted facts, among them the pieces removed as equal to an earlier one."""
    scores = files()
    rolls = ((path.name, quarters(path)) for path in scores)
    four_part = [(name, piece) for name, piece in rolls if piece is not None]
    arrays, facts = collected(four_part)
    return arrays, facts | {"scores": len(scores), "four_part": len(four_part)}


def quarters(path: Path) -> np.ndarray | None:
    """The roll of a four-part score, uint8 [steps, 88]; None for a score with another number of parts.

    Row q holds the notes that sound at q quarter notes from the start. ValueError for a note outside 21..108.
    """
    parts = musicxml.parts(path)
    return sampled(musicxml.aligned(parts, str(path)), str(path)) if len(parts) == PARTS else None
