"""A zip of MIDI files, and the table of each one's split, piece of the rolls and transposition."""

import csv
import io
import re
from pathlib import Path

import numpy as np

from tensor_rnns.datasets import midi, unpack
from tensor_rnns.datasets.parsers import SPLITS, Parsed
from tensor_rnns.datasets.texts import read_text

COLUMNS = {
    "split": "train|valid|test",
    "index_in_pickle": "[0-9]{0,9}",
    "file": ".*",
    "piano_roll_mismatch": ".*",
    "transposition_semitones": "|-?(1?[0-9]|2[0-4])",
}
"""The columns of the table, and what their cells may be."""


def read(raw: Path) -> Parsed:
    """Arrays of `midi.joined` in the files' own keys, and counted facts.

    ValueError for an archive or a table that is damaged, or where they do not fit each other.
    """
    (archive,), (table,) = sorted(raw.glob("*.zip")), sorted(raw.glob("*.csv"))
    files = unpack.members(archive, ".mid", midi.MOST_BYTES)
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
    arrays, facts = midi.joined(pieces, numbers)
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
        raise ValueError(f"{table}, line {reader.line_num}: {error}") from None
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
