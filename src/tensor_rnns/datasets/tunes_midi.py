"""The first pieces of each split of other music, written as MIDI files and read back; they stand in for real
ones."""

from pathlib import Path
from typing import Literal

import numpy as np

from tensor_rnns.datasets import keyboard, midi, table, tunes
from tensor_rnns.datasets.parsers import SPLITS, Parsed

FIRST = 12
MUSIC = {"tunes": tunes, "keyboard": keyboard}
Music = Literal[*MUSIC]


def files(of: Music = "tunes") -> list[Path]:
    """The files that the music is read from."""
    return MUSIC[of].files(**table.entry(of).options)


def read(of: Music = "tunes") -> Parsed:
    """Arrays as of `midi.joined`: the pieces are in order and not transposed."""
    arrays, _ = MUSIC[of].read(**table.entry(of).options)
    pieces, matches = {}, {}
    for split in SPLITS:
        cuts = np.cumsum(arrays[f"{split}_lengths"])[:-1]
        rolls = np.split(arrays[f"{split}_roll"], cuts)[:FIRST]
        pieces[split] = [
            midi.eighths(midi.written(roll), f"{split} {number}") for number, roll in enumerate(rolls)
        ]
        matches[split] = [(number, 0) for number in range(len(rolls))]
    return midi.joined(pieces, matches)
