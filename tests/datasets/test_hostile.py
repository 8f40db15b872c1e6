"""Proves that broken and hostile files are refused, each with a ValueError that says what was found; none is
unpacked beyond its limits, and nothing is written.

Pickles and IDX files have files of their own; here are text, MIDI, zip, gzip, xz, tar, bz2, fonts, tables and
facts.
"""

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import tracemalloc
import zipfile

import numpy as np
import pytest

from tensor_rnns.datasets import fonts, load, midi, midi_zip, unpack, wikipedia, zips
from tensor_rnns.datasets.ready import write_npz
from tensor_rnns.datasets.sums import Refused, sha256
from tensor_rnns.datasets.texts import lines_of, number, read_text


def stored(folder, name, content):
    path = folder / name
    path.write_bytes(content)
    return path


TEXTS = {
    "empty": (b"", "empty; a text is expected"),
    "nul": (b"two words\0 more\n", "a NUL at byte 9; a text is expected"),
    "invalid": (b"plain \xff\xfe\n", "byte 6: ff is not UTF-8"),
    "cut in a character": ("né".encode()[:-1], "byte 1: c3 is not UTF-8"),
    "surrogate": (b"a\xed\xa0\x80\n", "byte 1: ed is not UTF-8"),
    "overlong": (b"ab\xc0\xaf\n", "byte 2: c0 is not UTF-8"),
    "too long": (b"word " * 500, "more than 2,000 bytes; no more are read"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(9), "a NUL at byte 8"),
}


@pytest.mark.parametrize("case", TEXTS)
def test_a_hostile_text(case, tmp_path):
    content, reason = TEXTS[case]
    with pytest.raises(ValueError, match=rf"a\.txt: {reason}"):
        read_text(stored(tmp_path, "a.txt", content), most=2000)


def test_a_text_that_is_cut_off_and_one_with_too_many_symbols(tmp_path):
    with pytest.raises(ValueError, match=r"the last line has no end: 'mr\. <unk'; the file is cut off"):
        lines_of(stored(tmp_path, "a.txt", b"a line\nmr. <unk"))
    with pytest.raises(ValueError, match="65,537 different symbols; at most 65,536 are read"):
        number([], [str(place) for place in range(65_537)], "it")
    with pytest.raises(ValueError, match="it: 'new' is not among the 2 symbols"):
        number(["old", "new"], ["old", "older"], "it")


def track(events):
    return b"MTrk" + struct.pack(">I", len(events)) + events


def song(*tracks, form=1, declared=None, division=480, length=6):
    count = len(tracks) if declared is None else declared
    return struct.pack(">4sIHHH", b"MThd", length, form, count, division) + b"".join(tracks)


END = b"\x00\xff\x2f\x00"
NOTE = b"\x00\x90\x3c\x40\x83\x60\x80\x3c\x40"
SONGS = {
    "empty": (b"", "a MIDI file begins b'MThd', this one is empty"),
    "a page": (b"<html>" + bytes(20), "a MIDI file begins b'MThd', this one b'<htm'"),
    "cut in the header": (song(track(NOTE + END))[:11], "ends after 11 bytes, in its header of 14"),
    "format 2": (song(track(NOTE + END), form=2), "header of 6 bytes, format 2, 1 tracks"),
    "time code": (song(track(NOTE + END), division=0xE728), "division 59176; allowed are 6 bytes"),
    "no division": (song(track(NOTE + END), division=0), "division 0; allowed are 6 bytes"),
    "long header": (song(track(NOTE + END), length=1 << 31), "header of 2147483648 bytes"),
    "too many tracks": (song(track(END), declared=65_535), "65535 tracks, division 480"),
    "fewer tracks": (song(track(NOTE + END), declared=3), "3 tracks are declared, 1 found"),
    "truncated": (
        song(track(NOTE + END))[:-5],
        r"chunk 1: expected a track \(b'MTrk'\) within the 8 bytes that are left, found b'MTrk' of 13 bytes",
    ),
    "huge chunk": (
        song(b"MTrk\xff\xff\xff\xff" + NOTE),
        "within the 9 bytes that are left, found b'MTrk' of 4,294,967,295 bytes",
    ),
    "another chunk": (
        song(b"XFIH" + bytes(4) + track(NOTE + END)),
        "chunk 1: expected a track .*, found b'XFIH' of 0 bytes",
    ),
    "rest": (song(track(NOTE + END)) + b"xyz", "3 bytes are left over after 1 tracks"),
    "too large": (song(track(bytes(1 << 18))), "262,166 bytes; MIDI files of at most 262,144 are read"),
    "no notes": (song(track(END)), "no notes besides drums"),
    "bad event": (song(track(b"\x00\xf4\x3c\x40" + END)), "not a readable MIDI file"),
    "no status": (song(track(b"\x00\x3c\x40" + END)), "not a readable MIDI file"),
    "far in time": (
        song(track(b"\x00\x90\x3c\x40\xff\xff\xff\x7f\x80\x3c\x40" + END)),
        "not a readable MIDI file",
    ),
    "a long note": (
        song(track(b"\x00\x90\x3c\x40\x87\xff\x7f\x80\x3c\x40" + END), division=2),
        "131,070 eighths; at most 100,000 are read",
    ),
    "low note": (
        song(track(NOTE.replace(b"\x3c", b"\x14") + END)),
        "notes 20 to 20; MIDI 21..108 is allowed",
    ),
}


@pytest.mark.parametrize("case", SONGS)
def test_a_hostile_midi_file(case):
    content, reason = SONGS[case]
    with pytest.raises(ValueError, match=rf"it: .*(?:{reason})"):
        midi.eighths(content, "it")


def test_the_helper_of_this_file_makes_a_song():
    roll = midi.eighths(song(track(b"\x83\x60\x90\x3c\x40\x83\x60\x80\x3c\x40" + END)), "it")
    assert [np.flatnonzero(row).tolist() for row in roll] == [[], [39], [39]]


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


ZIPS = {
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
    "many": (zipped(*((f"{n}.mid", b"") for n in range(5001))), "5,001 members; at most 5,000 are read"),
}


@pytest.mark.parametrize("case", ZIPS)
def test_a_hostile_zip_of_small_files(case, tmp_path):
    content, reason = ZIPS[case]
    with pytest.raises(ValueError, match=rf"a\.zip: .*(?:{reason})"):
        zips.members(stored(tmp_path, "a.zip", content), ".mid", 1000)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_zip_with_a_member_twice_or_with_too_much_in_all(monkeypatch, tmp_path):
    with pytest.raises(ValueError, match=r"'a\.mid' is there twice"):
        zips.members(stored(tmp_path, "a.zip", zipped(("a.mid", b"x"), ("a.mid", b"y"))), ".mid", 1000)
    monkeypatch.setattr(zips, "MOST_BYTES", 1500)
    with pytest.raises(ValueError, match="more than 1,500 bytes come out"):
        zips.members(
            stored(tmp_path, "a.zip", zipped(("a.mid", bytes(800)), ("b.mid", bytes(800)))), ".mid", 1000
        )


def test_folders_of_a_zip_are_passed_over_and_files_sorted(tmp_path):
    content = zipped(("d/", b""), ("d/b.mid", b"two"), ("d/a.mid", b"one"))
    assert zips.members(stored(tmp_path, "a.zip", content), ".mid", 9) == {
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
    "xz bomb": ("xz", lzma.compress(bytes(9_000_000)), "more comes out than the 640 bytes expected"),
    "xz magic": ("xz", gzip.compress(RIGHT), "damaged"),
    "xz short": ("xz", lzma.compress(RIGHT[:-1]), "size: expected 640 bytes, found 639"),
    "xz empty": ("xz", b"", "damaged|size: expected 640 bytes, found 0"),
    "gz cut": ("gz", gzip.compress(RIGHT)[:-9], "damaged"),
    "gz bomb": ("gz", gzip.compress(bytes(9_000_000)), "more comes out than the 640 bytes expected"),
    "gz magic": ("gz", RIGHT, "damaged"),
    "gz other": ("gz", gzip.compress(RIGHT[::-1]), "sha256: expected"),
    "gz sum": ("gz", gzip.compress(RIGHT)[:-8] + bytes(8), "damaged"),
    "zip magic": ("zip", RIGHT, "damaged"),
    "zip none": ("zip", zipped(("other", RIGHT)), "0 members are called d/words, expected one"),
    "zip link": ("zip", zipped(("d/words", b"/etc/passwd", 0o120777)), "the member d/words is no plain file"),
    "zip bomb": ("zip", zipped(("d/words", bytes(9_000_000))), "more comes out than the 640 bytes expected"),
    "zip upwards": ("zip", zipped(("../d/words", RIGHT), ("d/words", RIGHT)), "leads out of the archive"),
    "zip other": ("zip", zipped(("d/words", RIGHT[::-1])), "sha256: expected"),
    "zip many": ("zip", zipped(*((f"{n}", b"") for n in range(10_001))), "10,001 members; at most 10,000"),
    "tar magic": ("tgz", RIGHT, "damaged"),
    "tar plain": ("tgz", gzip.compress(RIGHT), "damaged"),
    "tar cut": ("tgz", tarred(("./d/words", np.random.default_rng(3).bytes(90_000)))[:5000], "damaged"),
    "tar none": ("tgz", tarred(("d/others", RIGHT)), "0 members are called d/words, expected one"),
    "tar link": (
        "tgz",
        tarred(("d/words", "/etc/passwd", tarfile.SYMTYPE)),
        "the member d/words is no plain file",
    ),
    "tar hard link": ("tgz", tarred(("d/words", "/etc/passwd", tarfile.LNKTYPE)), "is no plain file"),
    "tar device": ("tgz", tarred(("d/words", "", tarfile.CHRTYPE)), "the member d/words is no plain file"),
    "tar upwards": ("tgz", tarred(("../d/words", RIGHT)), "leads out of the archive"),
    "tar absolute": ("tgz", tarred(("/d/words", RIGHT)), "the member '/d/words' leads out of the archive"),
    "tar bomb": ("tgz", tarred(("d/words", bytes(9_000_000))), "more comes out than the 640 bytes expected"),
}


@pytest.mark.parametrize("case", PACKED)
def test_a_hostile_packed_file(case, tmp_path):
    form, content, reason = PACKED[case]
    right = sha256(stored(tmp_path, "right", RIGHT))
    packed = stored(tmp_path, "words.part", content)
    member = "d/words" if form in ("zip", "tgz") else None
    with pytest.raises(Refused, match=rf"unpacked from {form}: .*(?:{reason})"):
        unpack.unpack(packed, tmp_path / "words", form, len(RIGHT), right, member)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["right"]


def test_a_tar_that_hides_its_member_behind_a_bomb_is_left_early(monkeypatch, tmp_path):
    monkeypatch.setattr(unpack, "MOST_BYTES", 1 << 20)
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
    "gz": gzip.compress(RIGHT),
}


@pytest.mark.parametrize("form", WHOLE)
def test_the_helpers_of_this_file_make_whole_archives(form, tmp_path):
    right = sha256(stored(tmp_path, "right", RIGHT))
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
def test_a_hostile_extract(case, monkeypatch, tmp_path):
    content, reason = EXTRACTS[case]
    monkeypatch.setattr(wikipedia, "MOST_BYTES", 1_000_000)
    with pytest.raises(ValueError, match=rf"a\.bz2: {reason}"):
        wikipedia.articles(stored(tmp_path, "a.bz2", content))


def font():
    return fonts.files()[0].read_bytes()


FONTS = {
    "empty": (lambda: b"", "not a font"),
    "text": (lambda: b"plain text, not a font", "not a font"),
    "a page": (lambda: b"<!DOCTYPE html><html></html>", "not a font"),
    "cut": (lambda: font()[:200], "not a font"),
    "wrong magic": (lambda: b"\xde\xad\xbe\xef" + font()[4:], "not a font"),
    "no tables": (lambda: font()[:4] + b"\xff\xff" + font()[6:60], "not a font"),
    "too large": (lambda: font() + bytes(3_000_000), "bytes; fonts of at most 2,000,000 are read"),
}


@pytest.mark.parametrize("case", FONTS)
def test_a_hostile_font(case, monkeypatch, tmp_path):
    content, reason = FONTS[case]
    monkeypatch.setattr(fonts, "MOST_BYTES", 2_000_000)
    with pytest.raises(ValueError, match=rf"a\.ttf: .*{reason}"):
        fonts.letters(stored(tmp_path, "a.ttf", content()))


HEAD = "split,index_in_pickle,file,piano_roll_mismatch,transposition_semitones\n"
ROW = "train,0,a.mid,0,1\n"
TABLES = {
    "columns": ("split,file\n", "line 1: expected the columns split, index_in_pickle, .*, found split, file"),
    "a page": ("<!DOCTYPE html>\n<html>\n", "line 1: expected the columns .*, found <!DOCTYPE html>"),
    "split": (HEAD + "dev,1,a.mid,0,2\n", "line 2: split 'dev'; allowed are train, valid, test"),
    "number": (HEAD + ROW + "train,one,b.mid,0,1\n", "line 3: index_in_pickle 'one'; allowed are"),
    "below zero": (HEAD + "train,-1,a.mid,0,1\n", "line 2: index_in_pickle '-1'; allowed are"),
    "far": (HEAD + "train,0,a.mid,0,-99\n", "line 2: transposition_semitones '-99'; allowed are -24 to 24"),
    "half": (HEAD + "train,0,a.mid,0,1.5\n", "line 2: transposition_semitones '1.5'; allowed are"),
    "twice": (HEAD + ROW * 2, r"line 3: train, a\.mid is there twice"),
    "short": (HEAD + "train,0\n", "line 2: 2 cells; the table has 5 columns"),
    "long": (HEAD + "train,0,a.mid,0,1,7\n", "line 2: 6 cells; the table has 5 columns"),
    "wide": (HEAD + f"train,0,{'a' * 200_000},0,1\n", "line 2: field larger than field limit"),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_hostile_table_of_matches(case, tmp_path):
    content, reason = TABLES[case]
    with pytest.raises(ValueError, match=rf"a\.csv.*{reason}"):
        midi_zip.matches(stored(tmp_path, "a.csv", content.encode()))


FACTS = {
    "not json": (b"<html>", "not JSON"),
    "cut": (b'{"sha256": "ab', "not JSON"),
    "deep": (b"[" * 200_000, r"not JSON \(nested too deeply\); run `tensor-rnns prepare digits`"),
    "not utf-8": (b'{"sha256": "\xff"}', "not JSON"),
    "a list": (b"[1, 2]", "expected facts with a sha256, found"),
    "no sum": (b'{"pieces": 3}', "a sha256, found {'pieces': 3}; run `tensor-rnns prepare digits`"),
    "sum of another kind": (b'{"sha256": 5}', "expected facts with a sha256, found"),
    "too large": (json.dumps({"sha256": "x" * 5_000_000}).encode(), "bytes; at most 4,194,304 are read"),
}


@pytest.mark.parametrize("case", FACTS)
def test_hostile_facts_beside_prepared_data(case, tmp_path):
    content, reason = FACTS[case]
    write_npz(tmp_path / "digits.npz", {"a": np.zeros(3)})
    stored(tmp_path, "digits.json", content)
    with pytest.raises(ValueError, match=rf"digits\.json: .*{reason}"):
        load(tmp_path, "digits")
