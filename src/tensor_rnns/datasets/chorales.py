"""The Bach chorales of the music21 corpus as piano rolls at a quarter note; music21 is not imported."""

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.packages import folder
from tensor_rnns.datasets.rolls import HIGHEST, LOWEST, join

PARTS = 4
TURN = ("train", "train", "train", "valid", "test")
SUFFIXES = (".mxl", ".xml", ".musicxml")


def files() -> list[Path]:
    """The scores that are read, in the installed music21, sorted by name."""
    bach = folder("music21", "music21") / "corpus" / "bach"
    found = sorted(path for path in bach.iterdir() if path.suffix in SUFFIXES)
    if not found:
        raise FileNotFoundError(f"{bach}: no scores ending in {', '.join(SUFFIXES)}")
    return found


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of `rolls.join` and counted facts, among them the pieces removed as equal to an earlier one."""
    scores = files()
    seen: dict[bytes, str] = {}
    removed: dict[str, str] = {}
    kept: list[np.ndarray] = []
    for path in scores:
        piece = quarters(path)
        if piece is None:
            continue
        earlier = seen.setdefault(piece.tobytes(), path.name)
        if earlier == path.name:
            kept.append(piece)
        else:
            removed[path.name] = earlier
    pieces = {split: [kept[i] for i in range(len(kept)) if TURN[i % len(TURN)] == split] for split in TURN}
    arrays, facts = join(pieces)
    lengths = [len(piece) for piece in kept]
    facts |= {
        "scores": len(scores),
        "four_part": len(kept) + len(removed),
        "removed_as_equal": removed,
        "lengths": {"least": min(lengths), "median": float(np.median(lengths)), "most": max(lengths)},
        "low_found": facts["low"],
        "high_found": facts["high"],
    }
    return arrays, facts


def quarters(path: Path) -> np.ndarray | None:
    """The roll of a four-part score, uint8 [steps, 88]; None for a score with another number of parts.

    Row q tells which notes sound at q quarter notes from the start. ValueError for a note outside 21..108.
    """
    parts = musicxml.score(path).findall("part")
    if len(parts) != PARTS:
        return None
    voices = [musicxml.notes(part) for part in parts]
    roll = np.zeros((ceil(max(length for _, length in voices)), HIGHEST - LOWEST + 1), dtype=np.uint8)
    for sounding, _ in voices:
        for note in sounding:
            if not LOWEST <= note.pitch <= HIGHEST:
                raise ValueError(f"{path}: note {note.pitch}; MIDI {LOWEST}..{HIGHEST} is allowed")
            roll[ceil(note.start) : ceil(note.stop), note.pitch - LOWEST] = 1
    return roll
