"""scikit-learn's digits, read from its file with numpy (scikit-learn itself is not imported)."""

import io
from pathlib import Path

import numpy as np

from tensor_rnns.datasets.mnist import count_images
from tensor_rnns.datasets.parsers import Parsed, folder, unpacked

MOST_BYTES = 1 << 24
"""Size of the file once it is unpacked."""
SPLITS = {"train": slice(1283), "valid": slice(1283, 1540), "test": slice(1540, None)}


def files() -> list[Path]:
    """The file that is read, in the installed scikit-learn."""
    return [folder("sklearn", "scikit-learn") / "datasets" / "data" / "digits.csv.gz"]


def read() -> Parsed:
    """Arrays {split}_images uint8 [n, 8, 8] and {split}_labels uint8 [n], and the facts counted in them.

    Grey levels p = 0..16 become round(255 p / 16), the range of MNIST. ValueError if the file is damaged
    or holds another table.
    """
    (path,) = files()
    table = np.loadtxt(io.BytesIO(unpacked(path, MOST_BYTES)), delimiter=",", dtype=np.int64)
    if table.shape != (1797, 65) or table.min() < 0 or table[:, :64].max() > 16 or table[:, 64].max() > 9:
        raise ValueError(
            f"{path}: expected 1797 rows of 64 grey levels 0..16 and a digit, found {table.shape} "
            f"with values {table.min()}..{table.max()}"
        )
    images = ((2 * 255 * table[:, :64] + 16) // 32).astype(np.uint8).reshape(-1, 8, 8)
    labels = table[:, 64].astype(np.uint8)
    arrays = {}
    for split, rows in SPLITS.items():
        arrays[f"{split}_images"], arrays[f"{split}_labels"] = images[rows], labels[rows]
    return arrays, count_images(arrays)
