"""What counting alone reaches on the bytes of kelley2016: bits per byte of unigrams and bigrams."""

import numpy as np

from tensor_rnns.datasets import Dataset
from tensor_rnns.rows import Rows, rows_of

PIECE = 1 << 22
"""Bytes that are counted at once."""


def pairs(tokens: np.ndarray, symbols: int) -> np.ndarray:
    """How often symbol j follows symbol i, [symbols, symbols]."""
    counts = np.zeros(symbols * symbols, np.int64)
    for start in range(0, len(tokens) - 1, PIECE):
        part = tokens[start : start + PIECE + 1].astype(np.int64)
        counts += np.bincount(part[:-1] * symbols + part[1:], minlength=symbols * symbols)
    return counts.reshape(symbols, symbols)


def bits(counts: np.ndarray, seen: np.ndarray) -> float:
    """Mean bits of the events `seen`, counted like `counts`, by the shares within the last axis."""
    shares = counts / counts.sum(-1, keepdims=True)
    return float(-(seen * np.log2(shares)).sum() / seen.sum())


def compute(dataset: Dataset, *, unigram: float, bigram: float) -> Rows:
    """Bits a byte of the test part by the counts of the training part, to which `unigram` and `bigram` are
    added; and the sizes of both parts."""
    train, test = (dataset.arrays[f"{split}_tokens"] for split in ("train", "test"))
    symbols = len(dataset.arrays["vocabulary"])
    train_pairs, test_pairs = pairs(train, symbols), pairs(test, symbols)
    single = [np.bincount(tokens, minlength=symbols) for tokens in (train, test)]
    reached = {
        "unigram": bits(single[0] + unigram, single[1]),
        "bigram": bits(train_pairs + bigram, test_pairs),
    }
    sizes = {"train": len(train), "test": len(test), "symbols": symbols}
    sizes["symbols in test"] = int((single[1] > 0).sum())
    return rows_of({"bits": reached, "bytes": sizes})
