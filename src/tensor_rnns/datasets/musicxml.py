"""Scores in MusicXML 1 to 4 (score-partwise), plain or zipped, as sounding notes in quarter notes of time."""

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tensor_rnns.datasets import unpack
from tensor_rnns.messages import shortened

MOST_BYTES = 1 << 24
"""Size of a score that is unpacked at all."""
MOST_QUARTERS = 100_000
"""Length of a score in quarter notes."""
NUMBER = re.compile(r"-?[0-9]{1,9}(\.[0-9]{1,9})?")
STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


class Note(NamedTuple):
    """A sounding note: from `start` until before `stop`, in quarter notes; `pitch` is its MIDI number."""

    start: Fraction
    stop: Fraction
    pitch: int


def parts(path: Path) -> list[ElementTree.Element]:
    """The parts of a .mxl, .xml or .musicxml file; ValueError if it is no score-partwise."""
    try:
        if path.suffix == ".mxl":
            files = unpack.members(path, "", MOST_BYTES)
            container = ElementTree.fromstring(files["META-INF/container.xml"])
            roots = (element for element in container.iter() if element.tag.endswith("rootfile"))
            root = ElementTree.fromstring(files[next(roots).get("full-path")])
        else:
            root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, StopIteration) as error:
        raise ValueError(f"{path}: not a score in MusicXML ({error})") from error
    if root.tag != "score-partwise":
        raise ValueError(f"{path}: expected score-partwise, found {root.tag}")
    return root.findall("part")


def aligned(parts: Sequence[ElementTree.Element], where: str) -> list[tuple[list[Note], Fraction]]:
    """The notes of each part of a score, and the length of the score in quarter notes.

    Measures follow each other, and begin together in all parts. A measure is as long as in most parts, the
    longest of equals; what sounds in a part beyond that is cut. Scores have measures that are too full or not
    full in one part, and measure by measure the parts stay together all the same.
    ValueError, with `where`, for what is no number, or longer than MOST_QUARTERS.
    """
    voices: list[list[Note]] = [[] for _ in parts]
    begin = Fraction(0)
    try:
        measured = [measures(part) for part in parts]
    except (ValueError, ArithmeticError, LookupError, TypeError) as error:
        problem = shortened(f"{type(error).__name__}: {error}")
        raise ValueError(f"{where}: a measure that is not as MusicXML has it ({problem})") from error
    for same in zip_longest(*measured, fillvalue=([], Fraction(0))):
        counts = Counter(length for _, length in same)
        length = max(counts, key=lambda length: (counts[length], length))
        for voice, (sounding, _) in zip(voices, same, strict=True):
            voice += [
                Note(begin + note.start, begin + min(note.stop, length), note.pitch)
                for note in sounding
                if note.start < length
            ]
        begin += length
        if begin > MOST_QUARTERS:
            raise ValueError(f"{where}: longer than {MOST_QUARTERS:,} quarter notes; no more are read")
    return [(voice, begin) for voice in voices]


def measures(part: ElementTree.Element) -> list[tuple[list[Note], Fraction]]:
    """The notes of each measure of a part, counted from its begin, and its length: the furthest point.

    backup and forward move the point of writing; a note marked chord starts with the note before it and does
    not move the point; grace notes have no duration and are left out.
    """
    measured: list[tuple[list[Note], Fraction]] = []
    divisions = Fraction(1)
    for measure in part.iter("measure"):
        sounding: list[Note] = []
        now = reached = start = Fraction(0)
        for element in measure:
            if element.tag == "attributes":
                divisions = number(element.findtext("divisions", str(divisions)))
            length = number(element.findtext("duration", "0")) / divisions
            if length < 0:
                raise ValueError(f"a duration of {length} quarter notes")
            if element.tag == "backup":
                now -= length
                if now < 0:
                    raise ValueError(f"a backup to {now}, before the begin of the measure")
            elif element.tag == "forward":
                now += length
            elif element.tag == "note" and element.find("grace") is None:
                if element.find("chord") is None:
                    start, now = now, now + length
                if element.find("pitch") is not None:
                    sounding.append(Note(start, start + length, midi(element.find("pitch"))))
            reached = max(reached, now)
        measured.append((sounding, reached))
    return measured


def midi(pitch: ElementTree.Element) -> int:
    """The MIDI number of a pitch element (middle C, octave 4, is 60)."""
    octave, alter = number(pitch.findtext("octave", "")), number(pitch.findtext("alter", "0"))
    if octave.denominator != 1 or alter.denominator != 1:
        raise ValueError(f"octave {octave}, alter {alter}; whole numbers are read")
    return int(12 * (octave + 1) + STEPS[pitch.findtext("step")] + alter)


def number(text: str) -> Fraction:
    """A number of a score: of few digits, for 1e999999999 would not fit into memory."""
    if not NUMBER.fullmatch(text.strip()):
        raise ValueError(f"{text!r} is no number of at most nine digits")
    return Fraction(text.strip())
