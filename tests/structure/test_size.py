"""The project stays small: lines of src, of a file, of a function."""

import ast
from collections.abc import Iterator
from pathlib import Path

import tensor_rnns

SOURCE = Path(tensor_rnns.__file__).parent
MOST_LINES = 44_030
"""Lowered as lines leave; raised only with a reason in the message of the commit."""
MOST_OF_A_FILE = 300
MOST_OF_A_BODY = 40


def lines(path: Path) -> int:
    """Lines of a file, blank ones too."""
    return len(path.read_text(encoding="utf-8").splitlines())


def bodies(path: Path) -> Iterator[tuple[str, int]]:
    """(name, lines of the body without the docstring) of each function of a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) is not None else node.body
            yield (
                f"{node.name} at {path.name}:{node.lineno}",
                node.end_lineno - body[0].lineno + 1 if body else 0,
            )


def test_source_stays_below_its_cap() -> None:
    total = sum(map(lines, SOURCE.rglob("*.py")))
    assert total <= MOST_LINES, f"src has {total} lines; the cap is {MOST_LINES}: remove before you add"


def test_no_file_is_long() -> None:
    long = {str(path.relative_to(SOURCE)): lines(path) for path in SOURCE.rglob("*.py")}
    assert not {name: count for name, count in long.items() if count > MOST_OF_A_FILE}


def test_no_function_body_is_long() -> None:
    long = [
        f"{name}: {count}"
        for path in SOURCE.rglob("*.py")
        for name, count in bodies(path)
        if count > MOST_OF_A_BODY
    ]
    assert not long, "\n".join(long)
