"""War and Peace: one text -> characters, split as the thesis' authors split it (mathews2016 5.2.3)."""

from pathlib import Path

from tensor_rnns.datasets.parsers import Parsed
from tensor_rnns.datasets.texts import arrays_of, decoded, read_text

GO = "<go>"
"""Number 0: a symbol kept for a start; it never occurs in the text."""


def read(raw: Path) -> Parsed:
    """Arrays {split}_tokens uint8 and vocabulary [GO, characters by code point], and the facts counted.

    The byte order mark is dropped and CR LF becomes LF. ValueError for a file that is no such text.
    """
    path = raw / "warpeace_input.txt"
    data = path.read_bytes()
    text = read_text(path, encoding="utf-8-sig").replace("\r\n", "\n")
    if "\r" in text:
        raise ValueError(f"{path}: a CR without LF at character {text.index(chr(13)):,}; CR LF is expected")
    arrays, facts = arrays_of(split(text), [GO, *sorted(set(text))], str(path))
    return arrays, facts | {
        "bytes": len(data),
        "distinct_bytes": len(set(data)),
        "characters_as_stored": len(decoded(data, str(path))),
        "characters": len(text),
        "distinct_characters": len(set(text)),
        "line_ends": text.count("\n"),
    }


def split(text: str) -> dict[str, str]:
    """The authors' splits of N characters: train the first int(0.8 N) + 1, valid the next int(0.1 N) + 1, one
    character is left out, and test is the rest. ValueError if nothing remains for test.
    """
    first = int(0.8 * len(text)) + 1
    second = first + int(0.1 * len(text)) + 1
    if second + 1 >= len(text):
        raise ValueError(f"a text of {len(text)} characters is too short to be split")
    return {"train": text[:first], "valid": text[first:second], "test": text[second + 1 :]}
