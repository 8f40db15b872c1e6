"""Digests of code: what belongs to a training, and syntax trees that one process leaves for the next."""

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
ast.parse = lambda text, *name: parsed.append(text) or parse(text)
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


CELL = "class {kind}({above}):\n    name = {name!r}\n    factor = 1\n"
FILES = {
    "bilinear/forms.py": "x = 1\n",
    "cells/__init__.py": "from tensor_rnns.cells.base import Cell\n",
    "cells/base.py": "class Cell: ...\n",
    "cells/plain.py": "from tensor_rnns.cells.base import Cell\n"
    + CELL.format(kind="Plain", above="Cell", name="plain")
    + CELL.format(kind="Other", above="Cell", name="other"),
    "cells/family.py": "import tensor_rnns.cells.shared as shared\n"
    + CELL.format(kind="Elder", above="shared.Shared", name="elder")
    + CELL.format(kind="Younger", above="Elder", name="younger")
    + CELL.format(kind="Cousin", above="shared.Shared", name="cousin"),
    "cells/shared.py": "class Shared: ...\n",
    "cells/heir.py": "from tensor_rnns.cells.plain import Plain\n"
    + CELL.format(kind="Heir", above="Plain", name="heir"),
    "models/__init__.py": "",
    "models/step.py": CELL.format(kind="Step", above="object", name="step"),
    "models/mixed.py": "from tensor_rnns.cells.plain import Plain\n"
    + CELL.format(kind="Mixed", above="object", name="mixed"),
    "tasks/__init__.py": "",
    "tasks/answers.py": "y = 1\n",
    "tasks/count.py": CELL.format(kind="Count", above="object", name="count"),
    "tasks/told.py": "from tensor_rnns.tasks.answers import y\n"
    + CELL.format(kind="Told", above="object", name="told"),
}
USES = {
    "plain": {"cell": {"name": "plain"}, "model": {"name": "step"}, "task": {"name": "count"}},
    "heir": {"cell": {"name": "heir"}, "model": {"name": "step"}, "task": {"name": "count"}},
    "younger": {"cell": {"name": "younger"}, "model": {"name": "step"}, "task": {"name": "count"}},
    "mixed": {"cell": None, "model": {"name": "mixed"}, "task": {"name": "count"}},
    "told": {"cell": {"name": "plain"}, "model": {"name": "step"}, "task": {"name": "told"}},
}
CACHES = (
    digest.of_source,
    digest.reached,
    digest.imported,
    digest.of_folder,
    digest.sources,
    digest.declared_in,
)


@pytest.mark.parametrize(
    ("file", "old", "new", "touched"),
    [
        ("cells/base.py", "...", "a = 1", set(USES)),
        ("cells/plain.py", "'plain'\n    factor = 1", "'plain'\n    factor = 2", {*USES} - {"younger"}),
        ("cells/plain.py", "'other'\n    factor = 1", "'other'\n    factor = 2", {"heir", "mixed"}),
        ("cells/heir.py", "factor = 1", "factor = 2", {"heir"}),
        ("cells/family.py", "'elder'\n    factor = 1", "'elder'\n    factor = 2", {"younger"}),
        ("cells/family.py", "'cousin'\n    factor = 1", "'cousin'\n    factor = 2", set()),
        ("cells/shared.py", "...", "a = 1", {"younger"}),
        ("tasks/answers.py", "y = 1", "y = 2", {"told"}),
        ("tasks/later.py", "", "z = 1", set()),
        ("bilinear/forms.py", "x = 1", "x = 2", set(USES)),
    ],
)  # fmt: skip
def test_a_change_reaches_what_inherits_or_imports_and_nothing_else(
    tmp_path, monkeypatch, file, old, new, touched
):
    """An heir counts with the whole file of what it inherits from, in one file with that alone, and a file
    that few import with those, however they import it."""
    monkeypatch.setattr(digest, "PACKAGE", tmp_path / "tensor_rnns")
    for name, text in FILES.items():
        path = tmp_path / "tensor_rnns" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def codes() -> dict[str, str]:
        for cache in CACHES:
            cache.cache_clear()
        return {name: digest.code_of(settings) for name, settings in USES.items()}

    try:
        before, path = codes(), tmp_path / "tensor_rnns" / file
        path.write_text(path.read_text().replace(old, new, 1) if old else new)
        after = codes()
    finally:
        for cache in CACHES:
            cache.cache_clear()
    assert {name for name in USES if before[name] != after[name]} == touched


def test_a_class_that_is_found_in_a_table_counts_with_what_names_it(tmp_path):
    """A dictionary of the module stands between the cell and the class that it is made of."""
    text = (
        'class Inner:\n    name = "inner"\n    x = 1\n\n\nKINDS: dict = {"inner": Inner}\n'
        'MORE = OTHER = KINDS\n\n\nclass Outer:\n    name = "outer"\n    kinds = MORE\n\n\n'
        'class Alone:\n    name = "alone"\n'
    )
    found = []
    for number in (1, 2):
        path = tmp_path / f"cells{number}.py"
        path.write_text(text.replace("x = 1", f"x = {number}"))
        found.append([digest.of_source(path, name) for name in ("outer", "alone")])
    assert found[0][0] != found[1][0]
    assert found[0][1] == found[1][1]


def test_the_digest_of_a_room_counts_its_texts_too(tmp_path, monkeypatch):
    """A style sheet or the words of a page change figures and report as their code does."""
    monkeypatch.setattr(digest, "PACKAGE", tmp_path)
    room = tmp_path / "drawing"
    room.mkdir()
    for name in ("lines.py", "figures.mplstyle", "opening.txt"):
        (room / name).write_text("x = 1\n")
    seen = set()
    for name in ("lines.py", "figures.mplstyle", "opening.txt", None):
        digest.of_folder.cache_clear()
        digest.of_source.cache_clear()
        seen.add(digest.of_room("drawing"))
        if name:
            (room / name).write_text("x = 2\n")
    digest.of_folder.cache_clear()
    assert len(seen) == 4


SOURCE = '''\
"""Words."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Cell:
    """More words."""

    hidden: int = 3

    def step(self, x: float, /, *rest: float, scale: float = 0.5, **others) -> float:
        """Still more."""
        if rest := [y for y in rest if y > 0]:
            return math.fsum(rest) * scale
        return -x if others else f"{x:.3f} of {self.hidden}" and x


async def nothing() -> None:
    pass
'''


def test_the_digest_of_a_source_is_the_same_under_every_python(tmp_path):
    """The literal was taken under 3.11, 3.12 and 3.13, whose syntax trees print in three ways."""
    path = tmp_path / "cell.py"
    path.write_text(SOURCE, encoding="utf-8")
    assert digest.of_source(path) == "ab524e0f7dd44672"


AHEAD = """
import ast
from tensor_rnns.experiments import digest
settings = {
    "cell": {"name": "lr_gru"}, "model": {"name": "every_step"}, "task": {"name": "copy_memory"},
}
if ahead := %r:
    digest.read_rooms()
parsed, parse = [], ast.parse
ast.parse = lambda text, *name: parsed.append(text) or parse(text)
print(digest.code_of(settings), len(parsed))
"""


def test_rooms_that_were_read_ahead_leave_three_texts_to_parse():
    """Those of the cell, the model and the task, without the other classes beside them."""
    found = {}
    for ahead in (False, True):
        command = [sys.executable, "-c", AHEAD % ahead]
        found[ahead] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert found[True] == [found[False][0], "3"]
    assert int(found[False][1]) > 50
