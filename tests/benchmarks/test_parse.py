"""How long the workflow takes to read is measured on real readings of it."""

import re
import subprocess
import sys

import pytest

from benchmarks import parse


def test_a_row_says_what_a_reading_takes_and_its_import(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["parse", "--turns", "1"])
    parse.main()
    (row,) = capsys.readouterr().out.splitlines()[2:]
    median, least, most, alone = map(float, re.match(r"\| here" + r" \| (\d+\.\d\d)" * 4, row).groups())
    assert 0 < alone < least == median == most


def test_a_reading_that_fails_is_no_measurement():
    with pytest.raises(subprocess.CalledProcessError):
        parse.seconds((*parse.READ, "--no-such-flag"), 1)
