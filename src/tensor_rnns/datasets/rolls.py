"""Pieces as piano rolls: how all data sets of polyphonic music make, divide and count them.

The scores of music21's corpus are found without importing it.
"""

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets.musicxml import Note
from tensor_rnns.datasets.parsers import SPLITS, Parsed, folder

LOWEST, HIGHEST = 21, 108
TURN = ("train", "train", "train", "valid", "test")
"""The splits that pieces of a corpus go to in turn."""


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

    `equal_across_splits` is {"train 201": "valid 3, test 0"}: a piece of an earlier split and its doubles,
    all numbered from 0.
    """
    seen: dict[bytes, str] = {}
    within, across = 0, {}
    for split in SPLITS:
        for number, piece in enumerate(pieces[split]):
            here = f"{split} {number}"
            first = seen.setdefault(piece.tobytes(), here)
            if first.split()[0] != split:
                across[first] = f"{across[first]}, {here}" if first in across else here
            elif split == SPLITS[0] and first != here:
                within += 1
    return {"equal_within_train": within, "equal_across_splits": across}


def corpus() -> Path:
    """The folder of scores in the installed music21."""
    return folder("music21", "music21") / "corpus"


def matching(*patterns: str) -> list[Path]:
    """The files of the corpus that match, sorted by path; FileNotFoundError where there are none."""
    paths = sorted(path for pattern in patterns for path in corpus().glob(pattern))
    if not paths:
        raise FileNotFoundError(f"{corpus()}: no files {', '.join(patterns)}")
    return paths


def sampled(
    voices: Sequence[tuple[Iterable[Note], Fraction]], where: str, steps_a_quarter: int = 1
) -> np.ndarray:
    """The roll of voices, each its notes and its length, uint8 [steps, 88].

    A note sounds in row q if it is on at q / steps_a_quarter quarter notes from the start. ValueError, with
    `where`, for a note outside 21..108 or for no voice.
    """
    if not voices:
        raise ValueError(f"{where}: no voices")
    notes = (
        (ceil(steps_a_quarter * note.start), ceil(steps_a_quarter * note.stop), note.pitch)
        for sounding, _ in voices
        for note in sounding
    )
    return painted(notes, ceil(steps_a_quarter * max(length for _, length in voices)), where)


def collected(pieces: Iterable[tuple[str, np.ndarray]]) -> Parsed:
    """Arrays of `join` and counted facts of named pieces in their order.

    A piece equal to an earlier one is removed; of every five that remain three go to train, the fourth to
    valid, the fifth to test.
    """
    seen: dict[bytes, str] = {}
    removed: dict[str, str] = {}
    split: dict[str, list[np.ndarray]] = {name: [] for name in SPLITS}
    turns = cycle(TURN)
    for name, piece in pieces:
        earlier = seen.setdefault(piece.tobytes(), name)
        if earlier == name:
            split[next(turns)].append(piece)
        else:
            removed[name] = earlier
    arrays, facts = described(split)
    return arrays, facts | {"removed_as_equal": removed}


def described(split: dict[str, list[np.ndarray]]) -> Parsed:
    """Arrays and facts of `join`, and the lengths of pieces and the range found."""
    arrays, facts = join(split)
    lengths = [len(piece) for pieces in split.values() for piece in pieces]
    return arrays, facts | {
        "lengths": {"least": min(lengths), "median": float(np.median(lengths)), "most": max(lengths)},
        "low_found": facts["low"],
        "high_found": facts["high"],
    }
