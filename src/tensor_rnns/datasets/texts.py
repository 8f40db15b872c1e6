"""Texts as numbers: reading a file that may be hostile, vocabularies, and the facts counted in them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tensor_rnns.datasets.parsers import SPLITS, Parsed

MOST_BYTES = 1 << 28
"""Size of a text file that is read at all."""
MOST_SYMBOLS = 1 << 16
"""Symbols that a token of two bytes can tell apart."""


def read_text(path: Path, most: int = MOST_BYTES, encoding: str = "utf-8") -> str:
    """The text of a file. ValueError if it is empty, longer than `most` bytes, not UTF-8 or holds a NUL."""
    with open(path, "rb") as stream:
        data = stream.read(most + 1)
    if not data or len(data) > most:
        why = f"more than {most:,} bytes; no more are read" if data else "empty; a text is expected"
        raise ValueError(f"{path}: {why}")
    return decoded(data, str(path), encoding)


def decoded(data: bytes, where: str, encoding: str = "utf-8") -> str:
    """`data` as text; ValueError, with the byte, if it is not UTF-8 or holds a NUL."""
    nul = data.find(b"\0")
    if nul >= 0:
        raise ValueError(f"{where}: a NUL at byte {nul:,}; a text is expected")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        invalid = data[error.start : error.end].hex()
        raise ValueError(f"{where}: byte {error.start:,}: {invalid} is not UTF-8 ({error.reason})") from None


def lines_of(path: Path) -> list[str]:
    """The lines of a text file without their LF; errors as of `read_text`, and ValueError if the last line
    has no end.
    """
    *lines, rest = read_text(path).split("\n")
    if rest.strip():
        raise ValueError(f"{path}: the last line has no end: {rest[:40]!r}; the file is cut off")
    return lines


def by_count(counts: Mapping[str, int]) -> list[str]:
    """Words by falling count, ties in order of code points."""
    return sorted(counts, key=lambda word: (-counts[word], word))


def number(tokens: Iterable[str], vocabulary: Sequence[str], where: str) -> np.ndarray:
    """The index of each token, in the narrowest of uint8 and uint16.

    ValueError for a token that is not in the vocabulary, or for more symbols than fit.
    """
    if len(vocabulary) > MOST_SYMBOLS:
        raise ValueError(f"{where}: {len(vocabulary):,} different symbols; at most {MOST_SYMBOLS:,} are read")
    index = {word: number for number, word in enumerate(vocabulary)}
    try:
        numbers = [index[token] for token in tokens]
    except KeyError as error:
        raise ValueError(f"{where}: {error.args[0]!r} is not among the {len(vocabulary):,} symbols") from None
    return np.array(numbers, dtype=np.uint8 if len(vocabulary) <= 256 else np.uint16)


def arrays_of(tokens: Mapping[str, Sequence[str]], vocabulary: Sequence[str], where: str) -> Parsed:
    """Arrays {split}_tokens and vocabulary, and counted facts: tokens and symbols used of each split."""
    arrays = {f"{split}_tokens": number(tokens[split], vocabulary, f"{where}, {split}") for split in SPLITS}
    facts = {
        "tokens": {split: len(tokens[split]) for split in SPLITS},
        "used": {split: len(np.unique(arrays[f"{split}_tokens"])) for split in SPLITS},
        "symbols": len(vocabulary),
    }
    return arrays | {"vocabulary": np.array(vocabulary)}, facts
