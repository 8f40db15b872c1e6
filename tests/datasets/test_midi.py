"""Proves that MIDI files are read as promised: rounding, the dropped eighth, notes struck again, matches."""

import csv
import io
import zipfile

import numpy as np
import pretty_midi
import pytest

from tensor_rnns import functions
from tensor_rnns.datasets import Dataset, midi, tunes_midi
from tensor_rnns.papers.mathews2016 import midi as agreement

TICK = 0.5 / 480


def song(*notes, resolution=480, tracks=1, drum=False):
    """A file of (pitch, first tick, last tick[, track]) at 120 quarter notes a minute."""
    made = pretty_midi.PrettyMIDI(resolution=resolution, initial_tempo=120)
    made.instruments = [pretty_midi.Instrument(program, is_drum=drum) for program in range(tracks)]
    for pitch, first, last, *track in notes:
        place = track[0] if track else 0
        note = pretty_midi.Note(90, pitch, first * 0.5 / resolution, last * 0.5 / resolution)
        made.instruments[place].notes.append(note)
    stream = io.BytesIO()
    made.write(stream)
    return stream.getvalue()


def sounding(data):
    return [(np.flatnonzero(row) + 21).tolist() for row in midi.eighths(data, "it")]


def test_both_ends_are_rounded_to_eighths_and_the_first_is_dropped():
    assert sounding(song((60, 240, 480), (62, 480, 959), (64, 1080, 1320))) == [[60], [62], [62], [], [64]]
    assert sounding(song((60, 240, 480), (72, 359, 599), (50, 599, 720))) == [[60, 72], [50]]


def test_a_half_is_rounded_up_and_a_note_can_vanish():
    assert sounding(song((60, 240, 720), (72, 360, 480), (71, 361, 590))) == [[60], [60]]
    assert sounding(song((60, 240, 720), (72, 360, 600))) == [[60], [60, 72]]


def test_a_note_struck_again_while_it_sounds_loses_what_sounded_before():
    struck = pretty_midi.PrettyMIDI(resolution=480, initial_tempo=120)
    struck.instruments = [pretty_midi.Instrument(0)]
    struck.instruments[0].notes = [
        pretty_midi.Note(90, 60, 240 * TICK, 1200 * TICK),
        pretty_midi.Note(90, 60, 720 * TICK, 1200 * TICK),
        pretty_midi.Note(90, 67, 240 * TICK, 720 * TICK),
    ]
    stream = io.BytesIO()
    struck.write(stream)
    data = stream.getvalue()
    read = pretty_midi.PrettyMIDI(io.BytesIO(data))
    assert sorted((note.pitch, round(note.start / TICK)) for note in read.instruments[0].notes) == [
        (60, 240), (60, 720), (67, 240),
    ]  # fmt: skip
    assert sounding(data) == [[67], [67], [60], [60]]


def test_two_tracks_may_sound_the_same_note_and_drums_are_left_out():
    assert sounding(song((60, 240, 720, 0), (60, 480, 960, 1), tracks=2)) == [[60], [60], [60]]
    with pytest.raises(ValueError, match="it: no notes"):
        midi.eighths(song((60, 240, 480), drum=True), "it")


def test_another_division_does_not_matter():
    assert sounding(song((60, 48, 144), resolution=96)) == [[60], [60]]


def test_a_change_of_tempo_does_not_matter():
    """Ticks are counted, not seconds; before each of three notes the tempo is another."""

    def of(*tempos):
        changes = [b"\x00\xff\x51\x03" + tempo.to_bytes(3) for tempo in tempos] or [b""] * 3
        note = b"\x83\x60\x90\x3c\x40\x83\x60\x80\x3c\x40"
        events = b"".join(change + note for change in changes) + b"\x00\xff\x2f\x00"
        return midi.HEAD.pack(b"MThd", 6, 0, 1, 480) + midi.CHUNK.pack(b"MTrk", len(events)) + events

    fast = of(250_000, 100_000, 2_000_000)
    assert len(pretty_midi.PrettyMIDI(io.BytesIO(fast)).get_tempo_changes()[0]) == 3
    assert sounding(fast) == sounding(of()) == [[], [60], [60], [], [], [60], [60], [], [], [60], [60]]


def test_what_is_written_is_read_back():
    rng = np.random.default_rng(5)
    roll = (rng.random((37, 88)) < 0.1).astype(np.uint8)
    roll[-1, 3] = 1
    np.testing.assert_array_equal(midi.eighths(midi.written(roll), "it"), roll)


HEAD = ("split", "index_in_pickle", "file", "piano_roll_mismatch", "transposition_semitones")


def packed(folder, files, rows):
    with zipfile.ZipFile(folder / "a.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    with open(folder / "a.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([HEAD, *rows])


FILES = {
    "N/train/b.mid": song((60, 240, 720)),
    "N/train/a.mid": song((62, 240, 480)),
    "N/valid/c.mid": song((64, 240, 960)),
    "N/test/d.mid": song((65, 240, 480), (69, 480, 720)),
}
ROWS = [
    ("train", 1, "b.mid", 0, -3),
    ("train", "", "a.mid", "", ""),
    ("valid", 0, "c.mid", 0, 0),
    ("test", 0, "d.mid", 0, 2),
]


def test_files_their_splits_and_their_matches(tmp_path):
    packed(tmp_path, FILES, ROWS)
    arrays, facts = midi.read(tmp_path)
    assert arrays["train_lengths"].tolist() == [1, 2]
    assert arrays["train_index"].tolist() == [-1, 1]
    assert arrays["train_transposition"].tolist() == [0, -3]
    assert arrays["test_transposition"].tolist() == [2]
    assert (facts["files"], facts["distinct_files"]) == (4, 4)
    assert facts["matched"] == {"train": 1, "valid": 1, "test": 1}
    assert facts["not_matched"] == {"train": 1, "valid": 0, "test": 0}


def test_files_and_table_must_fit(tmp_path):
    packed(tmp_path, FILES, [*ROWS[:3], ("test", 0, "e.mid", 0, 2)])
    with pytest.raises(
        ValueError, match=r"1 files are not in a\.zip \[\('test', 'e\.mid'\)\], 1 of its files"
    ):
        midi.read(tmp_path)


def test_a_second_table_is_counted(tmp_path):
    packed(tmp_path, FILES, ROWS)
    (tmp_path / "b.csv").touch()
    with pytest.raises(ValueError, match=r"2 files \*\.csv; one is expected"):
        midi.read(tmp_path)


def test_a_bad_file_is_named(tmp_path):
    packed(tmp_path, FILES | {"N/valid/c.mid": b"MThd"}, ROWS)
    with pytest.raises(ValueError, match=r"a\.zip: c\.mid: 4 bytes; the header of a MIDI file has 14"):
        midi.read(tmp_path)


@pytest.mark.parametrize(("music", "pieces"), [("tunes", 12), ("keyboard", 3)])
def test_the_stand_ins_are_read_back_as_they_are(music, pieces):
    arrays, facts = tunes_midi.read(music)
    assert facts["pieces"]["valid"] == facts["matched"]["valid"] == pieces
    assert arrays["valid_index"].tolist() == list(range(pieces))
    assert not arrays["test_transposition"].any()


def of(pieces, **more):
    """A data set whose train split is `pieces`, each {step: notes}, and whose others are empty."""
    arrays = {}
    for split in ("train", "valid", "test"):
        rolls = []
        for piece in pieces if split == "train" else []:
            roll = np.zeros((max(piece) + 1, 88), dtype=np.uint8)
            for step, notes in piece.items():
                roll[step, np.array(notes) - 21] = 1
            rolls.append(roll)
        arrays[f"{split}_roll"] = np.concatenate(rolls) if rolls else np.zeros((0, 88), dtype=np.uint8)
        arrays[f"{split}_lengths"] = np.array([len(roll) for roll in rolls], dtype=np.int64)
        for name, values in more.items():
            arrays[f"{split}_{name}"] = np.array(values if split == "train" else [], dtype=np.int64)
    return Dataset("it", arrays, {})


def test_agreement_counted_by_hand():
    rolls = of([{0: [60], 1: [62]}, {0: [60, 64]}, {0: [40], 3: [41]}, {0: [50]}, {0: [70], 2: [71]}])
    files = of(
        [{0: [58], 1: [60]}, {0: [60, 64, 67]}, {0: [40]}, {0: [55]}, {0: [99]}, {0: [74], 2: [75]}],
        index=[0, 1, 2, 3, -1, -1],
        transposition=[2, 0, 0, -5, 0, 0],
    )
    assert agreement.agreement(rolls, files, 0.4) == {
        "files": 6, "exact": 2, "near": 1, "far": 1, "mean": (1 / 3 + 1 / 2) / 4, "largest": 0.5,
        "other_length": 1, "only_midi": 1, "only_rolls": 1, "both": 0, "found": 1, "lost": 1,
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"needs the key 'pairs'"):
        functions.computed("mathews2016.midi")({"near": 1}, {})
