"""Messages are bounded and printable, whatever was given: shown to the terminal through the real command."""

import difflib

import pytest
from click.testing import CliRunner

from tensor_rnns import messages, papers
from tensor_rnns.cli.commands import main
from tensor_rnns.files import damaged


@pytest.mark.parametrize("length", [0, 1, 199, 200, 201, 5_985, 1_000_000])
def test_a_long_text_keeps_its_beginning_and_its_end_within_the_bound(length):
    text = "".join(chr(97 + place % 26) for place in range(length))
    found = messages.shortened(text, 200)
    assert len(found) == min(length, 200)
    assert found[:90] == text[:90]
    assert found[-30:] == text[-30:]
    assert (f"[... of {length:,} characters ...]" in found) == (length > 200)


def test_what_controls_a_terminal_is_not_printed():
    assert messages.printable("a\x1b[2J\x07b\u202ec\nd é") == "a?[2J?b?c?d é"
    assert messages.bounded("one\x1b[1m\ntwo") == "one?[1m\ntwo"


def test_few_names_are_all_listed():
    names = {f"fig-{number}" for number in range(messages.MOST_NAMES)}
    assert messages.suggestion("table", names) == f"allowed are {', '.join(sorted(names))}"
    assert messages.suggestion("gru", []) == "allowed are none"


def test_of_many_names_the_nearest_are_listed_and_the_others_counted():
    names = [*(f"figure-{number}" for number in range(50)), *(f"table-{number}" for number in range(50))]
    said = messages.suggestion("tabel-7", names)
    assert said.startswith("did you mean 'table-7'? allowed are ")
    listed = said.partition("allowed are ")[2].split(", ")
    most = messages.MOST_NAMES // 2
    assert listed == [*sorted(difflib.get_close_matches("tabel-7", names, most, 0)), f"and {100 - most} more"]
    assert "table-7" in listed
    assert "figure-7" not in listed


def test_many_lines_are_counted():
    lines = messages.bounded("\n".join(map(str, range(1000)))).split("\n")
    assert len(lines) == messages.MOST_LINES + 1
    assert lines[-1] == f"[... {1000 - messages.MOST_LINES} more lines]"


def test_a_command_prints_no_long_line_and_no_control_character(monkeypatch):
    monkeypatch.setattr(papers, "look_in", lambda roots: None)
    said = CliRunner().invoke(main, ["--roots", ",".join(["fig\x1b[2Jxxx" * 9] * 200), "target", "a"])
    assert said.exit_code == 2
    assert said.stderr.startswith("tensor-rnns: ")
    assert "\x1b" not in said.stderr
    assert max(map(len, said.stderr.split("\n"))) <= messages.MOST_OF_A_LINE
    assert "fig?[2Jxxx" in said.stderr


def test_the_remedy_of_a_damaged_file_stands_behind_any_problem():
    said = str(damaged("results/a.csv", "z" * 100_000 + "\x1b"))
    assert len(said) < 1200
    assert said.endswith("; remove it; the next run makes it again")
    assert "\x1b" not in said
