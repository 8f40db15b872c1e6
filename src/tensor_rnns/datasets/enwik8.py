"""enwik8: 100 million bytes of Wikipedia as numbers of the bytes that occur, cut 90, 5 and 5 million unless
said otherwise.

The file is held once, in one array with a byte per token.
"""

from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path

import numpy as np

from tensor_rnns.datasets.parsers import Parsed

CHUNK = 1 << 20
SHARES = {"train": 90, "valid": 5, "test": 5}


def read(raw: Path, shares: Mapping[str, int] = SHARES) -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary uint8 (the byte of each number), and the facts counted."""
    return read_bytes(np.fromfile(raw / "enwik8", dtype=np.uint8), shares)


def read_bytes(data: np.ndarray, shares: Mapping[str, int] = SHARES) -> Parsed:
    """As `read`, for bytes that are held already; `data` is changed in place, and its parts are returned.

    Splits are contiguous, `shares` in percent. ValueError for fewer than 100 bytes.
    """
    if len(data) < sum(shares.values()):
        splits = ", ".join(shares)
        raise ValueError(f"{len(data)} bytes; at least {sum(shares.values())} are needed for {splits}")
    counts = np.zeros(256, dtype=np.int64)
    characters = 0
    parts = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
    for part in parts:
        counts += np.bincount(part, minlength=256)
        characters += int(((part & 0xC0) != 0x80).sum())
    vocabulary = np.flatnonzero(counts).astype(np.uint8)
    numbers = np.zeros(256, dtype=np.uint8)
    numbers[vocabulary] = np.arange(len(vocabulary), dtype=np.uint8)
    for part in parts:
        part[:] = numbers[part]
    ends = [len(data) * percent // 100 for percent in accumulate(shares.values())]
    tokens = dict(zip(shares, np.split(data, ends[:-1]), strict=True))
    arrays = {f"{split}_tokens": array for split, array in tokens.items()} | {"vocabulary": vocabulary}
    facts = {
        "bytes": len(data),
        "distinct_bytes": len(vocabulary),
        "characters": characters,
        "tokens": {split: len(array) for split, array in tokens.items()},
        "symbols": len(vocabulary),
    }
    return arrays, facts
