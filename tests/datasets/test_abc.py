"""Proves that tunes in ABC notation are read right: on small ones worked out by hand, and against music21."""

import warnings

import pytest

from tensor_rnns.datasets import abc, rolls, tunes


def read(music, key="C", unit="1/4"):
    notes, quarters = abc.tune(f"X:1\nT:A tune\nM:4/4\nL:{unit}\nK:{key}\n{music}\n", "it")
    return [(float(note.start), float(note.stop), note.pitch) for note in notes], float(quarters)


def pitches(music, key="C"):
    return [note[2] for note in read(music, key)[0]]


def test_notes_octaves_lengths_and_rests():
    assert read("C D2 E/2 F/ z c3/2 b' A,,|") == (
        [(0, 1, 60), (1, 3, 62), (3, 3.5, 64), (3.5, 4, 65), (5, 6.5, 72), (6.5, 7.5, 95), (7.5, 8.5, 45)],
        8.5,
    )
    assert read("C//", unit="1/8") == ([(0, 0.125, 60)], 0.125)


def test_keys_and_modes():
    assert pitches("FGABc", "D") == [66, 67, 69, 71, 73]
    assert pitches("BEA", "Bb") == [70, 63, 69]
    assert pitches("F", "Am") == [65]
    assert pitches("FcG", "Bm") == [66, 73, 67]
    assert pitches("Fc", "Ador % a comment") == [66, 72]
    assert pitches("cBF", "D Mix") == [72, 71, 66]
    assert pitches("Fcg", "A Minor") == [65, 72, 79]
    assert pitches("fc", "Dmix=f") == [77, 72]
    assert pitches("FCG", "F#m") == [66, 61, 68]


def test_accidentals_hold_to_the_end_of_the_bar_and_to_their_octave():
    assert pitches("^F F f|F _B B =B B ^^C __D", "C") == [66, 66, 77, 65, 70, 70, 71, 71, 62, 60]
    assert pitches("=F F|F", "D") == [65, 65, 66]


def test_a_key_may_change_in_a_line_and_on_a_line():
    assert pitches("F [K:D] F") == [65, 66]
    assert pitches("F|\nK:D\nF") == [65, 66]


def test_broken_rhythm_tuplets_and_chords():
    assert read("C>D E<F") == ([(0, 1.5, 60), (1.5, 2, 62), (2, 2.5, 64), (2.5, 4, 65)], 4)
    assert read("C>>D")[0] == [(0, 1.75, 60), (1.75, 2, 62)]
    notes, length = read("(3CDE F")
    assert [round(note[1] - note[0], 6) for note in notes] == [0.666667] * 3 + [1]
    assert length == 3
    assert read("(3:2:2CD E")[1] == pytest.approx(4 / 3 + 1)
    assert read("[CEG]2 [A,c]/") == (
        [(0, 2, 60), (0, 2, 64), (0, 2, 67), (2, 2.5, 57), (2, 2.5, 72)],
        2.5,
    )


def test_what_makes_no_sound_is_passed_over():
    music = '"Am"C {ab}D !trill!E .F ~u(GA) | %%staff 3\n%\nw: words\nB \\\n|1 c :|2 d |: e [1 f |] `g- y *'
    assert pitches(music) == [60, 62, 64, 65, 67, 69, 71, 72, 74, 76, 77, 79]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", r"no key \(K:\)"),
        ("<html>\n", r"no key \(K:\)"),
        ("X:1\nK:H\nCDE", "K:H is no key"),
        ("X:1\nK:Cnone\nCDE", "K:Cnone: the mode 'non' is none of aeo, dor"),
        ("X:1\nL:1/0\nK:C\nCDE", "L:1/0 is no length"),
        ("X:1\nL:3\nK:C\nCDE", "L:3 is no length"),
        ("X:1\nK:C\nCD=20\nE", "character 2 of the music: '=20"),
        ("X:1\nK:C\nC/0", "the length '/0' divides by zero"),
        ("X:1\nK:C\n[CE", "a chord is not closed"),
        ("X:1\nK:C\n[C[E]", "a chord within a chord"),
        ("X:1\nK:C\n>C", "> before any note"),
        ("X:1\nK:C\n(1CDE", "a tuplet of 1; 2 to 9"),
        ("X:1\nK:C\n" + "C999" * 100, "longer than 10,000 quarter notes"),
        ("X:1\nK:C\n" + "C" * 1_100_000, "1,100,008 characters; at most 1,048,576"),
    ],
)
def test_a_hostile_tune(text, reason):
    with pytest.raises(ValueError, match=f"it: {reason}"):
        abc.tune(text, "it")


def test_a_tune_as_a_roll_at_eighths(tmp_path):
    (tmp_path / "a.abc").write_text("X:1\nL:1/8\nK:G\nG2 F/G/ [GB]|\n")
    roll = tunes.eighths(tmp_path / "a.abc")
    assert [(row.nonzero()[0] + 21).tolist() for row in roll] == [[67], [67], [66], [67, 71]]


def test_pieces_are_collected_without_doubles():
    made = [rolls.sampled([([], 3)], "it") for _ in range(7)]
    for place, roll in enumerate(made):
        roll[0, place % 6] = 1
    arrays, facts = rolls.collected((f"p{place}", roll) for place, roll in enumerate(made))
    assert facts["removed_as_equal"] == {"p6": "p0"}
    assert facts["pieces"] == {"train": 4, "valid": 1, "test": 1}
    assert arrays["valid_roll"][0].nonzero()[0].tolist() == [3]
    with pytest.raises(ValueError, match="it: no voices"):
        rolls.sampled([], "it")


@pytest.mark.parametrize(
    "name", ["BelleOfTheStageLancashireClog", "CorporalCaseysFancyReel", "CzarOfRussiasFavoriteHornpipe"]
)
def test_same_notes_as_music21s_parser(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from music21 import converter
    path = next(path for path in tunes.files() if path.stem == name)
    ours, _ = abc.tune(path.read_text("latin1"), name)
    theirs = [
        (float(one.offset), float(one.duration.quarterLength), pitch.midi)
        for one in converter.parse(path, forceSource=True).flatten().notes
        for pitch in one.pitches
        if not one.duration.isGrace
    ]
    assert [(float(n.start), float(n.stop - n.start), n.pitch) for n in ours] == [
        pytest.approx(t) for t in theirs
    ]
