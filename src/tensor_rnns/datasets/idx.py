"""The IDX format of MNIST's home page: the bytes 0, 0, 8, n, then n sizes of four bytes, then the data."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np

LIMIT = 1 << 30


def read_idx(path: Path, dimensions: int) -> np.ndarray:
    """The array of unsigned bytes in a gzipped IDX file of that many dimensions.

    ValueError if the magic number, the sizes or the number of data bytes are not those of such a file.
    """
    magic = bytes((0, 0, 8, dimensions))
    try:
        with gzip.open(path, "rb") as stream:
            head = stream.read(4)
            if head != magic:
                raise ValueError(
                    f"{path}: magic number: expected {magic.hex()} (unsigned bytes, "
                    f"{dimensions} dimensions), found {head.hex() or 'nothing'}"
                )
            sizes = stream.read(4 * dimensions)
            if len(sizes) < 4 * dimensions:
                raise ValueError(
                    f"{path}: {dimensions} sizes expected, the file ends after {4 + len(sizes)} bytes"
                )
            shape = struct.unpack(f">{dimensions}I", sizes)
            count = 1
            for length in shape:
                count *= length
            if count > LIMIT:
                raise ValueError(f"{path}: sizes {shape} make {count:,} bytes; at most {LIMIT:,} are read")
            data = stream.read(count + 1)
    except (OSError, EOFError, zlib.error) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise ValueError(f"{path}: not a whole gzip file ({error})") from error
    if len(data) != count:
        found = f"{len(data):,}" if len(data) < count else f"more than {count:,}"
        raise ValueError(f"{path}: sizes {shape} need {count:,} data bytes, found {found}")
    return np.frombuffer(data, dtype=np.uint8).reshape(shape)
