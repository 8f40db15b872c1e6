"""Scores in MusicXML 1 to 4 (score-partwise), plain or zipped, as sounding notes in quarter notes of time."""

import zipfile
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

STEPS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


class Note(NamedTuple):
    """A sounding note: from `start` until before `stop`, in quarter notes; `pitch` is its MIDI number."""

    start: Fraction
    stop: Fraction
    pitch: int


def score(path: Path) -> ElementTree.Element:
    """The root element of a .mxl, .xml or .musicxml file; ValueError if it is no score-partwise."""
    if path.suffix == ".mxl":
        with zipfile.ZipFile(path) as archive:
            container = ElementTree.fromstring(archive.read("META-INF/container.xml"))
            name = next(
                element.get("full-path") for element in container.iter() if element.tag.endswith("rootfile")
            )
            root = ElementTree.fromstring(archive.read(name))
    else:
        root = ElementTree.parse(path).getroot()
    if root.tag != "score-partwise":
        raise ValueError(f"{path}: expected score-partwise, found {root.tag}")
    return root


def notes(part: ElementTree.Element) -> tuple[list[Note], Fraction]:
    """The notes of one part, and its length in quarter notes.

    Measures follow each other, each as long as the furthest point reached in it. backup and forward move
    the point of writing; a note marked chord starts with the note before it; grace notes have no duration
    and are left out.
    """
    found: list[Note] = []
    begin, divisions = Fraction(0), 1
    for measure in part.iter("measure"):
        now = reached = last = begin
        for element in measure:
            if element.tag == "attributes":
                divisions = int(element.findtext("divisions", str(divisions)))
            length = Fraction(element.findtext("duration", "0")) / divisions
            if element.tag == "backup":
                now -= length
            elif element.tag == "forward":
                now += length
            elif element.tag == "note" and element.find("grace") is None:
                start = last if element.find("chord") is not None else now
                if element.find("pitch") is not None:
                    found.append(Note(start, start + length, midi(element.find("pitch"))))
                last, now = start, max(now, start + length)
            reached = max(reached, now)
        begin = reached
    return found, begin


def midi(pitch: ElementTree.Element) -> int:
    """The MIDI number of a pitch element (middle C, octave 4, is 60)."""
    return (
        12 * (int(pitch.findtext("octave")) + 1)
        + STEPS[pitch.findtext("step")]
        + int(pitch.findtext("alter", "0"))
    )
