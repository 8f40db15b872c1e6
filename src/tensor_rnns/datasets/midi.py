"""MIDI files that may be hostile -> piano rolls at an eighth note, read as the rolls of 2012 were made.

A note is rounded (halves up) to whole eighths at both ends, and the first eighth of the file is dropped. A
note that is struck again in its track while it sounds loses what sounded before. Read so, all 1,037 files of
Nottingham equal their rolls.
"""

import io
import struct
import warnings
from typing import Any

import numpy as np

from tensor_rnns.datasets.rolls import HIGHEST, LOWEST

MOST_BYTES = 1 << 18
MOST_TRACKS = 64
MOST_STEPS = 100_000
"""Limits: bytes and tracks of a file, eighths of a piece."""
HEAD = struct.Struct(">4sIHHH")
CHUNK = struct.Struct(">4sI")


def check(data: bytes, where: str) -> None:
    """ValueError unless `data` has the structure of a MIDI file of format 0 or 1 with a plain division.

    Looked at are the header and the sizes of the chunks: no library meets a file that lies about them.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"{where}: {len(data):,} bytes; MIDI files of at most {MOST_BYTES:,} are read")
    if not data.startswith(b"MThd"):
        raise ValueError(f"{where}: a MIDI file begins b'MThd', this one {data[:4] or 'is empty'}")
    if len(data) < HEAD.size:
        raise ValueError(f"{where}: the file ends after {len(data)} bytes, in its header of {HEAD.size}")
    _, length, form, tracks, division = HEAD.unpack_from(data)
    if length != 6 or form not in (0, 1) or not 1 <= tracks <= MOST_TRACKS or not 0 < division < 1 << 15:
        raise ValueError(
            f"{where}: header of {length} bytes, format {form}, {tracks} tracks, division {division}; "
            f"allowed are 6 bytes, format 0 or 1, 1 to {MOST_TRACKS} tracks, division 1 to 32767"
        )
    at, count = HEAD.size, 0
    while at < len(data):
        if at + CHUNK.size > len(data):
            raise ValueError(f"{where}: {len(data) - at} bytes are left over after {count} tracks")
        name, size = CHUNK.unpack_from(data, at)
        at += CHUNK.size + size
        if name != b"MTrk" or at > len(data):
            raise ValueError(
                f"{where}: chunk {count + 1}: expected a track (b'MTrk') within the "
                f"{len(data) - at + size:,} bytes that are left, found {name} of {size:,} bytes"
            )
        count += 1
    if count != tracks:
        raise ValueError(f"{where}: {tracks} tracks are declared, {count} found")


def notes(data: bytes, where: str) -> tuple[np.ndarray, float]:
    """The notes of a MIDI file, int64 [notes, 4]: track, pitch, first, last tick; and the ticks of an eighth.

    Drums are left out. ValueError for a file that is not whole, or that pretty_midi cannot read.
    """
    import pretty_midi

    check(data, where)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            read = pretty_midi.PrettyMIDI(io.BytesIO(data))
        rows = [
            (track, note.pitch, read.time_to_tick(note.start), read.time_to_tick(note.end))
            for track, instrument in enumerate(read.instruments)
            for note in instrument.notes
            if not instrument.is_drum
        ]
    except Exception as error:  # a library over foreign bytes: whatever it meets, the file is refused
        raise ValueError(f"{where}: not a readable MIDI file ({type(error).__name__}: {error})") from error
    if not rows:
        raise ValueError(f"{where}: no notes besides drums")
    return np.array(rows, dtype=np.int64), read.resolution / 2


def eighths(data: bytes, where: str) -> np.ndarray:
    """The roll of a MIDI file, uint8 [steps, 88]; column 0 is MIDI 21.

    ValueError for one that cannot be read, is longer than MOST_STEPS, or has a note outside 21..108.
    """
    played, eighth = notes(data, where)
    low, high = played[:, 1].min(), played[:, 1].max()
    if low < LOWEST or high > HIGHEST:
        raise ValueError(f"{where}: notes {low} to {high}; MIDI {LOWEST}..{HIGHEST} is allowed")
    begin, end = (np.floor(played[:, column] / eighth + 0.5).astype(np.int64) - 1 for column in (2, 3))
    if end.max() > MOST_STEPS:
        raise ValueError(f"{where}: {end.max():,} eighths; at most {MOST_STEPS:,} are read")
    roll = np.zeros((max(int(end.max()), 0), HIGHEST - LOWEST + 1), dtype=np.uint8)
    last: dict[tuple[int, ...], int] = {}
    for (track, pitch, start, stop), row in zip(played.tolist(), range(len(played)), strict=True):
        earlier = last.get((track, pitch, stop))
        if earlier is None or played[earlier, 2] < start:
            last[track, pitch, stop] = row
    for row in last.values():
        roll[max(begin[row], 0) : max(end[row], 0), played[row, 1] - LOWEST] = 1
    return roll


def written(roll: np.ndarray) -> bytes:
    """A MIDI file of one track whose `eighths` are `roll`: 240 ticks per eighth, after an eighth of rest."""
    import pretty_midi

    made = pretty_midi.PrettyMIDI(resolution=480, initial_tempo=120)
    track = pretty_midi.Instrument(0)
    for pitch in np.flatnonzero(roll.any(axis=0)):
        edges = np.flatnonzero(np.diff(roll[:, pitch].astype(np.int8), prepend=0, append=0))
        for start, stop in edges.reshape(-1, 2) + 1:
            track.notes.append(pretty_midi.Note(100, int(pitch) + LOWEST, start / 4, stop / 4))
    made.instruments.append(track)
    stream = io.BytesIO()
    made.write(stream)
    return stream.getvalue()


def facts_of(arrays: dict[str, np.ndarray], splits: tuple[str, ...]) -> dict[str, Any]:
    """How many files were matched to a piece of the rolls, and how many not, of each split."""
    return {
        "matched": {split: int((arrays[f"{split}_index"] >= 0).sum()) for split in splits},
        "not_matched": {split: int((arrays[f"{split}_index"] < 0).sum()) for split in splits},
    }
