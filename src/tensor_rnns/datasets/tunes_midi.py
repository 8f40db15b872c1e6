"""The first tunes of each split of `tunes`, written as MIDI files and read back; they stand in for real
ones."""

from typing import Any

import numpy as np

from tensor_rnns.datasets import midi, tunes
from tensor_rnns.datasets.rolls import SPLITS, join

FIRST = 12
files = tunes.files


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays as of `midi_zip.read`: the pieces are in order and not transposed."""
    return rewritten(tunes.read()[0], FIRST)


def rewritten(arrays: dict[str, np.ndarray], first: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The first pieces of each split as MIDI files, read back."""
    pieces = {}
    for split in SPLITS:
        cuts = np.cumsum(arrays[f"{split}_lengths"])[:-1]
        rolls = np.split(arrays[f"{split}_roll"], cuts)[:first]
        pieces[split] = [
            midi.eighths(midi.written(roll), f"{split} {number}") for number, roll in enumerate(rolls)
        ]
    arrays, facts = join(pieces)
    for split in SPLITS:
        arrays[f"{split}_index"] = np.arange(len(pieces[split]))
        arrays[f"{split}_transposition"] = np.zeros(len(pieces[split]), dtype=np.int64)
    return arrays, facts | midi.facts_of(arrays, SPLITS)
