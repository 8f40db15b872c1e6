"""What the stand-ins from the scores of music21's corpus share; music21 is not imported."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import cycle
from math import ceil
from pathlib import Path

import numpy as np

from tensor_rnns.datasets.musicxml import Note
from tensor_rnns.datasets.parsers import SPLITS, Parsed, folder
from tensor_rnns.datasets.rolls import join, painted

TURN = ("train", "train", "train", "valid", "test")


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
    """Arrays of `rolls.join` and counted facts of named pieces in their order.

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
    """Arrays and facts of `rolls.join`, and the lengths of pieces and the range found."""
    arrays, facts = join(split)
    lengths = [len(piece) for pieces in split.values() for piece in pieces]
    return arrays, facts | {
        "lengths": {"least": min(lengths), "median": float(np.median(lengths)), "most": max(lengths)},
        "low_found": facts["low"],
        "high_found": facts["high"],
    }
