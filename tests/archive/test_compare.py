"""Proves that the differences of two files are named in the order of the files."""

import string

import pytest

from tensor_rnns.archive.compare import differences
from tensor_rnns.files import write_json


def test_the_first_values_that_differ_are_named(tmp_path):
    for number, name in enumerate(("given.json", "again.json")):
        write_json(tmp_path / name, dict.fromkeys(string.ascii_lowercase, number), "letters")
    assert differences(tmp_path / "given.json", tmp_path / "again.json") == [
        *(f"{letter}: given 0, recomputed 1" for letter in "abc"), "and 23 further differences",
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["chord.mid", "curves.svg", "table.tex", "page.html"])
def test_other_bytes_that_no_text_shows_are_a_difference(name, tmp_path):
    """What is no UTF-8 is read as one sign."""
    for folder, last in (("given", b"\xfe"), ("again", b"\xff")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / name).write_bytes(b"MThd 480\n" + last)
    assert differences(tmp_path / "given" / name, tmp_path / "again" / name) == [
        "other bytes, though every value is equal"
    ]
