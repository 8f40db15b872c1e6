"""Generated text between markers of a page: found, compared byte for byte, written again.

    <!-- generated: NAME -->text<!-- end -->

NAME is a name of `contents.OF_SOURCES` or `contents.OF_SPEED`, with its arguments. Text of one line stands
within a sentence, longer text between lines of its own. A comment at the beginning of a line ends a paragraph
of Markdown, so that the former may not stand there.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from tensor_rnns.files import writing

BEGIN, END = "<!-- generated: ", "<!-- end -->"
BLOCK = re.compile(rf"{BEGIN}([^\n]*?) -->(.*?){END}", re.DOTALL)
Made = Callable[[str], str]
"""The text of a name."""


@dataclass(frozen=True)
class Block:
    """One generated text of a page: the line on which it begins, its name, and what stands there."""

    line: int
    name: str
    text: str


def blocks(page: Path) -> Iterator[Block]:
    """The generated texts of a page; ValueError for a marker that is not closed, or that ends a paragraph."""
    text = page.read_text(encoding="utf-8")
    matches = list(BLOCK.finditer(text))
    paired = {match.start() for match in matches} | {match.end() - len(END) for match in matches}
    for match in re.finditer(f"{BEGIN}|{END}", text):
        if match.start() not in paired:
            given = f"{page}:{line_of(text, match.start())}: {match[0]!r} given alone"
            raise ValueError(f"{given}; allowed are pairs, {BEGIN}NAME -->text{END}")
    for match in matches:
        line, before = line_of(text, match.start()), text[: match.start()].rpartition("\n")[2]
        if "\n" not in match[2] and not before.strip():
            raise ValueError(f"{page}:{line}: {match[0]!r} begins a line; allowed are texts within a line")
        yield Block(line, match[1], match[2])


def line_of(text: str, position: int) -> int:
    """The line of a place in a text, counted from 1."""
    return text.count("\n", 0, position) + 1


def laid_out(text: str) -> str:
    """A text as it stands between its markers."""
    return f"\n{text}\n" if "\n" in text else text


def problems(pages: Iterable[Path], made: Made) -> Iterator[str]:
    """A line for each block that is not what its sources say: file, line, what stands, what should stand."""
    for page in pages:
        for block in blocks(page):
            stands, should = block.text.split("\n"), laid_out(made(block.name)).split("\n")
            for offset, pair in enumerate(zip_longest(stands, should)):
                if pair[0] != pair[1]:
                    texts = ["nothing" if line is None else repr(line) for line in pair]
                    location = f"{page}:{block.line + offset}: {block.name}"
                    yield f"{location}: {texts[0]} stands, {texts[1]} should"
                    break


def write(pages: Iterable[Path], made: Made) -> list[Path]:
    """Write every block again; returns the pages that changed."""
    changed = []
    for page in pages:
        list(blocks(page))
        before = page.read_text(encoding="utf-8")
        after = BLOCK.sub(lambda match: f"{BEGIN}{match[1]} -->{laid_out(made(match[1]))}{END}", before)
        if after != before:
            with writing(page) as stream:
                stream.write(after)
            changed.append(page)
    return changed
