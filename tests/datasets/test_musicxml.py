"""Proves that scores are read right: on small ones worked out by hand, and against music21's own parser."""

import warnings
import zipfile
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

from tensor_rnns.datasets import chorales, musicxml

HEAD = "<attributes><divisions>{}</divisions></attributes>"


def note(pitch, duration, extra="", alter=""):
    step, octave = pitch
    alter = f"<alter>{alter}</alter>" if alter else ""
    return (
        f"<note>{extra}<pitch><step>{step}</step>{alter}<octave>{octave}</octave></pitch>"
        f"<duration>{duration}</duration></note>"
    )


def part(*measures):
    return "<part>" + "".join(f"<measure>{measure}</measure>" for measure in measures) + "</part>"


def read(text):
    found, length = musicxml.notes(ElementTree.fromstring(text))
    return [(float(one.start), float(one.stop), one.pitch) for one in found], float(length)


def test_notes_follow_each_other_and_divisions_may_change():
    text = part(
        HEAD.format(2) + note("C4", 3) + note("F4", 1, alter="1"), HEAD.format(4) + note("B3", 6, alter="-1")
    )
    assert read(text) == ([(0, 1.5, 60), (1.5, 2, 66), (2, 3.5, 58)], 3.5)


def test_rests_take_time_and_grace_notes_none():
    rest = "<note><rest/><duration>3</duration></note>"
    grace = "<note><grace/><pitch><step>D</step><octave>5</octave></pitch></note>"
    assert read(part(HEAD.format(1) + rest + grace + note("E5", 2))) == ([(3, 5, 76)], 5)


def test_chord_notes_start_together_and_do_not_shorten_the_measure():
    text = part(
        HEAD.format(1) + note("C4", 4) + note("E4", 1, "<chord/>") + note("G4", 2, "<chord/>") + note("A4", 1)
    )
    assert read(text) == ([(0, 4, 60), (0, 1, 64), (0, 2, 67), (4, 5, 69)], 5)


def test_backup_and_forward_move_the_point_of_writing():
    back = "<backup><duration>3</duration></backup>"
    ahead = "<forward><duration>2</duration></forward>"
    text = part(
        HEAD.format(1) + note("C5", 3) + back + ahead + note("C3", 1) + back + note("G3", 1), note("D4", 1)
    )
    assert read(text) == ([(0, 3, 72), (2, 3, 48), (0, 1, 55), (3, 4, 62)], 4)


def test_thirds_of_a_quarter_are_exact():
    found, length = musicxml.notes(
        ElementTree.fromstring(part(HEAD.format(3) + note("C4", 1) * 3 + note("D4", 3)))
    )
    assert found[2].stop == Fraction(1) == found[3].start
    assert length == 2


def score(folder, *parts, name="a.xml"):
    text = f"<score-partwise>{''.join(parts)}</score-partwise>"
    path = folder / name
    if path.suffix == ".mxl":
        container = "<container><rootfiles><rootfile full-path='in/b.musicxml'/></rootfiles></container>"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("mimetype", "application/vnd.recordare.musicxml")
            archive.writestr("META-INF/container.xml", container)
            archive.writestr("in/b.musicxml", text)
    else:
        path.write_text(text)
    return path


@pytest.mark.parametrize("name", ["a.xml", "a.mxl"])
def test_roll_tells_what_sounds_at_each_quarter(name, tmp_path):
    soprano = part(HEAD.format(2) + note("C5", 1) + note("D5", 1) + note("E5", 3) + note("F5", 2))
    alto = part(HEAD.format(2) + note("G4", 4))
    tenor = part(HEAD.format(2) + note("C4", 2) + "<note><rest/><duration>2</duration></note>")
    bass = part(HEAD.format(1) + note("C3", 1) + note("C3", 1) + note("D3", 1))
    roll = chorales.quarters(score(tmp_path, soprano, alto, tenor, bass, name=name))
    sounding = [set(np.flatnonzero(row) + 21) for row in roll]
    assert sounding == [{72, 67, 60, 48}, {76, 67, 48}, {76, 50}, {77}]
    assert roll.dtype == np.uint8


def test_only_four_parts_are_taken(tmp_path):
    one = part(HEAD.format(1) + note("C4", 1))
    assert chorales.quarters(score(tmp_path, one, one, one)) is None
    assert chorales.quarters(score(tmp_path, *[one] * 5)) is None


def test_refused_scores(tmp_path):
    low = part(HEAD.format(1) + note("A0", 1)), part(HEAD.format(1) + note("G0", 1))
    with pytest.raises(ValueError, match=r"a\.xml: note 19; MIDI 21\.\.108"):
        chorales.quarters(score(tmp_path, *low, *low))
    (tmp_path / "b.xml").write_text("<score-timewise/>")
    with pytest.raises(ValueError, match=r"b\.xml: expected score-partwise, found score-timewise"):
        musicxml.score(tmp_path / "b.xml")


@pytest.mark.parametrize("name", ["bwv299.mxl", "bwv111.6.mxl", "bwv67.4.xml", "bwv366.mxl"])
def test_same_roll_as_music21s_parser(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from music21 import converter
    path = next(path for path in chorales.files() if path.name == name)
    roll = chorales.quarters(path)
    other = np.zeros_like(roll)
    for voice in converter.parse(path, forceSource=True).parts:
        for one in voice.flatten().notes:
            start, stop = one.offset, one.offset + one.duration.quarterLength
            for pitch in one.pitches if one.duration.quarterLength else ():
                other[int(np.ceil(start)) : int(np.ceil(stop)), pitch.midi - 21] = 1
    np.testing.assert_array_equal(roll, other)
