"""YAML is read by the core schema of YAML 1.2, with the line of each part, in bounded time and memory."""

import math
from pathlib import Path

import pytest
import yaml

from tensor_rnns.yaml_files import InvalidYaml, parse, read

ROOT = Path(__file__).parents[1]
WORDS = {
    "[true, False, TRUE, yes, no, on, off, y, n]": [True, False, True, "yes", "no", "on", "off", "y", "n"],
    "[~, null, Null, nil, '', ]": [None, None, None, "nil", ""],
    "[0, -3, +7, 012, 1:30, 0x1F, 1_000]": [0, -3, 7, 12, "1:30", "0x1F", "1_000"],
    "[1e-4, 1.0e-4, -1E+3, .5, 5., 1e5]": [1e-4, 1e-4, -1e3, 0.5, 5.0, 1e5],
    "[.inf, -.inf, inf, nan, 1.5.2, 1-2, 2026-11-22]": [
        math.inf, -math.inf, "inf", "nan", "1.5.2", "1-2", "2026-11-22",
    ],
    "['12', \"true\", 'null']": ["12", "true", "null"],
    "{3: x, 2.5: y, true: z, ~: w}": {3: "x", 2.5: "y", True: "z", None: "w"},
    "a: |\n  two\n  lines\nb: >-\n  one\n  line\n": {"a": "two\nlines\n", "b": "one line"},
    "a: &list [1, {b: 2}]\nc: *list\n": {"a": [1, {"b": 2}], "c": [1, {"b": 2}]},
    "": None,
    "7": 7,
}  # fmt: skip
NESTED = """\
title: A file
conditions:
  short: {length: 5}
  long:
    length: 50
    seeds: [1,
      2, 3]
claims:
- id: one
- id: two
  text: second
"""


def typed(value: object) -> object:
    """`value` with the type of every part, so that 1, 1.0 and True differ."""
    if isinstance(value, dict):
        return [(typed(key), typed(part)) for key, part in value.items()]
    return [typed(part) for part in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.parametrize("text", WORDS)
def test_words_resolve_by_the_core_schema(text: str) -> None:
    assert typed(parse(text).content) == typed(WORDS[text])


def test_nan_is_read_as_a_number() -> None:
    assert math.isnan(parse(".nan").content)


def test_every_file_of_the_repository_has_the_text_and_structure_that_pyyaml_reads() -> None:
    paths = [ROOT / "config.yaml", *(ROOT / "workflow").rglob("*.yaml"), *(ROOT / "src").rglob("*.yaml")]
    assert len(paths) > 8
    for path in paths:
        assert shape(read(path).content) == shape(yaml.safe_load(path.read_text(encoding="utf-8"))), path


def shape(value: object) -> object:
    """The containers of `value`, and its texts where YAML 1.1 and 1.2 agree."""
    if isinstance(value, dict):
        return {str(key): shape(part) for key, part in value.items()}
    return [shape(part) for part in value] if isinstance(value, list) else None


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ([], 1),
        (["title"], 1),
        (["conditions", "short", "length"], 3),
        (["conditions", "long"], 4),
        (["conditions", "long", "seeds"], 6),
        (["conditions", "long", "seeds", 1], 7),
        (["claims", 1], 10),
        (["claims", 1, "text"], 11),
        (["claims", 1, "missing", "below"], 10),
        (["claims", 7], 8),
        (["claims", "text"], 8),
        (["title", 0], 1),
        (["absent"], 1),
    ],
)
def test_line_of_a_part_or_of_its_nearest_parent(path: list, line: int) -> None:
    assert parse(NESTED).line_of(path) == line


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "the key 'a' stands twice"),
        ("x: {a: {b: 1,\n b: 2}}\n", 2, "the key 'b' stands twice"),
        ("a: [1,\n", 2, "did not find expected"),
        ("a: b: c\n", 1, "mapping values are not allowed"),
        ("a: \x07", 1, "control characters are not allowed"),
        ("a: 1\n---\nb: 2\n", 2, "a second document"),
        ("? [a, b]\n: 1\n", 1, "a mapping or list as a key"),
        ("a: 1\nb: !!python/object/apply:os.system [touch owned]\n", 2, "tags are not read"),
        ("a: !!binary AA==\n", 1, "tags are not read"),
        ("a: *b\n", 1, r"the alias \*b stands for nothing"),
        ("a: &a [1, *a]\n", 1, r"the alias \*a stands for nothing"),
        ("[" * 60_000, 1, "nested more than 100 deep"),
        ("- " * 60_000, 1, "nested more than 100 deep"),
        ("{a: " * 60_000, 1, "nested more than 100 deep"),
        ("x" * (1 << 23) + "x", 1, "8,388,609 characters; at most 8,388,608 are read"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_not_read_is_refused_with_its_line(text: str, line: int, problem: str) -> None:
    with pytest.raises(InvalidYaml, match=problem) as caught:
        parse(text)
    assert caught.value.line == line


def test_aliases_that_multiply_are_refused_before_they_are_written_out() -> None:
    text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
    for earlier, later in zip("abcdefgh", "bcdefghi", strict=True):
        text += f"{later}: &{later} [{', '.join([f'*{earlier}'] * 10)}]\n"
    with pytest.raises(InvalidYaml, match="more than 1,048,576 values once its aliases are written out"):
        parse(text)


def test_number_of_very_many_digits_stays_text() -> None:
    assert parse("9" * 5000).content == "9" * 5000


def test_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("a: 1\nb: [\n")
    with pytest.raises(ValueError, match=r"a\.yaml:3: not YAML: did not find"):
        read(path)
    path.write_bytes(b"a: \xff\n")
    with pytest.raises(ValueError, match=r"a\.yaml:1: not UTF-8: .*0xff"):
        read(path)
