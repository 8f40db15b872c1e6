"""Proves that the differences of two files are named in the order of the files."""

import string

import numpy as np
import pytest

from tensor_rnns.analysis.curves import SERIES, write_curves
from tensor_rnns.archive.compare import differences
from tensor_rnns.archive.verify import Outcome
from tensor_rnns.files import write_json
from tensor_rnns.npz_files import read_npz, write_npz


def test_the_first_values_that_differ_are_named(tmp_path):
    for number, name in enumerate(("given.json", "again.json")):
        write_json(tmp_path / name, dict.fromkeys(string.ascii_lowercase, number), "letters")
    assert differences(tmp_path / "given.json", tmp_path / "again.json") == [
        *(f"{letter}: given 0, recomputed 1" for letter in "abc"), "and 23 further differences",
    ]  # fmt: skip


def test_one_more_difference_is_one(tmp_path):
    for number, name in enumerate(("given.json", "again.json")):
        write_json(tmp_path / name, dict.fromkeys("abcd", number), "letters")
    assert differences(tmp_path / "given.json", tmp_path / "again.json")[3:] == ["and 1 further difference"]
    assert list(Outcome(["a"]).lines())[-1] == "1 difference"
    assert list(Outcome(["a", "b"]).lines())[-1] == "2 differences"


@pytest.mark.parametrize("name", ["chord.mid", "curves.svg", "table.tex", "page.html"])
def test_other_bytes_that_no_text_shows_are_a_difference(name, tmp_path):
    """What is no UTF-8 is read as one sign."""
    for folder, last in (("given", b"\xfe"), ("again", b"\xff")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(b"MThd 480\n" + last)
    assert differences(tmp_path / "given" / name, tmp_path / "again" / name) == [
        "other bytes, though every value is equal"
    ]


SERIES_OF_A_RUN = ("p", "e", "smoke", "only", "gru", "main", "final", 0, 0, "", "train", "loss")


@pytest.mark.parametrize(
    ("change", "of", "named"),
    [
        ({"more": np.ones(2)}, "p/e/smoke", ["more: given 'float64(2,)', recomputed None"]),
        ({}, "p/other/smoke", ["holds: given 'p/other/smoke', recomputed 'p/e/smoke'"]),
        (
            {"series": np.array([[*map(str, SERIES_OF_A_RUN)]] * 2), "points": np.array([2, 2]),
             "update": np.array([1, 2, 1, 2]), "value": np.array([9.0, 9.0, 0.5, 0.25])},
            "p/e/smoke",
            ["points: given 'int64(2,)', recomputed 'int64(1,)'"],
        ),
    ],
)  # fmt: skip
def test_what_the_curves_of_a_file_do_not_show_is_a_difference(change, of, named, tmp_path):
    """An array too many, another owner, and a series that the next one of its key hides."""
    given, again = tmp_path / "given" / "curves.npz", tmp_path / "again" / "curves.npz"
    assert len(SERIES_OF_A_RUN) == len(SERIES)
    write_curves(again, {SERIES_OF_A_RUN: (np.array([1, 2]), np.array([0.5, 0.25]))}, "p/e/smoke")
    write_npz(given, read_npz(again) | change, of)
    assert differences(given, again)[:1] == named
