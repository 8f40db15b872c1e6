"""Proves that scores are read right: on small ones worked out by hand, and against music21's own parser."""

import warnings
import zipfile
from fractions import Fraction
from xml.etree import ElementTree

import numpy as np
import pytest

from tensor_rnns.datasets import chorales, keyboard, musicxml, quartets, table
from tensor_rnns.datasets.ready import compare

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
    ((found, length),) = musicxml.aligned([ElementTree.fromstring(text)], "it")
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


def test_a_chord_note_longer_than_its_head_does_not_delay_what_follows():
    text = part(HEAD.format(2) + note("C4", 2) + note("E4", 3, "<chord/>") + note("D4", 6), note("F4", 2))
    assert read(text) == ([(0, 1, 60), (0, 1.5, 64), (1, 4, 62), (4, 5, 65)], 5)


def test_parts_stay_together_where_a_measure_of_one_is_too_full_or_not_full():
    texts = (
        part(HEAD.format(1) + note("C5", 3), note("D5", 3), note("E5", 3), note("F5", 2)),
        part(HEAD.format(1) + note("C4", 2) + note("D4", 2) + note("E4", 1), note("F4", 1), note("G4", 3)),
        part(HEAD.format(2) + note("C3", 6), note("D3", 6), note("E3", 4), note("F3", 4)),
    )
    voices = musicxml.aligned([ElementTree.fromstring(text) for text in texts], "it")
    assert [[(float(one.start), float(one.stop), one.pitch) for one in found] for found, _ in voices] == [
        [(0, 3, 72), (3, 6, 74), (6, 9, 76), (9, 11, 77)],
        [(0, 2, 60), (2, 3, 62), (3, 4, 65), (6, 9, 67)],
        [(0, 3, 48), (3, 6, 50), (6, 8, 52), (9, 11, 53)],
    ]
    assert [length for _, length in voices] == [11, 11, 11]


def test_of_two_lengths_equally_frequent_the_longer_is_taken():
    texts = part(HEAD.format(1) + note("C5", 3), note("D5", 1)), part(note("C4", 2), note("D4", 4))
    voices = musicxml.aligned([ElementTree.fromstring(text) for text in texts], "it")
    assert [[(one.start, one.stop) for one in found] for found, _ in voices] == [
        [(0, 3), (3, 4)],
        [(0, 2), (3, 7)],
    ]


def test_backup_and_forward_move_the_point_of_writing():
    back = "<backup><duration>3</duration></backup>"
    ahead = "<forward><duration>2</duration></forward>"
    text = part(
        HEAD.format(1) + note("C5", 3) + back + ahead + note("C3", 1) + back + note("G3", 1), note("D4", 1)
    )
    assert read(text) == ([(0, 3, 72), (2, 3, 48), (0, 1, 55), (3, 4, 62)], 4)


@pytest.mark.parametrize(
    ("measure", "told"),
    [
        (note("C5", 2) + "<backup><duration>6</duration></backup>" + note("C3", 1), "a backup to -2, before"),
        (note("C5", -3) + note("D5", 4), "a duration of -3/2 quarter notes"),
        (note("C5", 2) + "<forward><duration>-1</duration></forward>", "a duration of -1/2 quarter notes"),
    ],
)
def test_what_leads_before_the_begin_of_its_measure_is_refused(measure, told):
    """Painted, it would sound at the end of the piece."""
    with pytest.raises(ValueError, match=f"it: a measure that is not as MusicXML has it .*{told}"):
        read(part(HEAD.format(2) + measure))


def test_thirds_of_a_quarter_are_exact():
    text = part(HEAD.format(3) + note("C4", 1) * 3 + note("D4", 3))
    ((found, length),) = musicxml.aligned([ElementTree.fromstring(text)], "it")
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
    rest = "<note><rest/><duration>{}</duration></note>"
    alto = part(HEAD.format(2) + note("G4", 4) + rest.format(3))
    tenor = part(HEAD.format(2) + note("C4", 2) + rest.format(5))
    bass = part(HEAD.format(1) + note("C3", 1) + note("C3", 1) + note("D3", 1))
    roll = chorales.quarters(score(tmp_path, soprano, alto, tenor, bass, name=name))
    sounding = [set(np.flatnonzero(row) + 21) for row in roll]
    assert sounding == [{72, 67, 60, 48}, {76, 67, 48}, {76, 50}, {77}]
    assert roll.dtype == np.uint8


def test_only_four_parts_are_taken(tmp_path):
    one = part(HEAD.format(1) + note("C4", 1))
    assert chorales.quarters(score(tmp_path, one, one, one)) is None
    assert chorales.quarters(score(tmp_path, *[one] * 5)) is None


def test_four_parts_of_a_quartet_are_read_at_eighths(tmp_path):
    first = part(HEAD.format(2) + note("C5", 1) + note("D5", 1) + note("E5", 2), note("F5", 1))
    full = part(HEAD.format(2) + note("G4", 6), note("A4", 1))
    other = part(HEAD.format(2) + note("C3", 4), note("D3", 1))
    roll = quartets.eighths(score(tmp_path, first, full, other, other))
    sounding = [set(np.flatnonzero(row) + 21) for row in roll]
    assert sounding == [{72, 67, 48}, {74, 67, 48}, {76, 67, 48}, {76, 67, 48}, {77, 69, 50}]
    with pytest.raises(ValueError, match=r"a\.xml: 3 parts; 4 are expected"):
        quartets.eighths(score(tmp_path, first, full, other))


def test_the_last_part_of_a_score_is_the_piano(tmp_path):
    song = part(HEAD.format(2) + note("C5", 8))
    piano = part(HEAD.format(2) + note("C4", 1) + note("G4", 3, "<chord/>") + note("D4", 2))
    roll = keyboard.eighths(score(tmp_path, song, piano))
    assert [set(np.flatnonzero(row) + 21) for row in roll] == [{60, 67}, {62, 67}, {62, 67}]


def test_keyboard_pieces_are_as_counted():
    compare("keyboard", table.entry("keyboard").counted, keyboard.read(**table.entry("keyboard").options)[1])
    song = keyboard.eighths(keyboard.corpus() / "schubert" / "Lindenbaum.xml")
    assert len(song) == 2 * 82 * 3, "82 measures of three quarters"


def test_refused_scores(tmp_path):
    low = part(HEAD.format(1) + note("A0", 1)), part(HEAD.format(1) + note("G0", 1))
    with pytest.raises(ValueError, match=r"a\.xml, step 0: note 19; whole numbers 21\.\.108"):
        chorales.quarters(score(tmp_path, *low, *low))
    (tmp_path / "b.xml").write_text("<score-timewise/>")
    with pytest.raises(ValueError, match=r"b\.xml: expected score-partwise, found score-timewise"):
        musicxml.parts(tmp_path / "b.xml")


def by_music21(path, like, steps=1, bar=None):
    """The roll of a score as music21 reads it; with `bar`, each measure is put at a multiple of that many
    quarters and cut there: music21 itself lets the parts of a score drift apart.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from music21 import converter
    roll = np.zeros_like(like)
    for voice in converter.parse(path, forceSource=True).parts:
        for place, measure in enumerate(voice.getElementsByClass("Measure")):
            begin = measure.offset if bar is None else place * bar
            for one in measure.flatten().notes:
                stop = one.offset + one.duration.quarterLength
                first, last = begin + one.offset, begin + (stop if bar is None else min(stop, bar))
                for pitch in one.pitches if one.duration.quarterLength else ():
                    roll[int(np.ceil(steps * first)) : int(np.ceil(steps * last)), pitch.midi - 21] = 1
    return roll


@pytest.mark.parametrize("name", ["bwv299.mxl", "bwv111.6.mxl", "bwv67.4.xml", "bwv366.mxl"])
def test_same_roll_as_music21s_parser(name):
    path = next(path for path in chorales.files() if path.name == name)
    roll = chorales.quarters(path)
    np.testing.assert_array_equal(roll, by_music21(path, roll))


@pytest.mark.parametrize(
    ("name", "bar"),
    [
        ("mozart/k80/movement3.mxl", None),
        ("mozart/k156/movement3.mxl", 3),
        ("haydn/opus1no1/movement2.mxl", 3),
        ("beethoven/opus59no3/movement2.mxl", 3),
    ],
)
def test_same_roll_of_a_quartet_as_music21s_measures(name, bar):
    """The last three have a part with measures that are not full (k156) or too full."""
    path = next(path for path in quartets.files() if path.as_posix().endswith(name))
    roll = quartets.eighths(path)
    np.testing.assert_array_equal(roll, by_music21(path, roll, quartets.EIGHTHS, bar))


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({}, "META-INF/container.xml"),
        ({"META-INF/container.xml": "<container/>"}, "not a score in MusicXML"),
        ({"META-INF/container.xml": "<container><rootfile full-path='a.xml'/></container>"}, "a.xml"),
        ({"META-INF/container.xml": "<container>"}, "not a score in MusicXML .*no element found"),
    ],
)
def test_archive_that_holds_no_score_is_refused(files, reason, tmp_path):
    path = tmp_path / "a.mxl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    with pytest.raises(ValueError, match=rf"a\.mxl: .*{reason}"):
        musicxml.parts(path)
    path.write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ValueError, match=r"a\.mxl: not a whole zip archive"):
        musicxml.parts(path)
