"""Proves that the differences of two files are named in the order of the files."""

import string

from tensor_rnns.archive.compare import differences
from tensor_rnns.files import write_json


def test_the_first_values_that_differ_are_named(tmp_path):
    for number, name in enumerate(("given.json", "again.json")):
        write_json(tmp_path / name, dict.fromkeys(string.ascii_lowercase, number), "letters")
    assert differences(tmp_path / "given.json", tmp_path / "again.json") == [
        *(f"{letter}: given 0, recomputed 1" for letter in "abc"), "and 23 further differences",
    ]  # fmt: skip
