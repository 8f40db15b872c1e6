"""A zip of MIDI files, and the table of each one's split, piece of the rolls and transposition."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets import midi, zips
from tensor_rnns.datasets.rolls import SPLITS, join
from tensor_rnns.datasets.texts import read_text

COLUMNS = ("split", "index_in_pickle", "file", "piano_roll_mismatch", "transposition_semitones")
FARTHEST = 24
"""Semitones that a piece may be transposed by."""


def read(raw: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays of `rolls.join` in the files' own keys, {split}_index int64 (the piece of the rolls, -1 for
    none), {split}_transposition int64 (semitones from the file to the rolls), and counted facts.

    ValueError for an archive or a table that is damaged, or where they do not fit each other.
    """
    (archive,), (table,) = sorted(raw.glob("*.zip")), sorted(raw.glob("*.csv"))
    files = zips.members(archive, ".mid", midi.MOST_BYTES)
    rows = matches(table)
    paths = {tuple(Path(name).parts[-2:]): name for name in files}
    if set(paths) != set(rows):
        missing, more = sorted(set(rows) - set(paths)), sorted(set(paths) - set(rows))
        raise ValueError(
            f"{table}: {len(missing)} files are not in {archive.name} {missing[:3]}, "
            f"{len(more)} of its files have no row {more[:3]}"
        )
    pieces: dict[str, list[np.ndarray]] = {split: [] for split in SPLITS}
    numbers: dict[str, list[tuple[int, int]]] = {split: [] for split in SPLITS}
    for (split, name), row in sorted(rows.items()):
        pieces[split].append(midi.eighths(files[paths[split, name]], f"{archive}: {name}"))
        numbers[split].append(row)
    arrays, facts = join(pieces)
    for split in SPLITS:
        arrays[f"{split}_index"], arrays[f"{split}_transposition"] = np.array(
            numbers[split], dtype=np.int64
        ).T
    distinct = len(set(files.values()))
    return arrays, facts | {"files": len(files), "distinct_files": distinct} | midi.facts_of(arrays, SPLITS)


def matches(table: Path) -> dict[tuple[str, str], tuple[int, int]]:
    """(split, file) -> (piece or -1, semitones); ValueError for a table of another form, with the line."""
    reader = csv.DictReader(io.StringIO(read_text(table)))
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError(f"{table}: expected the columns {', '.join(COLUMNS)}, found {reader.fieldnames}")
    found: dict[tuple[str, str], tuple[int, int]] = {}
    for line, row in enumerate(reader, start=2):
        try:
            index = int(row["index_in_pickle"] or -1)
            semitones = int(row["transposition_semitones"] or 0)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{table}, line {line}: {error}") from None
        place = (row["split"], row["file"])
        if (
            row["split"] not in SPLITS
            or index < -1
            or abs(semitones) > FARTHEST
            or place in found
            or None in (*row, *row.values())
        ):
            raise ValueError(f"{table}, line {line}: {row} is no match of a file, or the file is there twice")
        found[place] = index, semitones
    return found
