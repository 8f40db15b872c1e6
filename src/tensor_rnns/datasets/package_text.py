"""Bytes of Wikipedia's XML as gensim carries them, cut and numbered as enwik8 is."""

from typing import Any

import numpy as np

from tensor_rnns.datasets import wikipedia
from tensor_rnns.datasets.enwik8 import read_bytes

files = wikipedia.files


def read() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays {split}_tokens uint8 and vocabulary uint8, and the facts counted in them."""
    (path,) = files()
    return read_bytes(np.frombuffer(bytearray(wikipedia.unpacked(path)), dtype=np.uint8))
