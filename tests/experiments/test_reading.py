"""The quick reader of YAML gives what an independent one gives, and refuses a key that stands twice."""

from pathlib import Path

import pytest
import yaml
from ruamel.yaml import YAML

from tensor_rnns.experiments.reading import parse

ROOT = Path(__file__).parents[2]
WORDS = """\
- [true, False, TRUE, yes, no, on, off, y, n]
- [~, null, Null, nil, ""]
- [0, -3, +7, 12, 1:30]
- [1e-4, 1.0e-4, -1E+3, .5, 5., 1e5, .inf, -.inf, 1.5.2, 1-2]
- {<<: {a: 1, b: 2}, b: 3}
- "12"
- {3: x, 2.5: y, true: z}
"""


def same(ours: object, theirs: object) -> bool:
    """Equal content of equal types in equal order."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        keys = [(type(key), key) for key in ours] == [(type(key), key) for key in theirs]
        return keys and all(same(ours[key], theirs[key]) for key in ours)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return type(ours) is type(theirs) and ours == theirs


def test_every_file_of_the_repository_reads_as_with_ruamel() -> None:
    paths = [ROOT / "config.yaml", *(ROOT / "workflow").rglob("*.yaml")]
    assert len(paths) > 8
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert same(parse(text), YAML(typ="safe", pure=True).load(text)), path


@pytest.mark.parametrize("line", WORDS.splitlines())
def test_plain_words_read_as_with_ruamel(line: str) -> None:
    assert same(parse(line), YAML(typ="safe", pure=True).load(line)), parse(line)


@pytest.mark.parametrize("text", ["a: 1\nb: 2\na: 3\n", "x: {a: {b: 1, b: 2}}\n"])
def test_key_that_stands_twice_is_refused(text: str) -> None:
    with pytest.raises(yaml.YAMLError, match="stands twice"):
        parse(text)
