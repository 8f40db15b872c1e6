"""Arrays in sealed .npz files; large ones of bytes are mapped into memory when they are read."""

import mmap
import os
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from tensor_rnns.files import missing_digest, parsing, unsealed, verify, writing

MAPPED = 1 << 24
"""Bytes from which a one-byte array is mapped and not read."""


def write_npz(path: Path | str, arrays: Mapping[str, np.ndarray], of: str, compressed: bool = False) -> None:
    """Write arrays as an .npz, equal bytes for equal ones; compressed ones are never mapped into memory."""
    save, comment = np.savez_compressed if compressed else np.savez, unsealed(of).encode()
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    with writing(path, "wb") as stream:
        save(stream, allow_pickle=False, **ordered)
        # A zip file ends with the length of its comment and the comment.
        stream.seek(-2, os.SEEK_END)
        stream.write(struct.pack("<H", len(comment)) + comment)
        stream.flush()
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content:
            begin, digest = missing_digest(content)
        stream.seek(begin)
        stream.write(digest)


def read_npz(path: Path | str, of: str | None = None, remedy: str = "") -> dict[str, np.ndarray]:
    """The arrays of an .npz; Damaged where a byte is another or it does not hold `of`.

    One-byte arrays of MAPPED bytes and more are mapped into memory copy on write: processes that train on the
    same data share it.
    """
    with parsing(path, remedy), open(path, "rb") as raw:
        with mmap.mmap(raw.fileno(), 0, access=mmap.ACCESS_READ) as content:
            verify(path, content, of, remedy)
        with zipfile.ZipFile(raw) as archive:
            return {it.filename.removesuffix(".npy"): _array(raw, archive, it) for it in archive.infolist()}


def _array(raw: IO[bytes], archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> np.ndarray:
    """One array of an opened .npz, read or mapped."""
    with archive.open(member) as stream:
        np.lib.format.read_magic(stream)
        shape, fortran, dtype = np.lib.format.read_array_header_1_0(stream)
        ahead = stream.tell()
    if dtype.itemsize > 1 or member.file_size < MAPPED or member.compress_type or fortran:
        with archive.open(member) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)
    # A member's header has 30 bytes, then its name and an extra field, whose lengths stand at 26.
    raw.seek(member.header_offset + 26)
    begin = member.header_offset + 30 + sum(struct.unpack("<HH", raw.read(4))) + ahead
    return np.asarray(np.memmap(raw, dtype, mode="c", offset=begin, shape=shape))
