"""What images read as sequences of pixels are like: ink, next pixels, neighbours (mathews2016 5.1.3)."""

from collections.abc import Mapping, Sequence

import numpy as np

from tensor_rnns.datasets import Dataset
from tensor_rnns.declared import Share
from tensor_rnns.rows import Rows, rows_of
from tensor_rnns.tasks.pixels import permutation

CHUNK = 500
"""Images that are looked at together, so that the distances of one chunk fit into memory."""
MIDDLE = 128
"""The middle of the grey levels 0 to 255."""


def compute(dataset: Dataset, *, margin: Share, neighbours: tuple[int, ...]) -> Rows:
    """Rows of a data set of images.

    `margin` is the share of rows that is left out at the top and at the bottom of the middle part (rounded to
    whole rows), `neighbours` a list of k. Items: `images` (steps, zero: the share of pixels
    that are 0, middle: the share of all ink in the middle rows; training images), `chance` (a split: the
    share of its most frequent class), `scan` and `permuted` (next, below: correlation with the next pixel in
    that order, and with the one a row's length later), `nearest` (k = ..: test accuracy among the training
    images; k = .., with valid: among those of both).
    """
    arrays = dataset.arrays
    images = arrays["train_images"]
    rows, columns = images.shape[1:]
    ink = images.sum(axis=(0, 2), dtype=np.float64)
    left_out = round(margin * rows)
    flat = images.reshape(len(images), -1)
    middle = ink[left_out : rows - left_out].sum() / ink.sum()
    labels = {split: arrays[f"{split}_labels"] for split in ("train", "valid", "test")}
    alone, with_valid = nearest(arrays, ("train", "valid"), neighbours)
    return rows_of({
        "images": {"steps": flat.shape[1], "zero": (images == 0).mean(), "middle": middle},
        "chance": {split: np.bincount(own).max() / len(own) for split, own in labels.items()},
        **{order: {"next": correlation(sequence, 1), "below": correlation(sequence, columns)}
           for order, sequence in (("scan", flat), ("permuted", flat[:, permutation(flat.shape[1])]))},
        "nearest": {f"k = {k}": share for k, share in alone.items()}
        | {f"k = {k}, with valid": share for k, share in with_valid.items()},
    })  # fmt: skip


def correlation(sequences: np.ndarray, lag: int) -> float:
    """Pearson correlation of x_t and x_{t + lag} over all steps of sequences [items, T]; 0 where constant."""
    sums = np.zeros(5)
    for start in range(0, len(sequences), CHUNK):
        part = sequences[start : start + CHUNK].astype(np.float64)
        a, b = part[:, :-lag].ravel(), part[:, lag:].ravel()
        sums += (a.sum(), b.sum(), a @ a, b @ b, a @ b)
    pairs = len(sequences) * (sequences.shape[1] - lag)
    mean_a, mean_b, aa, bb, ab = sums / pairs
    spread = (aa - mean_a**2) * (bb - mean_b**2)
    return float((ab - mean_a * mean_b) / np.sqrt(spread)) if spread > 0 else 0.0


def nearest(
    arrays: Mapping[str, np.ndarray], known: Sequence[str], neighbours: Sequence[int]
) -> list[dict[int, float]]:
    """{k: share of test images whose class is the most frequent among the k nearest known images}, where the
    known are those of the first split of `known`, of the first two, and so on.

    Distances are Euclidean on grey levels; their squares are whole numbers, and exact. Equally near images
    come in the order of the file, and of equally frequent classes the one of the nearest counts.
    """
    levels = np.concatenate([centred(arrays, split) for split in known])
    labels = np.concatenate([arrays[f"{split}_labels"] for split in known]).astype(np.int64)
    ends = np.cumsum([len(arrays[f"{split}_labels"]) for split in known]).tolist()
    lengths = np.einsum("ij,ij->i", levels, levels, dtype=np.float64).astype(np.int32)
    tests, truths = centred(arrays, "test"), arrays["test_labels"]
    right = [dict.fromkeys(neighbours, 0) for _ in ends]
    for start in range(0, len(tests), CHUNK):
        products = (tests[start : start + CHUNK] @ levels.T).astype(np.int32)
        squares = lengths - 2 * products
        truth = truths[start : start + CHUNK]
        for end, count in zip(ends, right, strict=True):
            votes = labels[first_of(squares[:, :end], max(neighbours))]
            for k in neighbours:
                pairs = zip(votes[:, :k], truth, strict=True)
                count[k] += sum(majority(vote) == label for vote, label in pairs)
    return [{k: hits / len(tests) for k, hits in count.items()} for count in right]


def centred(arrays: Mapping[str, np.ndarray], split: str) -> np.ndarray:
    """The images of a split as rows of grey levels less 128, which leaves distances as they are [n, pixels].

    In float32 where every sum of products of two rows is then a whole number that float32 holds exactly.
    """
    images = arrays[f"{split}_images"].reshape(len(arrays[f"{split}_images"]), -1)
    exact = images.shape[1] * MIDDLE**2 <= 1 << np.finfo(np.float32).nmant + 1
    return images.astype(np.float32 if exact else np.float64) - MIDDLE


def first_of(values: np.ndarray, count: int) -> np.ndarray:
    """The places of the `count` smallest of each row, smallest first, equal ones in order [rows, count]."""
    limit = np.partition(values, count - 1, axis=1)[:, count - 1 : count]
    rows = []
    for row, highest in zip(values, limit, strict=True):
        places = np.flatnonzero(row <= highest)
        rows.append(places[np.argsort(row[places], kind="stable")][:count])
    return np.array(rows)


def majority(votes: np.ndarray) -> int:
    """The most frequent of `votes`, ordered by nearness; of equally frequent ones the first."""
    counts = np.bincount(votes)
    return int(votes[np.argmax(counts[votes])])
