"""Proves that broken and hostile files are refused, each with a ValueError that says what was found; none is
unpacked beyond its limits, and nothing is written.

Pickles, IDX files and archives have files of their own; here are text, MIDI, fonts, tables and facts.
"""

import struct

import numpy as np
import pytest

from tensor_rnns.datasets import fonts, load, midi, ready
from tensor_rnns.datasets.texts import lines_of, number, read_text
from tensor_rnns.files import Damaged, seal, unsealed


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
def test_hostile_text_is_refused(case, tmp_path):
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
    "empty": (b"", "0 bytes; the header of a MIDI file has 14"),
    "a page": (b"<html>" + bytes(20), "header b'<htm' of"),
    "cut in the header": (song(track(NOTE + END))[:11], "11 bytes; the header of a MIDI file has 14"),
    "format 2": (song(track(NOTE + END), form=2), "of 6 bytes, format 2, 1 tracks"),
    "time code": (song(track(NOTE + END), division=0xE728), "division 59176; allowed are b'MThd', 6 bytes"),
    "no division": (song(track(NOTE + END), division=0), "division 0; allowed are b'MThd', 6 bytes"),
    "long header": (song(track(NOTE + END), length=1 << 31), "of 2147483648 bytes"),
    "too many tracks": (song(track(END), declared=65_535), "65535 tracks, division 480"),
    "fewer tracks": (
        song(track(NOTE + END), declared=3),
        "3 tracks are declared in 35 bytes; 1 in a row end at 35",
    ),
    "truncated": (
        song(track(NOTE + END))[:-5],
        "1 tracks are declared in 30 bytes; 1 in a row end at 35",
    ),
    "huge chunk": (
        song(b"MTrk\xff\xff\xff\xff" + NOTE),
        "1 tracks are declared in 31 bytes; 1 in a row end at 4,294,967,317",
    ),
    "another chunk": (
        song(b"XFIH" + bytes(4) + track(NOTE + END)),
        "1 tracks are declared in 43 bytes; 0 in a row end at 14",
    ),
    "rest": (song(track(NOTE + END)) + b"xyz", "1 tracks are declared in 38 bytes; 1 in a row end at 35"),
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
        "note 20; whole numbers 21..108 are allowed",
    ),
}


@pytest.mark.parametrize("case", SONGS)
def test_hostile_midi_file_is_refused(case):
    content, reason = SONGS[case]
    with pytest.raises(ValueError, match=rf"it[:,] .*(?:{reason})"):
        midi.eighths(content, "it")


def test_the_helper_of_this_file_makes_a_song():
    roll = midi.eighths(song(track(b"\x83\x60\x90\x3c\x40\x83\x60\x80\x3c\x40" + END)), "it")
    assert [np.flatnonzero(row).tolist() for row in roll] == [[], [39], [39]]


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
def test_hostile_font_is_refused(case, monkeypatch, tmp_path):
    content, reason = FONTS[case]
    monkeypatch.setattr(fonts, "MOST_BYTES", 2_000_000)
    with pytest.raises(ValueError, match=rf"a\.ttf: .*{reason}"):
        fonts.letters(stored(tmp_path, "a.ttf", content()))


HEAD = "split,index_in_pickle,file,piano_roll_mismatch,transposition_semitones\n"
ROW = "train,0,a.mid,0,1\n"
TABLES = {
    "columns": ("split,file\n", "line 1: expected the columns split, index_in_pickle, .*, found split, file"),
    "a page": ("<!DOCTYPE html>\n<html>\n", "line 1: expected the columns .*, found <!DOCTYPE html>"),
    "split": (HEAD + "dev,1,a.mid,0,2\n", "line 2: split 'dev'; allowed is train"),
    "number": (HEAD + ROW + "train,one,b.mid,0,1\n", "line 3: index_in_pickle 'one'; allowed is"),
    "below zero": (HEAD + "train,-1,a.mid,0,1\n", "line 2: index_in_pickle '-1'; allowed is"),
    "far": (HEAD + "train,0,a.mid,0,-99\n", "line 2: transposition_semitones '-99'; allowed is"),
    "half": (HEAD + "train,0,a.mid,0,1.5\n", "line 2: transposition_semitones '1.5'; allowed is"),
    "twice": (HEAD + ROW * 2, r"line 3: train, a\.mid is there twice"),
    "short": (HEAD + "train,0\n", "line 2: 2 cells; the table has 5 columns"),
    "long": (HEAD + "train,0,a.mid,0,1,7\n", "line 2: 6 cells; the table has 5 columns"),
    "wide": (HEAD + f"train,0,{'a' * 200_000},0,1\n", "line 2: field larger than field limit"),
}


@pytest.mark.parametrize("case", TABLES)
def test_hostile_table_of_matches_is_refused(case, tmp_path):
    content, reason = TABLES[case]
    with pytest.raises(ValueError, match=rf"a\.csv.*{reason}"):
        midi.matches(stored(tmp_path, "a.csv", content.encode()))


FACTS = {
    "not json": (b"<html>", "no digest"),
    "cut": (b'{"sha256": "ab', "no digest"),
    "deep": (b"[" * 200_000, "no digest"),
    "deep and sealed": (
        seal(f'{{"seal": "{unsealed("digits")}", "a": {"[" * 200_000}'.encode()),
        "Recursion",
    ),
    "sealed, not utf-8": (
        seal(f'{{"seal": "{unsealed("digits")}"'.encode() + b', "a": "\xff"}'),
        "UnicodeDecode",
    ),
    "sealed, a list": (seal(f'["{unsealed("digits")}"]'.encode()), "TypeError"),
    "sealed, no sum": (seal(f'{{"seal": "{unsealed("digits")}"}}'.encode()), "describes one of sha256 None"),
}


@pytest.mark.parametrize("case", FACTS)
def test_hostile_facts_beside_prepared_data_are_refused(case, tmp_path):
    content, reason = FACTS[case]
    ready.write(tmp_path, "digits", {"a": np.zeros(3)}, {})
    stored(tmp_path, "digits.json", content)
    with pytest.raises(Damaged, match=rf"digits\..*{reason}.*; run `tensor-rnns prepare digits`"):
        load(tmp_path, "digits")
