"""A zip of MIDI files that may be hostile -> piano rolls at an eighth note.

A table beside the zip has each file's split, its piece of the rolls and its transposition. Files are read as
the rolls of 2012 were made: a note is rounded (halves up) to whole eighths at both ends, and the first eighth
of the file is dropped. A note that is struck again in its track while it sounds loses what sounded before.
Read so, all 1,037 files of Nottingham equal their rolls.
"""

import csv
import io
import re
import struct
import warnings
from collections.abc import Mapping, Sequence
from math import floor
from pathlib import Path

import numpy as np

from tensor_rnns.datasets import unpack
from tensor_rnns.datasets.parsers import SPLITS, Parsed, only
from tensor_rnns.datasets.rolls import LOWEST, join, painted
from tensor_rnns.datasets.texts import read_text
from tensor_rnns.messages import shortened

MOST_BYTES = 1 << 18
MOST_TRACKS = 64
MOST_STEPS = 100_000
"""Limits: bytes and tracks of a file, eighths of a piece."""
HEAD = struct.Struct(">4sIHHH")
CHUNK = struct.Struct(">4sI")
COLUMNS = {
    "split": "train|valid|test",
    "index_in_pickle": "[0-9]{0,9}",
    "file": ".*",
    "piano_roll_mismatch": ".*",
    "transposition_semitones": "|-?(1?[0-9]|2[0-4])",
}
"""The columns of the table, and what their cells may be."""


def check(data: bytes, where: str) -> None:
    """ValueError unless `data` has the structure of a MIDI file of format 0 or 1 with a plain division.

    Looked at are the header and the sizes of the chunks: no library meets a file that lies about them.
    """
    if len(data) > MOST_BYTES:
        raise ValueError(f"{where}: {len(data):,} bytes; MIDI files of at most {MOST_BYTES:,} are read")
    if len(data) < HEAD.size:
        raise ValueError(f"{where}: {len(data)} bytes; the header of a MIDI file has {HEAD.size}")
    name, length, form, tracks, division = HEAD.unpack_from(data)
    right = name == b"MThd" and length == 6 and form in (0, 1) and 1 <= tracks <= MOST_TRACKS
    if not right or not 0 < division < 1 << 15:
        raise ValueError(
            f"{where}: header {name} of {length} bytes, format {form}, {tracks} tracks, division {division}; "
            f"allowed are b'MThd', 6 bytes, format 0 or 1, 1 to {MOST_TRACKS} tracks, division 1 to 32767"
        )
    at, count = HEAD.size, 0
    while data[at : at + 4] == b"MTrk" and at + CHUNK.size <= len(data):
        at += CHUNK.size + CHUNK.unpack_from(data, at)[1]
        count += 1
    if at != len(data) or count != tracks:
        raise ValueError(
            f"{where}: {tracks} tracks are declared in {len(data):,} bytes; {count} in a row end at {at:,}"
        )


def notes(data: bytes, where: str) -> tuple[list[tuple[int, int, int, int]], float]:
    """The notes of a MIDI file, each its track, pitch, first and last tick; and the ticks of an eighth.

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
    return rows, read.resolution / 2


def eighths(data: bytes, where: str) -> np.ndarray:
    """The roll of a MIDI file, uint8 [steps, 88]; column 0 is MIDI 21.

    ValueError for one that cannot be read, is longer than MOST_STEPS, or has a note outside 21..108.
    """
    played, eighth = notes(data, where)

    def step(tick: int) -> int:
        return max(floor(tick / eighth + 0.5) - 1, 0)

    latest: dict[tuple[int, int, int], int] = {}
    for track, pitch, start, stop in played:
        latest[track, pitch, stop] = max(start, latest.get((track, pitch, stop), start))
    steps = step(max(stop for *_, stop in latest))
    if steps > MOST_STEPS:
        raise ValueError(f"{where}: {steps:,} eighths; at most {MOST_STEPS:,} are read")
    rows = ((step(start), step(stop), pitch) for (_, pitch, stop), start in latest.items())
    return painted(rows, steps, where)


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


def joined(
    pieces: Mapping[str, Sequence[np.ndarray]], matches: Mapping[str, Sequence[tuple[int, int]]]
) -> Parsed:
    """Arrays and facts of `rolls.join` for the pieces of each split, and how they are matched to the rolls.

    `matches` has for each piece {split}_index int64 (the piece of the rolls, -1 for none) and
    {split}_transposition int64 (semitones from the file to the rolls).
    """
    arrays, facts = join(pieces)
    facts |= {"matched": {}, "not_matched": {}}
    for split in SPLITS:
        index, transposition = np.array(matches[split], dtype=np.int64).T
        arrays |= {f"{split}_index": index, f"{split}_transposition": transposition}
        facts["matched"][split] = int((index >= 0).sum())
        facts["not_matched"][split] = int((index < 0).sum())
    return arrays, facts


def read(raw: Path) -> Parsed:
    """Arrays of `joined` in the files' own keys, and counted facts.

    ValueError for an archive or a table that is damaged, or where they do not fit each other.
    """
    archive, table = only(raw, "*.zip"), only(raw, "*.csv")
    files = unpack.members(archive, ".mid", MOST_BYTES)
    rows = matches(table)
    paths = {tuple(Path(name).parts[-2:]): name for name in files}
    if set(paths) != set(rows):
        missing, more = sorted(set(rows) - set(paths)), sorted(set(paths) - set(rows))
        raise ValueError(
            f"{table}: {len(missing)} files are not in {archive.name} {shortened(str(missing[:3]), 500)}, "
            f"{len(more)} of its files have no row {shortened(str(more[:3]), 500)}"
        )
    pieces: dict[str, list[np.ndarray]] = {split: [] for split in SPLITS}
    numbers: dict[str, list[tuple[int, int]]] = {split: [] for split in SPLITS}
    for (split, name), row in sorted(rows.items()):
        pieces[split].append(eighths(files[paths[split, name]], f"{archive}: {name}"))
        numbers[split].append(row)
    arrays, facts = joined(pieces, numbers)
    return arrays, facts | {"files": len(files), "distinct_files": len(set(files.values()))}


def matches(table: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """(split, file) -> (piece or -1, semitones); ValueError for a table of another form, with the line."""
    reader = csv.reader(io.StringIO(read_text(table)))
    rows: dict[tuple[str, str], tuple[int, int]] = {}
    try:
        head = next(reader)
        if head != list(COLUMNS):
            raise ValueError(f"expected the columns {', '.join(COLUMNS)}, found {', '.join(head) or 'none'}")
        for row in reader:
            file, numbers = matched(row)
            if file in rows:
                raise ValueError(f"{file[0]}, {file[1]} is there twice")
            rows[file] = numbers
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{table}, line {reader.line_num}: {shortened(str(error), 500)}") from None
    return rows


def matched(row: list[str]) -> tuple[tuple[str, str], tuple[int, int]]:
    """One row of the table as in `matches`; ValueError says which cell is wrong."""
    if len(row) != len(COLUMNS):
        raise ValueError(f"{len(row)} cells; the table has {len(COLUMNS)} columns")
    for cell, (column, allowed) in zip(row, COLUMNS.items(), strict=True):
        if not re.fullmatch(allowed, cell):
            raise ValueError(f"{column} {cell!r}; allowed is {allowed}")
    split, index, name, _, semitones = row
    return (split, name), (int(index or -1), int(semitones or 0))
