"""Bytes of Wikipedia's XML as gensim carries them, cut and numbered as enwik8 is."""

import numpy as np

from tensor_rnns.datasets import wikipedia
from tensor_rnns.datasets.enwik8 import read_bytes
from tensor_rnns.datasets.parsers import Parsed, unpacked

files = wikipedia.files


def read() -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary uint8, and the facts counted in them."""
    (path,) = files()
    data = unpacked(path, wikipedia.MOST_BYTES)
    return read_bytes(np.frombuffer(bytearray(data), dtype=np.uint8))
