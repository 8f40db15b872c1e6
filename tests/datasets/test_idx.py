"""Proves that IDX files are read exactly, and that a wrong header or a wrong number of bytes is refused."""

import gzip
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tensor_rnns.datasets.mnist import read_idx


def idx(array, kind=8, sizes=None):
    sizes = array.shape if sizes is None else sizes
    return bytes((0, 0, kind, len(sizes))) + struct.pack(f">{len(sizes)}I", *sizes) + array.tobytes()


def stored(folder, content):
    path = folder / "file.gz"
    path.write_bytes(gzip.compress(content, 1))
    return path


@given(array=arrays.arrays(np.uint8, arrays.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=7)))
def test_round_trip(array, tmp_path_factory):
    read = read_idx(stored(tmp_path_factory.mktemp("idx"), idx(array)), array.ndim)
    assert read.dtype == np.uint8
    assert read.shape == array.shape
    np.testing.assert_array_equal(read, array)


@given(content=st.binary(max_size=40), dimensions=st.integers(1, 3))
def test_any_bytes_are_read_or_refused(content, dimensions, tmp_path_factory):
    path = stored(tmp_path_factory.mktemp("idx"), content)
    try:
        array = read_idx(path, dimensions)
    except ValueError:
        return
    assert idx(array) == content


IMAGES = np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5)


@pytest.mark.parametrize(
    ("content", "dimensions", "reason"),
    [
        (idx(IMAGES), 1, r"magic number: expected 00000801 .*, found 00000803"),
        (idx(IMAGES, kind=13), 3, r"magic number: expected 00000803 .*, found 00000d03"),
        (b"<!DOCTYPE html>", 3, r"magic number: expected 00000803 .*, found 3c21444f"),
        (b"", 3, r"magic number: expected 00000803 .*, found nothing"),
        (idx(IMAGES)[:9], 3, r"3 sizes expected, the file ends after 9 bytes"),
        (idx(IMAGES, sizes=(2, 3, 6)), 3, r"sizes \(2, 3, 6\) need 36 data bytes, found 30"),
        (idx(IMAGES) + b"\0", 3, r"sizes \(2, 3, 5\) need 30 data bytes, found 31"),
        (
            idx(IMAGES, sizes=(2**32 - 1, 28, 28)),
            3,
            r"sizes .* need 3,367,254,359,280 data bytes, found 30",
        ),
    ],
)
def test_hostile_file_is_refused(content, dimensions, reason, tmp_path):
    with pytest.raises(ValueError, match=r"file\.gz: " + reason):
        read_idx(stored(tmp_path, content), dimensions)


def test_damaged_gzip_is_refused(tmp_path):
    path = stored(tmp_path, idx(IMAGES))
    whole = path.read_bytes()
    for broken in (
        whole[:-9],
        whole[:-6] + b"\xff" + whole[-5:],
        b"plain text",
        whole[:12] + b"\xff" + whole[13:],
    ):
        path.write_bytes(broken)
        with pytest.raises(ValueError, match=r"file\.gz: not a whole gz file \("):
            read_idx(path, 3)
