"""MNIST: four IDX files -> images and labels; the last 10,000 training images are the validation split."""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np

from tensor_rnns.datasets.parsers import SPLITS, Parsed, unpacked

TRAIN = 50_000
MOST_BYTES = 1 << 27
"""Size of a file once it is unpacked."""


def read(raw: Path) -> Parsed:
    """Arrays {split}_images uint8 [n, 28, 28] and {split}_labels uint8 [n], and the facts counted in them.

    ValueError if a file is no IDX file or has not one label per image.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, parts in (
        ("train", {"train": slice(TRAIN), "valid": slice(TRAIN, None)}),
        ("t10k", {"test": slice(None)}),
    ):
        images = read_idx(raw / f"{name}-images-idx3-ubyte.gz", 3)
        labels = read_idx(raw / f"{name}-labels-idx1-ubyte.gz", 1)
        if len(images) != len(labels):
            raise ValueError(
                f"{raw}: {name}: {len(images):,} images, {len(labels):,} labels; expected one label per image"
            )
        for split, part in parts.items():
            arrays[f"{split}_images"], arrays[f"{split}_labels"] = images[part], labels[part]
    both = np.concatenate([arrays["train_labels"], arrays["valid_labels"]])
    facts = count_images(arrays)
    facts["labels_of_both_training_splits"] = np.bincount(both).tolist()
    facts["labels_of_test"] = np.bincount(arrays["test_labels"]).tolist()
    return arrays, facts


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """The array of unsigned bytes in a gzipped IDX file: the bytes 0, 0, 8, `dimensions`, its sizes of four
    bytes each, then the data.

    ValueError if the magic number, the sizes or the number of data bytes are not those of such a file.
    """
    content, begin = unpacked(path, MOST_BYTES), 4 + 4 * dimensions
    magic = bytes((0, 0, 8, dimensions))
    if content[:4] != magic:
        raise ValueError(
            f"{path}: magic number: expected {magic.hex()} (unsigned bytes, {dimensions} dimensions), "
            f"found {content[:4].hex() or 'nothing'}"
        )
    if len(content) < begin:
        raise ValueError(f"{path}: {dimensions} sizes expected, the file ends after {len(content)} bytes")
    shape, size = struct.unpack_from(f">{dimensions}I", content, 4), len(content) - begin
    if size != math.prod(shape):
        raise ValueError(f"{path}: sizes {shape} need {math.prod(shape):,} data bytes, found {size:,}")
    return np.frombuffer(content, dtype=np.uint8, offset=begin).reshape(shape)


def count_images(arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """Facts of a data set of images: number per split, rows, columns, largest grey level, classes."""
    images = {split: arrays[f"{split}_images"] for split in SPLITS}
    return {
        "images": {split: len(array) for split, array in images.items()},
        "rows": images["train"].shape[1],
        "columns": images["train"].shape[2],
        "maximum": max(int(array.max(initial=0)) for array in images.values()),
        "classes": 1 + max(int(arrays[f"{split}_labels"].max(initial=0)) for split in images),
    }
