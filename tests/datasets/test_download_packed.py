"""Proves that packed copies are unpacked under both sums, and that a full disk leaves nothing."""

import hashlib
import lzma
from errno import ENOSPC

import pytest

from tensor_rnns.datasets import DownloadError, download, table, transfer, unpack


def names(folder):
    return sorted(path.name for path in (folder / "thing").iterdir())


def digest(content):
    return hashlib.sha256(content).hexdigest()


def flipped(content, at=123_456):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def packed_copy(data, **change):
    packed = lzma.compress(data)
    block = {"form": "xz", "size": len(packed), "sha256": digest(packed), "mirror": "packed/thing.xz"}
    return packed, table.Packed(**{**block, **change})


def test_packed_copy_is_unpacked_and_both_sums_are_checked(server, one_file, data, brisk, tmp_path):
    packed, block = packed_copy(data)
    one_file(packed=block)
    server.serve("/packed/thing.xz", packed)
    (path,) = download("thing", tmp_path, [server.url], patience=brisk)
    assert path.read_bytes() == data
    assert names(tmp_path) == ["thing.bin"]
    path.unlink()
    server.serve("/packed/thing.xz", flipped(packed, 1000))
    server.serve("/some%20where/thing%231.bin", data)
    lines = []
    (path,) = download("thing", tmp_path, [server.url], patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert any(f"expected {block.sha256}, found {digest(flipped(packed, 1000))}" in line for line in lines)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda data: flipped(data),
            "unpacked from xz: size: expected 200,003 bytes, found 200,003; sha256: expected",
        ),
        (lambda data: data[:-1], "unpacked from xz: size: expected 200,003 bytes, found 200,002"),
        (lambda data: data + bytes(9), "unpacked from xz: more than 200,003 bytes come out"),
    ],
)
def test_packed_copy_of_something_else_is_refused(change, reason, server, one_file, data, brisk, tmp_path):
    packed, block = packed_copy(change(data))
    one_file(packed=block)
    server.serve("/packed/thing.xz", packed)
    with pytest.raises(DownloadError, match=reason):
        download("thing", tmp_path, [server.url], patience=brisk)
    assert names(tmp_path) == []


@pytest.mark.parametrize("cut", [slice(5000), slice(100, None)])
def test_damaged_packing_is_refused(cut, one_file, data, brisk, tmp_path):
    broken = lzma.compress(data)[cut]
    _, block = packed_copy(data, size=len(broken), sha256=digest(broken))
    one_file(packed=block)
    (tmp_path / "mirror" / "packed").mkdir(parents=True)
    (tmp_path / "mirror" / "packed" / "thing.xz").write_bytes(broken)
    with pytest.raises(DownloadError, match=r"unpacked from xz: damaged \("):
        download("thing", tmp_path, [(tmp_path / "mirror").as_uri()], patience=brisk)
    assert names(tmp_path) == []


def full(path, mode):
    """Open a file on a disk that is full."""
    return open("/dev/full" if "r" not in mode else path, mode, buffering=0)


def test_full_disk_is_reported_and_leaves_nothing(server, one_file, data, brisk, tmp_path, monkeypatch):
    one_file(server.serve("/thing.bin", data), server.serve("/second.bin", data))
    monkeypatch.setattr(transfer, "open", full, raising=False)
    told = r"no space left for .*thing\.bin: 200,003 bytes are needed, [\d,]+ are free; nothing half-written"
    with pytest.raises(DownloadError, match=told):
        download("thing", tmp_path, patience=brisk)
    assert names(tmp_path) == []
    assert [request.path for request in server.requests] == ["/thing.bin"]


def test_full_disk_while_unpacking(server, one_file, data, brisk, tmp_path, monkeypatch):
    packed, block = packed_copy(data)
    one_file(packed=block)
    server.serve("/packed/thing.xz", packed)

    monkeypatch.setattr(unpack, "open", full, raising=False)
    told = f"no space left for .*: {200_003 + len(packed):,} bytes are needed"
    with pytest.raises(DownloadError, match=told) as caught:
        download("thing", tmp_path, [server.url], patience=brisk)
    assert caught.value.__cause__.errno == ENOSPC
    assert names(tmp_path) == []
