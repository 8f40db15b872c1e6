"""Texts that a probe sampled, set as they are."""

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import LEFT, LINE, REMARK_LETTERS, put_texts, wrapped
from tensor_rnns.drawing.replica import Shown, chosen
from tensor_rnns.drawing.spec import ArraysSpec, Row
from tensor_rnns.drawing.style import WIDTH

FONT = FontProperties(family="DejaVu Sans Mono", size=6.8)
HEIGHT = 0.128
"""Inches of a line of text."""
LETTERS = 88
"""So many letters a line has at most; 98 would fit."""
SPOKEN = 60
"""So many letters of each text stand in the description of the figure."""


@dataclass(frozen=True, kw_only=True)
class Spec(ArraysSpec):
    """Texts line by line: at most `most` lines of a text."""

    most: int = 12


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError for an array that holds no texts."""
    choice, most = chosen(data, spec), spec.most
    samples = [sample for shown in choice.shown for sample in _samples(shown, spec.rows)]
    parts = [(head if number == 0 else "", broken(text, LETTERS)) for head, number, text in samples]
    cut = "Long texts are cut; " if any(len(lines) > most for _, lines in parts) else ""
    remarks = wrapped(choice.remarks, REMARK_LETTERS)
    notes = wrapped([*choice.absent, f"{cut}{choice.rule}".replace("; Shown", "; shown")])
    heights = [LINE * bool(head) + HEIGHT * min(most, len(lines)) + 0.12 for head, lines in parts]
    above = LINE * len(remarks) + 0.1
    total = above + sum(heights) + LINE * len(notes) + 0.1
    figure = Figure(figsize=(WIDTH, total))
    put_texts(figure, remarks, notes)
    top = total - above
    for (head, lines), height in zip(parts, heights, strict=True):
        if head:
            figure.text(0.1 / WIDTH, top / total, head, va="top", fontsize=8, fontweight="bold")
        first = top - LINE * bool(head)
        for number, line in enumerate(lines[:most]):
            figure.text(LEFT / 2 / WIDTH, (first - HEIGHT * number) / total, line, va="top", parse_math=False,
                        fontproperties=FONT)  # fmt: skip
        top -= height
    said = [f"{head or 'Sample'}: {' '.join(drawable(t).split())[:SPOKEN]} …" for head, _, t in samples]
    figure.set_label(" ".join(filter(None, ["Sampled texts.", *said, choice.rule, *remarks])))
    return figure


def _samples(shown: Shown, rows: Sequence[Row]) -> Iterator[tuple[str, int, str]]:
    """(heading, number in its row, text) of each sample of one replica."""
    for row in rows:
        texts = shown.array(row.array, "U", (0, 1), "texts [N]")
        head = ", ".join(filter(None, (shown.title, row.label)))
        yield from ((head, number, str(text)) for number, text in enumerate(texts.reshape(-1)))


def broken(text: str, letters: int) -> list[str]:
    """The lines of `text`, long ones broken at spaces where there are some; what the font lacks is �.

    A line that goes on does not begin with the space at which it was broken.
    """
    lines = []
    for line in drawable(text).split("\n"):
        first, *rest = textwrap.wrap(line, letters, drop_whitespace=False, replace_whitespace=False) or [""]
        lines += [first, *(part.removeprefix(" ") for part in rest)]
    return lines


def drawable(text: str) -> str:
    """`text` with a tabulator as four spaces and � for every other sign that the font does not have."""
    known = get_font(findfont(FONT))
    return "".join(
        sign if sign == "\n" or (sign.isprintable() and known.get_char_index(ord(sign))) else "�"
        for sign in text.replace("\t", "    ")
    )
