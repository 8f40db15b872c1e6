"""Proves, on the real files of the mirror that TENSOR_RNNS_MIRROR names, that the tables and the parsers
are right.
"""

import gzip
import os
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

from tensor_rnns.datasets import download, load, prepare, table
from tensor_rnns.datasets.fetch import Address, fetch_file

pytestmark = pytest.mark.real_data


@pytest.fixture(scope="module")
def mirror():
    assert "TENSOR_RNNS_MIRROR" in os.environ, (
        "TENSOR_RNNS_MIRROR must name the mirror of the real data (a URL)"
    )
    return os.environ["TENSOR_RNNS_MIRROR"]


@pytest.fixture(scope="module")
def folders(mirror, tmp_path_factory):
    raw, ready = tmp_path_factory.mktemp("raw"), tmp_path_factory.mktemp("ready")
    for name in table.sources():
        download(name, raw, [mirror])
    for name, entry in table.entries().items():
        if entry.source:
            prepare(name, raw, ready)
    return raw, ready


def test_jsb(folders):
    jsb = load(folders[1], "jsb")
    assert [len(jsb.arrays[f"{split}_lengths"]) for split in ("train", "valid", "test")] == [229, 76, 77]
    assert [len(jsb.arrays[f"{split}_roll"]) for split in ("train", "valid", "test")] == [13807, 4602, 4725]
    used = (
        np.flatnonzero(
            np.concatenate([jsb.arrays[f"{s}_roll"] for s in ("train", "valid", "test")]).any(axis=0)
        )
        + 21
    )
    assert (used.min(), used.max(), len(used)) == (43, 96, 52)
    assert np.flatnonzero(jsb.arrays["test_roll"][0]).tolist() == [72 - 21, 76 - 21, 79 - 21, 84 - 21]
    assert (jsb.facts["kind"], jsb.facts["stand_in"], jsb.facts["low"], jsb.facts["high"]) == (
        "polyphony",
        False,
        43,
        96,
    )


def test_mnist(folders):
    raw, ready = folders
    mnist = load(ready, "mnist")
    images = gzip.decompress((raw / "mnist" / "train-images-idx3-ubyte.gz").read_bytes())
    labels = gzip.decompress((raw / "mnist" / "train-labels-idx1-ubyte.gz").read_bytes())
    for split, first, count in (("train", 0, 50_000), ("valid", 50_000, 10_000)):
        assert mnist.arrays[f"{split}_images"].shape == (count, 28, 28)
        assert (
            mnist.arrays[f"{split}_images"].tobytes() == images[16 + 784 * first : 16 + 784 * (first + count)]
        )
        assert mnist.arrays[f"{split}_labels"].tobytes() == labels[8 + first : 8 + first + count]
    assert mnist.arrays["test_images"].shape == (10_000, 28, 28)
    assert mnist.arrays["test_labels"][:10].tolist() == [7, 2, 1, 0, 4, 1, 4, 9, 5, 9]
    assert mnist.facts["stand_in"] is False


def test_half_a_real_file_is_resumed_over_http(mirror, server, brisk, tmp_path):
    file = table.source("mnist").files[2]
    path = Path(unquote(urlsplit(mirror).path)) / file.mirror
    url = server.serve("/images.gz", path.read_bytes(), breaks=[900_000], etag='"x"')
    fetch_file(file, tmp_path / file.name, [Address(url, file.size, file.sha256)], brisk, print)
    assert (tmp_path / file.name).read_bytes() == path.read_bytes()
    begin = int(server.requests[1].range[6:-1])
    assert 800_000 < begin <= 900_000
    assert server.requests[1].sent == file.size - begin
