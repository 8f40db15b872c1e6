"""Digests of syntax trees that one process leaves for the next."""

import subprocess
import sys
from pathlib import Path

import pytest

from tensor_rnns.experiments import digest

READ = """
import ast, sys
from pathlib import Path
from tensor_rnns.experiments import digest
parsed, parse = [], ast.parse
ast.parse = lambda text: parsed.append(text) or parse(text)
digest.keep(Path(sys.argv[1]))
print(digest.of_source(Path(sys.argv[2])), len(parsed))
"""


@pytest.fixture
def read(tmp_path):
    source = tmp_path / "cell.py"
    source.write_text("x = 1\n")

    def run() -> tuple[str, int]:
        """The digest of the source and how many texts a new process parsed for it."""
        command = [sys.executable, "-c", READ, str(tmp_path / "kept" / "trees.json"), str(source)]
        text, parsed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return text, int(parsed)

    return run


def test_a_text_is_parsed_by_the_first_process_alone(read, tmp_path):
    first, parsed = read()
    assert parsed == 1
    assert first == digest.of_source(tmp_path / "cell.py")
    assert read() == (first, 0)
    (tmp_path / "cell.py").write_text("x = 2\n")
    changed, parsed = read()
    assert (changed != first, parsed) == (True, 1)


@pytest.mark.parametrize("damage", ["", "{}", "[1]"], ids=["emptied", "unsealed", "list"])
def test_kept_digests_that_are_damaged_are_made_anew(read, tmp_path, damage):
    first = read()
    (tmp_path / "kept" / "trees.json").write_text(damage)
    assert read() == first == (first[0], 1)
    assert read() == (first[0], 0)


def test_an_altered_digest_is_not_taken(read, tmp_path):
    first = read()
    kept: Path = tmp_path / "kept" / "trees.json"
    kept.write_text(kept.read_text().replace(first[0], "0" * 16))
    assert read() == first
