"""Texts that a probe sampled, set as they are.

Keys of the artefact: `probe`, `replica`, `where`, `rows` (a list of {array, label}: arrays of texts [N]),
`letters` (a line), `most` (lines of a text), `labels`.
"""

import textwrap

from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import LEFT, LINE, REMARK_LETTERS, put_texts, wrapped
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.style import WIDTH
from tensor_rnns.experiments.records import Artefact

KEYS = {
    "probe": (), "replica": ("seed", "best", "measure"), "where": (), "rows": ("array", "label"),
    "letters": (), "most": (), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
FONT = FontProperties(family="DejaVu Sans Mono", size=6.8)
HEIGHT = 0.128
"""Inches of a line of text."""
WIDEST = 98
"""More letters do not fit in a line."""
TOLD = 60
"""So many letters of each text stand in the description of the figure."""


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError for an array that holds no texts."""
    spec = artefact.spec
    choice = chosen(data, artefact)
    letters, most = int(spec.get("letters", 88)), int(spec.get("most", 12))
    if letters > WIDEST:
        raise ValueError(f"{artefact.id}: {letters} letters a line do not fit; allowed are up to {WIDEST}")
    parts: list[tuple[str, list[str]]] = []
    told, cut = [], False
    for one in choice.shown:
        for row in spec["rows"]:
            texts = one.array(row["array"], artefact.id)
            if texts.dtype.kind != "U" or texts.ndim > 1:
                told = f"the array {row['array']!r} is {texts.dtype} {list(texts.shape)}"
                raise ValueError(f"{artefact.id}: {told}; allowed are texts [N]")
            head = ", ".join(part for part in (one.title, str(row.get("label", ""))) if part)
            for place, text in enumerate(texts.reshape(-1)):
                lines = broken(str(text), letters)
                cut |= len(lines) > most
                parts.append((head if place == 0 else "", lines[:most]))
                told.append(f"{head or 'Sample'}: {' '.join(drawable(str(text)).split())[:TOLD]} …")
    remarks = wrapped(data.remark_line(choice.rows), REMARK_LETTERS)
    said = "Long texts are cut; " if cut else ""
    notes = wrapped([*absent(data, choice.rows, spec), f"{said}{choice.rule}".replace("; Shown", "; shown")])
    room = [LINE * bool(head) + HEIGHT * len(lines) + 0.12 for head, lines in parts]
    above = LINE * len(remarks) + 0.1
    total = above + sum(room) + LINE * len(notes) + 0.1
    figure = Figure(figsize=(WIDTH, total))
    put_texts(figure, remarks, notes)
    top = total - above
    for (head, lines), height in zip(parts, room, strict=True):
        if head:
            figure.text(0.1 / WIDTH, top / total, head, va="top", fontsize=8, fontweight="bold")
        first = top - LINE * bool(head)
        for place, line in enumerate(lines):
            figure.text(LEFT / 2 / WIDTH, (first - HEIGHT * place) / total, line, va="top", parse_math=False,
                        fontproperties=FONT)  # fmt: skip
        top -= height
    figure.set_label(" ".join(["Sampled texts.", *told, choice.rule, *remarks]))
    return figure


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
