"""The first tunes of each split of `tunes`, written as MIDI files and read back; they stand in for real
ones."""

import numpy as np

from tensor_rnns.datasets import midi, tunes
from tensor_rnns.datasets.parsers import SPLITS, Parsed

FIRST = 12
files = tunes.files


def read() -> Parsed:
    """Arrays as of `midi.joined`: the pieces are in order and not transposed."""
    return rewritten(tunes.read()[0])


def rewritten(arrays: dict[str, np.ndarray]) -> Parsed:
    """The first pieces of each split as MIDI files, read back."""
    pieces, matches = {}, {}
    for split in SPLITS:
        cuts = np.cumsum(arrays[f"{split}_lengths"])[:-1]
        rolls = np.split(arrays[f"{split}_roll"], cuts)[:FIRST]
        pieces[split] = [
            midi.eighths(midi.written(roll), f"{split} {number}") for number, roll in enumerate(rolls)
        ]
        matches[split] = [(number, 0) for number in range(len(rolls))]
    return midi.joined(pieces, matches)
