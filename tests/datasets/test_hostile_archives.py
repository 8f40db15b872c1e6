"""Proves that broken and hostile archives are refused, each with a ValueError that says what was found; none
is unpacked beyond its limits, and nothing is written: zip, gzip, xz, tar and bz2.
"""

import bz2
import gzip
import io
import lzma
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest

from tensor_rnns.datasets import parsers, unpack, wikipedia
from tensor_rnns.datasets.sums import Refused, summed


def stored(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


def zipped(*entries, method=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content, *mode in entries:
            entry = zipfile.ZipInfo(name)
            entry.compress_type = method
            entry.external_attr = (mode[0] if mode else 0o100644) << 16
            archive.writestr(entry, content)
    return stream.getvalue()


def lying(content, size):
    """The archive with another size of the member in its directory and in its header."""
    at = content.rindex(b"PK\x01\x02")
    content = content[: at + 24] + struct.pack("<I", size) + content[at + 28 :]
    return content[:22] + struct.pack("<I", size) + content[26:]


def changed(content, in_directory, in_header, value):
    """The archive with another number of two bytes in its directory and in its header."""
    at = content.rindex(b"PK\x01\x02") + in_directory
    content = content[:at] + struct.pack("<H", value) + content[at + 2 :]
    return content[:in_header] + struct.pack("<H", value) + content[in_header + 2 :]


def method(content, number):
    return changed(content, 10, 8, number)


def flagged(content):
    return changed(content, 8, 6, 1)


ZIPS = {
    "method": (method(zipped(("a.mid", b"x")), 99), "not a whole zip archive: .*compression method"),
    "encrypted": (flagged(zipped(("a.mid", b"x"))), "the member 'a.mid' is encrypted"),
    "not a zip": (b"<html>no</html>", "not a whole zip archive"),
    "truncated": (zipped(("a.mid", b"x" * 400))[:-30], "not a whole zip archive"),
    "damaged": (
        zipped(("a.mid", bytes(range(256))), method=zipfile.ZIP_STORED).replace(
            b"\x01\x02\x03", b"\x01\x99\x03", 1
        ),
        "not a whole",
    ),
    "upwards": (zipped(("../a.mid", b"x")), r"the member '\.\./a\.mid' leads out of the archive"),
    "absolute": (zipped(("/etc/a.mid", b"x")), "the member '/etc/a.mid' leads out of the archive"),
    "backslash": (zipped(("a\\..\\b.mid", b"x")), "leads out of the archive"),
    "a link": (zipped(("a.mid", b"/etc/passwd", 0o120777)), "the member 'a.mid' is a link"),
    "another kind": (zipped(("a.exe", b"x")), r"the member 'a\.exe' does not end in \.mid"),
    "a bomb": (
        zipped(("a.mid", bytes(5000))),
        "the member 'a.mid' declares 5,000 bytes; at most 1,000 are read",
    ),
    "a lie": (lying(zipped(("a.mid", bytes(5000))), 900), "unpacks to another size|not a whole zip archive"),
    "many": (zipped(*((f"{n}.mid", b"") for n in range(10_001))), "10,001 members; at most 10,000 are read"),
}


@pytest.mark.parametrize("case", ZIPS)
def test_hostile_zip_of_small_files_is_refused(case, tmp_path):
    content, reason = ZIPS[case]
    with pytest.raises(ValueError, match=rf"a\.zip: .*(?:{reason})"):
        unpack.members(stored(tmp_path, "a.zip", content), ".mid", 1000)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_a_member_twice_or_with_too_much_in_all(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match=r"'a\.mid' is there twice"):
        unpack.members(stored(tmp_path, "a.zip", zipped(("a.mid", b"x"), ("a.mid", b"y"))), ".mid", 1000)
    monkeypatch.setattr(unpack, "MOST_BYTES", 1500)
    with pytest.raises(ValueError, match="more than 1,500 bytes come out"):
        unpack.members(
            stored(tmp_path, "a.zip", zipped(("a.mid", bytes(800)), ("b.mid", bytes(800)))), ".mid", 1000
        )


@pytest.mark.parametrize("name", ["a.zip", "a.gz", "a.bz2"])
def test_what_the_disk_says_is_not_called_damage(name, tmp_path):
    """Of no file and of a folder, as of one that cannot be read."""
    path = tmp_path / name

    def read():
        unpack.members(path, "", 100) if path.suffix == ".zip" else parsers.unpacked(path, 100)

    with pytest.raises(FileNotFoundError):
        read()
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        read()


def test_folders_of_a_zip_are_passed_over_and_files_sorted(tmp_path):
    content = zipped(("d/", b""), ("d/b.mid", b"two"), ("d/a.mid", b"one"))
    assert unpack.members(stored(tmp_path, "a.zip", content), ".mid", 9) == {
        "d/a.mid": b"one",
        "d/b.mid": b"two",
    }


def tarred(*entries):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content, *kind in entries:
            entry = tarfile.TarInfo(name)
            if kind:
                entry.type, entry.linkname = kind[0], content
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


RIGHT = b"the right words\n" * 40
PACKED = {
    "xz cut": ("xz", lzma.compress(RIGHT)[:-20], "damaged"),
    "xz bomb": ("xz", lzma.compress(bytes(9_000_000)), "more than 640 bytes come out"),
    "xz magic": ("xz", gzip.compress(RIGHT), "damaged"),
    "xz short": ("xz", lzma.compress(RIGHT[:-1]), "size: expected 640 bytes, found 639"),
    "xz empty": ("xz", b"", "damaged|size: expected 640 bytes, found 0"),
    "zip magic": ("zip", RIGHT, "damaged"),
    "zip none": ("zip", zipped(("other", RIGHT)), "no member is called d/words"),
    "zip link": ("zip", zipped(("d/words", b"/etc/passwd", 0o120777)), "'d/words' is a link, no plain file"),
    "zip method": ("zip", method(zipped(("d/words", RIGHT)), 99), "damaged .*compression method"),
    "zip encrypted": ("zip", flagged(zipped(("d/words", RIGHT))), "'d/words' is encrypted"),
    "zip bomb": ("zip", zipped(("d/words", bytes(9_000_000))), "more than 640 bytes come out"),
    "zip upwards": ("zip", zipped(("../d/words", RIGHT), ("d/words", RIGHT)), "leads out of the archive"),
    "zip other": ("zip", zipped(("d/words", RIGHT[::-1])), "sha256: expected"),
    "zip many": ("zip", zipped(*((f"{n}", b"") for n in range(10_001))), "10,001 members; at most 10,000"),
    "tar magic": ("tgz", RIGHT, "damaged"),
    "tar plain": ("tgz", gzip.compress(RIGHT), "damaged"),
    "tar cut": ("tgz", tarred(("./d/words", np.random.default_rng(3).bytes(90_000)))[:5000], "damaged"),
    "tar none": ("tgz", tarred(("d/others", RIGHT)), "no member is called d/words"),
    "tar link": (
        "tgz",
        tarred(("d/words", "/etc/passwd", tarfile.SYMTYPE)),
        "the member d/words is no plain file",
    ),
    "tar hard link": ("tgz", tarred(("d/words", "/etc/passwd", tarfile.LNKTYPE)), "is no plain file"),
    "tar device": ("tgz", tarred(("d/words", "", tarfile.CHRTYPE)), "the member d/words is no plain file"),
    "tar upwards": ("tgz", tarred(("../d/words", RIGHT)), "leads out of the archive"),
    "tar absolute": ("tgz", tarred(("/d/words", RIGHT)), "the member '/d/words' leads out of the archive"),
    "tar bomb": ("tgz", tarred(("d/words", bytes(9_000_000))), "more than 640 bytes come out"),
}


@pytest.mark.parametrize("case", PACKED)
def test_hostile_packed_file_is_refused(case, tmp_path):
    form, content, reason = PACKED[case]
    right = summed(stored(tmp_path, "right", RIGHT))
    packed = stored(tmp_path, "words.part", content)
    member = "d/words" if form in ("zip", "tgz") else None
    with pytest.raises(Refused, match=rf"unpacked from {form}: .*(?:{reason})"):
        unpack.unpack(packed, tmp_path / "words", form, len(RIGHT), right, member)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["right"]


def test_a_tar_that_hides_its_member_behind_a_bomb_is_left_early(monkeypatch, tmp_path):
    monkeypatch.setattr(unpack, "MOST_OF_TAR", 1 << 20)
    packed = stored(tmp_path, "words.part", tarred(("first", bytes(50_000_000)), ("d/words", RIGHT)))
    tracemalloc.start()
    try:
        with pytest.raises(Refused, match="more than 1,048,576 bytes come out"):
            unpack.unpack(packed, tmp_path / "words", "tgz", len(RIGHT), "0" * 64, "d/words")
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()


WHOLE = {
    "zip": zipped(("d/words", RIGHT)),
    "tgz": tarred(("x", b"y"), ("./d/words", RIGHT)),
    "xz": lzma.compress(RIGHT),
}


@pytest.mark.parametrize("form", WHOLE)
def test_the_helpers_of_this_file_make_whole_archives(form, tmp_path):
    right = summed(stored(tmp_path, "right", RIGHT))
    unpack.unpack(stored(tmp_path, "p", WHOLE[form]), tmp_path / "words", form, 640, right, "d/words")
    assert (tmp_path / "words").read_bytes() == RIGHT


EXTRACTS = {
    "not bz2": (b"<mediawiki>", "not a whole bz2 file"),
    "cut": (bz2.compress(RIGHT)[:-12], "not a whole bz2 file"),
    "bomb": (bz2.compress(bytes(3_000_000)), "more than 1,000,000 bytes come out"),
    "nul": (bz2.compress(b"<page>\0</page>"), "a NUL at byte 6"),
    "not utf-8": (bz2.compress(b"<page>\xff</page>"), "byte 6: ff is not UTF-8"),
    "no articles": (bz2.compress(b"<page><title>x</title></page>"), "no articles; an extract of Wikipedia"),
}


@pytest.mark.parametrize("case", EXTRACTS)
def test_hostile_extract_is_refused(case, monkeypatch, tmp_path):
    content, reason = EXTRACTS[case]
    monkeypatch.setattr(wikipedia, "MOST_BYTES", 1_000_000)
    with pytest.raises(ValueError, match=rf"a\.bz2: {reason}"):
        wikipedia.articles(stored(tmp_path, "a.bz2", content))
