"""What the stand-ins from the scores of music21's corpus share; music21 is not imported."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import cycle
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets.musicxml import Note
from tensor_rnns.datasets.packages import folder
from tensor_rnns.datasets.rolls import HIGHEST, LOWEST, SPLITS, join

TURN = ("train", "train", "train", "valid", "test")


def corpus() -> Path:
    """The folder of scores in the installed music21."""
    return folder("music21", "music21") / "corpus"


def sampled(
    voices: Sequence[tuple[Iterable[Note], Fraction]], where: str, steps_a_quarter: int = 1
) -> np.ndarray:
    """The roll of voices, each its notes and its length, uint8 [steps, 88].

    A note sounds in row q if it is on at q / steps_a_quarter quarter notes from the start. ValueError, with
    `where`, for a note outside 21..108 or for no voice.
    """
    if not voices:
        raise ValueError(f"{where}: no voices")
    length = max(length for _, length in voices)
    roll = np.zeros((ceil(steps_a_quarter * length), HIGHEST - LOWEST + 1), dtype=np.uint8)
    for sounding, _ in voices:
        for note in sounding:
            if not LOWEST <= note.pitch <= HIGHEST:
                raise ValueError(f"{where}: note {note.pitch}; MIDI {LOWEST}..{HIGHEST} is allowed")
            start, stop = ceil(steps_a_quarter * note.start), ceil(steps_a_quarter * note.stop)
            roll[start:stop, note.pitch - LOWEST] = 1
    return roll


def collected(pieces: Iterable[tuple[str, np.ndarray]]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of `rolls.join` and counted facts of named pieces in their order.

    A piece equal to an earlier one is removed; of every five that remain three go to train, the fourth to
    valid, the fifth to test.
    """
    seen: dict[bytes, str] = {}
    removed: dict[str, str] = {}
    kept: list[np.ndarray] = []
    for name, piece in pieces:
        earlier = seen.setdefault(piece.tobytes(), name)
        if earlier == name:
            kept.append(piece)
        else:
            removed[name] = earlier
    split = {name: [piece for piece, turn in zip(kept, cycle(TURN)) if turn == name] for name in SPLITS}
    arrays, facts = described(split)
    return arrays, facts | {"removed_as_equal": removed}


def described(split: dict[str, list[np.ndarray]]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and facts of `rolls.join`, and the lengths of pieces and the range found."""
    arrays, facts = join(split)
    lengths = [len(piece) for pieces in split.values() for piece in pieces]
    return arrays, facts | {
        "lengths": {"least": min(lengths), "median": float(np.median(lengths)), "most": max(lengths)},
        "low_found": facts["low"],
        "high_found": facts["high"],
    }
