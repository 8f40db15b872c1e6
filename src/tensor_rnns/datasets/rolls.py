"""Pieces as piano rolls: the arrays and the counted facts that all data sets of polyphonic music share."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tensor_rnns.datasets.parsers import SPLITS, Parsed

LOWEST, HIGHEST = 21, 108


def painted(notes: Iterable[tuple[int, int, Any]], steps: int, where: str) -> np.ndarray:
    """The roll of notes, each the row that it starts in, the row where it ends and its MIDI number.

    uint8 [steps, 88]; column 0 is MIDI 21. ValueError with `where` for a note that is no whole number or
    outside 21..108.
    """
    array = np.zeros((steps, HIGHEST - LOWEST + 1), dtype=np.uint8)
    for start, stop, note in notes:
        if type(note) is not int or not LOWEST <= note <= HIGHEST:
            allowed = f"whole numbers {LOWEST}..{HIGHEST} are allowed (MIDI)"
            raise ValueError(f"{where}, step {start}: note {note!r}; {allowed}")
        array[start:stop, note - LOWEST] = 1
    return array


def join(pieces: Mapping[str, Sequence[np.ndarray]]) -> Parsed:
    """Rolls by split -> {split}_roll uint8 [steps, 88], {split}_lengths int64 [pieces], and counted facts."""
    arrays: dict[str, np.ndarray] = {}
    for split in SPLITS:
        arrays[f"{split}_roll"] = np.concatenate(list(pieces[split]))
        arrays[f"{split}_lengths"] = np.array([len(piece) for piece in pieces[split]], dtype=np.int64)
    every = np.concatenate([arrays[f"{split}_roll"] for split in SPLITS])
    sounding = np.flatnonzero(every.any(axis=0)) + LOWEST
    facts = {
        "pieces": {split: len(pieces[split]) for split in SPLITS},
        "steps": {split: len(arrays[f"{split}_roll"]) for split in SPLITS},
        "low": int(sounding.min()),
        "high": int(sounding.max()),
        "notes_used": len(sounding),
        "notes_a_step": round(float(every.sum() / len(every)), 4),
        "largest_chord": int(every.sum(axis=1).max()),
    }
    return arrays, facts | equal_pieces(pieces)


def equal_pieces(pieces: Mapping[str, Sequence[np.ndarray]]) -> dict[str, Any]:
    """Facts on equal pieces: how many of train equal an earlier one of train, and the pairs across splits.

    `equal_across_splits` is {"train 201": "valid 3"}: the piece of the earlier split and its double, both
    numbered from 0.
    """
    seen: dict[bytes, str] = {}
    within, across = 0, {}
    for split in SPLITS:
        for number, piece in enumerate(pieces[split]):
            first = seen.setdefault(piece.tobytes(), f"{split} {number}")
            if first.split()[0] != split:
                across[first] = f"{split} {number}"
            elif split == SPLITS[0] and first != f"{split} {number}":
                within += 1
    return {"equal_within_train": within, "equal_across_splits": across}
