"""Piano rolls as a standard MIDI file of one track, in equal bytes for equal notes."""

import struct
from collections.abc import Iterator, Sequence
from typing import IO

import numpy as np

DIVISION = 480
"""Ticks of a quarter note."""
VELOCITY = 80
PAUSE = 2
"""Quarter notes of silence between two pieces."""


def notes(roll: np.ndarray, lowest: int) -> Iterator[tuple[int, int, int]]:
    """(first step, step after the last, MIDI number) of every run of steps in which a note of `roll`
    [T, notes] sounds."""
    sounding = np.zeros((len(roll) + 2, roll.shape[1]), dtype=bool)
    sounding[1:-1] = roll > 0.5
    changes = sounding[1:] != sounding[:-1]
    for column in range(roll.shape[1]):
        times = np.flatnonzero(changes[:, column])
        for start, end in zip(times[::2], times[1::2], strict=True):
            yield int(start), int(end), lowest + column


def write_midi(
    stream: IO[bytes], pieces: Sequence[tuple[np.ndarray, int]], beat: float, tempo: float
) -> None:
    """Write `pieces` (a roll [T, notes] and its lowest MIDI number) one after another.

    `beat` steps are a quarter note, `tempo` quarter notes a minute. ValueError for a note outside 0 to 127.
    """
    events, start = [], 0.0
    for roll, lowest in pieces:
        for first, end, pitch in notes(roll, lowest):
            if not 0 <= pitch <= 127:
                raise ValueError(f"a note of {pitch}; MIDI has 0 to 127")
            events.append((round((start + first / beat) * DIVISION), 1, pitch))
            events.append((round((start + end / beat) * DIVISION), 0, pitch))
        start += len(roll) / beat + PAUSE
    track = b"\x00\xff\x51\x03" + round(60_000_000 / tempo).to_bytes(3, "big")
    now = 0
    for time, on, pitch in sorted(events):
        track += _length(time - now) + bytes((0x90, pitch, VELOCITY * on))
        now = time
    track += b"\x00\xff\x2f\x00"
    stream.write(
        b"MThd" + struct.pack(">IHHH", 6, 0, 1, DIVISION) + b"MTrk" + struct.pack(">I", len(track)) + track
    )


def _length(value: int) -> bytes:
    """A number in groups of seven bits, all but the last marked."""
    groups = [value & 0x7F]
    while value := value >> 7:
        groups.append(value & 0x7F | 0x80)
    return bytes(reversed(groups))
