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
            midi.eighths(midi.written(roll), f"{split} {place}") for place, roll in enumerate(rolls)
        ]
    found, facts = join(pieces)
    for split in SPLITS:
        found[f"{split}_index"] = np.arange(len(pieces[split]))
        found[f"{split}_transposition"] = np.zeros(len(pieces[split]), dtype=np.int64)
    return found, facts | midi.facts_of(found, SPLITS)
