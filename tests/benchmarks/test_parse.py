"""How long the workflow takes to read is measured on real readings of it."""

import subprocess
import sys

import pytest

from benchmarks import parse


def test_a_row_says_what_readings_and_the_import_alone_take(monkeypatch, capsys):
    asked = []
    taken = {parse.READ: [3.0, 1.5, 2.25], parse.IMPORT: [0.75, 0.5, 1.25]}

    def seconds(command, turns, where=()):
        asked.append((command, turns, where))
        return taken[command]

    monkeypatch.setattr(parse, "seconds", seconds)
    monkeypatch.setattr(sys, "argv", ["parse", "--turns", "3"])
    parse.main()
    (row,) = capsys.readouterr().out.splitlines()[2:]
    assert row.startswith("| here | 2.25 | 1.50 | 3.00 | 0.75 | ")
    # The first reading checks every experiment file and is not counted.
    assert asked == [(parse.READ, 1, ()), (parse.READ, 3, ()), (parse.IMPORT, 3, ())]


def test_each_reading_of_the_real_workflow_is_measured():
    taken = parse.seconds(parse.READ, 2)
    assert len(taken) == 2
    assert min(taken) > 0


def test_a_reading_that_fails_is_no_measurement():
    with pytest.raises(subprocess.CalledProcessError):
        parse.seconds((*parse.READ, "--no-such-flag"), 1)
