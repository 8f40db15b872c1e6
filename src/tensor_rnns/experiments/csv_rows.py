"""Rows of the tables that lie beside experiment files, which people write by hand or in a spreadsheet."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from tensor_rnns.messages import shortened


def rows(path: Path, text: str, columns: Sequence[str]) -> tuple[list[tuple[int, dict[str, str]]], list[str]]:
    """The rows of the table in `text` with the lines that they end in, and a message for each of another
    length; ValueError where it is none with these columns."""
    reader, found, wrong, begin = csv.reader(io.StringIO(text, newline=""), strict=True), [], [], 1
    try:
        check_head(path, next(reader, []), columns)
        begin = reader.line_num + 1
        for row in reader:
            begin = reader.line_num + 1
            if len(row) == len(columns):
                found.append((reader.line_num, dict(zip(columns, row, strict=True))))
            elif row:
                told = f"{len(row)} columns given where the head has {len(columns)}"
                more = "; a text with a comma stands in quotes" if len(row) > len(columns) else ""
                wrong.append(f"{path}:{reader.line_num}: {told}{more}")
    except csv.Error as error:
        raise ValueError(f"{path}:{begin}: not a table in CSV: {error}") from None
    return found, wrong


def check_head(path: Path, given: Sequence[str], columns: Sequence[str]) -> None:
    """ValueError where a table has other columns, or these in another order."""
    if tuple(given) == tuple(columns):
        return
    if len(given) == 1 and set(columns) & set(given[0].split(";")):
        raise ValueError(f"{path}:1: columns: parted by semicolons; allowed are commas")
    apart = {"unknown": [name for name in given if name not in columns],
             "missing": [name for name in columns if name not in given]}  # fmt: skip
    said = "; ".join(f"{what} {', '.join(map(repr, names))}" for what, names in apart.items() if names)
    said = shortened(said, 1000) or f"allowed are {', '.join(columns)} in this order, each once"
    raise ValueError(f"{path}:1: columns: {said}")
