"""Modules that cannot be read, and classes of one name, are problems of the check and no tracebacks."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns import checking, papers, tasks
from tensor_rnns.experiments import digest

MADE_UP = Path(__file__).parents[1] / "papers" / "made_up" / "made2024"
TASK = 'class {0}:\n    name: ClassVar[str] = "{1}"\n'


@pytest.fixture
def room(tmp_path, monkeypatch):
    """A folder whose modules are those of `tensor_rnns.tasks`, and those that stand too can be imported."""
    package = tmp_path / "package" / digest.PACKAGE.name
    for name in digest.ROOMS:
        (package / name).mkdir(parents=True)
    monkeypatch.setattr(digest, "PACKAGE", package)
    monkeypatch.setattr(tasks, "__path__", [*tasks.__path__, str(package / "tasks")])
    digest.sources.cache_clear()
    yield package / "tasks"
    digest.sources.cache_clear()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1\ndef broken(:\n", "SyntaxError: invalid syntax (broken_1.py, line 2)"),
        ("x = 1\nimport no_such\n", "ModuleNotFoundError: No module named 'no_such' (broken_1.py:2)"),
        ("x = 1 / 0\n", "ZeroDivisionError: division by zero (broken_1.py:1)"),
    ],
)  # fmt: skip
def test_a_broken_module_of_a_room_is_named_with_its_line(reported, whole, room, text, said):
    (room / "broken_1.py").write_text(text)
    assert reported(small=whole) == [f"{room / 'broken_1.py'}: {said}"]


def test_two_classes_of_one_name_are_refused_with_both_files(reported, whole, room):
    head = "from typing import ClassVar\n\n\n"
    (room / "first_1.py").write_text(head + TASK.format("First", "echo"))
    (room / "second_1.py").write_text(head + TASK.format("Second", "echo"))
    said = f"{room / 'second_1.py'}: 'echo' is the name of a class in {room / 'first_1.py'} already"
    with pytest.raises(ValueError) as error:
        digest.sources("tasks")
    assert str(error.value) == said
    assert reported(small=whole) == [said]


def test_fields_that_no_decorator_makes_any_are_refused_with_the_line(reported, whole, room):
    head, path = "from typing import ClassVar\n\n\n", room / "bare_1.py"
    path.write_text(head + TASK.format("Bare", "bare_1") + "    length: int\n    lag: int = 2\n")
    said = f"{path}:4: the class Bare has the fields length, lag and no decorator; needed above it: "
    assert reported(small=whole) == [f"{said}@dataclass(frozen=True)"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "gate: Share",
            "gate",
            "powers.py:7: the parameter 'gate' has the annotation none; allowed are int, Share",
        ),
        (
            "gate: Share",
            "gate: list[int]",
            "the parameter 'gate' has the annotation list[int]; allowed are int, Share",
        ),
        ("gate: Share", "gate: Shair", "cannot be read: NameError: name 'Shair' is not defined"),
        ("-> Rows:", "-> Rows", "cannot be read: SyntaxError: expected ':' (powers.py, line 7)"),
        ("import Share", "import Shaer", "(powers.py:3)"),
    ],
)
def test_a_broken_module_of_a_paper_is_named_with_its_line(tmp_path, before, after, said):
    """Under a name of its own, since a module is imported once."""
    name = tmp_path.name
    home = shutil.copytree(MADE_UP, tmp_path / "papers" / name)
    papers.look_in([home.parent])
    for path in home.glob("*.yaml"):
        path.write_text(path.read_text().replace("made2024.", f"{name}."))
    text = (home / "powers.py").read_text()
    assert text.count(before) == 1
    (home / "powers.py").write_text(text.replace(before, after))
    (found,) = checking.problems([home.parent], home)
    assert found.startswith("forgetting.yaml:4: compute.function: ")
    assert said in found
