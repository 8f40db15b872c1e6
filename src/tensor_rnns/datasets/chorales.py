"""The Bach chorales of the music21 corpus as piano rolls at a quarter note."""

from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets import musicxml
from tensor_rnns.datasets.scores import collected, corpus, sampled

PARTS = 4
SUFFIXES = (".mxl", ".xml", ".musicxml")


def files() -> list[Path]:
    """The scores that are read, in the installed music21, sorted by name."""
    bach = corpus() / "bach"
    paths = sorted(path for path in bach.iterdir() if path.suffix in SUFFIXES)
    if not paths:
        raise FileNotFoundError(f"{bach}: no scores ending in {', '.join(SUFFIXES)}")
    return paths


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of `rolls.join` and counted facts, among them the pieces removed as equal to an earlier one."""
    scores = files()
    rolls = ((path.name, quarters(path)) for path in scores)
    four_part = [(name, piece) for name, piece in rolls if piece is not None]
    arrays, facts = collected(four_part)
    return arrays, facts | {"scores": len(scores), "four_part": len(four_part)}


def quarters(path: Path) -> np.ndarray | None:
    """The roll of a four-part score, uint8 [steps, 88]; None for a score with another number of parts.

    Row q holds the notes that sound at q quarter notes from the start. ValueError for a note outside 21..108.
    """
    parts = musicxml.score(path).findall("part")
    if len(parts) != PARTS:
        return None
    return sampled(musicxml.aligned(parts), str(path))
