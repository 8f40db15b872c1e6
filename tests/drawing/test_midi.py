"""A MIDI file says when each note begins and ends; another reader of the format understands it."""

import io
import struct

import numpy as np
import pytest

from tensor_rnns.drawing.roll import notes, write_midi

ROLL = np.zeros((6, 5))
ROLL[0:2, 0] = ROLL[1:6, 4] = ROLL[3:4, 0] = 1


def events(content: bytes) -> list[tuple[int, int, int, int]]:
    """(time in ticks, kind of event, pitch, velocity) of the one track, read by the rules of the format."""
    assert content[:4] == b"MThd"
    assert struct.unpack(">IHHH", content[4:14]) == (6, 0, 1, 480)
    assert content[14:18] == b"MTrk"
    assert struct.unpack(">I", content[18:22])[0] == len(content) - 22
    place, time, found = 22, 0, []
    while place < len(content):
        delta = 0
        while True:
            delta = delta << 7 | content[place] & 0x7F
            place += 1
            if content[place - 1] < 0x80:
                break
        time += delta
        if content[place] == 0xFF:
            length = content[place + 2]
            found.append(
                (time, content[place + 1], int.from_bytes(content[place + 3 : place + 3 + length]), 0)
            )
            place += 3 + length
        else:
            # An event whose kind is that of the one before may leave it out.
            kind, place = (content[place], place + 1) if content[place] >= 0x80 else (found[-1][1], place)
            found.append((time, kind, content[place], content[place + 1]))
            place += 2
    return found


def written(*pieces, beat=1.0, tempo=100.0) -> bytes:
    stream = io.BytesIO()
    write_midi(stream, pieces, beat, tempo)
    return stream.getvalue()


def test_notes_are_runs_of_steps():
    assert list(notes(ROLL, 50)) == [(0, 2, 50), (3, 4, 50), (1, 6, 54)]


def test_every_note_begins_and_ends_in_time():
    found = events(written((ROLL, 50), beat=2, tempo=120))
    assert found[0] == (0, 0x51, 500_000, 0)
    assert found[-1] == (1440, 0x2F, 0, 0)
    assert found[1:-1] == [
        (0, 0x90, 50, 80), (240, 0x90, 54, 80), (480, 0x90, 50, 0), (720, 0x90, 50, 80), (960, 0x90, 50, 0),
        (1440, 0x90, 54, 0),
    ]  # fmt: skip


def test_pieces_follow_one_another_with_a_pause():
    found = events(written((ROLL, 50), (ROLL[:1], 70)))
    assert found[-3:] == [
        ((6 + 2) * 480, 0x90, 70, 80),
        ((6 + 2 + 1) * 480, 0x90, 70, 0),
        (9 * 480, 0x2F, 0, 0),
    ]


def test_a_repeated_note_ends_before_it_begins_again():
    again = np.zeros((4, 2))
    again[:2, 0] = 1
    found = events(written((again, 60), beat=4))
    assert [event[3] for event in found[1:-1]] == [80, 0]
    second = np.array([[0.9], [0.4], [0.6]])
    assert list(notes(second, 60)) == [(0, 1, 60), (2, 3, 60)]


def test_equal_notes_give_equal_bytes_and_pitches_are_checked():
    assert written((ROLL, 50)) == written((ROLL.copy(), 50))
    with pytest.raises(ValueError, match="a note of 130; MIDI has 0 to 127"):
        written((ROLL, 126))
