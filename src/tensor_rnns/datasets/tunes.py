"""Fiddle tunes (Ryan's Mammoth Collection, 1883) of the music21 corpus as piano rolls at an eighth note."""

from pathlib import Path

import numpy as np

from tensor_rnns.datasets import abc
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.rolls import collected, matching, sampled

EIGHTHS = 2


def files() -> list[Path]:
    """The tunes that are read, in the installed music21, sorted by name."""
    return matching("ryansMammoth/*.abc")


def read() -> Parsed:
    """Arrays of `rolls.join` and counted facts, among them the tunes left out: their text is damaged."""
    pieces, left_out = [], []
    for path in files():
        try:
            pieces.append((path.stem, eighths(path)))
        except ValueError:
            left_out.append(path.stem)
    arrays, facts = collected(pieces)
    return arrays, facts | {"tunes": len(pieces) + len(left_out), "left_out": left_out}


def eighths(path: Path) -> np.ndarray:
    """The roll of a tune, uint8 [steps, 88]. ValueError for a file that is no tune."""
    return sampled([abc.tune(path.read_text(encoding="latin1"), str(path))], str(path), EIGHTHS)
