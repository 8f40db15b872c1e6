"""The pieces of `keyboard`, written as MIDI files and read back: they stand in for real MIDI files."""

from tensor_rnns.datasets import keyboard
from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.tunes_midi import rewritten

files = keyboard.files


def read() -> Parsed:
    """Arrays as of `midi.joined`: the pieces are in order and not transposed."""
    return rewritten(keyboard.read()[0])
