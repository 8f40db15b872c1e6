"""enwik8 cut as Graves (2013) and kelley2016 did: 96 million bytes to train, the last 4 million to test."""

from pathlib import Path

from tensor_rnns.datasets import enwik8
from tensor_rnns.datasets.parsers import Parsed

SHARES = {"train": 96, "test": 4}


def read(raw: Path) -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary uint8, and the facts counted; see `enwik8.read_bytes`."""
    return enwik8.read(raw, SHARES)
