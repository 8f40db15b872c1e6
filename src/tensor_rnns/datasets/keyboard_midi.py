"""The pieces of `keyboard`, written as MIDI files and read back: they stand in for real MIDI files."""

from typing import Any

import numpy as np

from tensor_rnns.datasets import keyboard
from tensor_rnns.datasets.tunes_midi import FIRST, rewritten

files = keyboard.files


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays as of `midi_zip.read`: the pieces are in order and not transposed."""
    return rewritten(keyboard.read()[0], FIRST)
