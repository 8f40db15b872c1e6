"""Panels with room for the lines that every figure carries: remarks above, legend and notes below."""

import textwrap
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.drawing.style import WIDTH

LEFT, RIGHT, TITLE, XLABEL, LINE = 0.68, 0.12, 0.24, 0.42, 0.165
"""Inches kept at the sides, above a panel for its title, below the panels for ticks and label, and for a line
of text.
"""

LETTERS = 84
"""So many letters of a panel's title fit in the width of the figure."""


def panels(
    titles: Sequence[str], remarks: Sequence[str], notes: Sequence[str], legend: int, height: float = 1.9,
    columns: int = 3, share_y: bool = True,
) -> tuple[Figure, list[Axes], float]:  # fmt: skip
    """A figure with a panel for each title and the texts in place; `legend` lines are kept for the legend.

    Returns the figure, its panels and the height, as a share of the figure's, where the legend begins.
    """
    columns = min(columns, len(titles)) or 1
    rows = -(-len(titles) // columns)
    notes = [part for note in notes for part in textwrap.wrap(note, 118)]
    titles = [textwrap.fill(title, LETTERS // columns) for title in titles]
    title_room = TITLE + LINE * max(title.count("\n") for title in titles)
    above, below = LINE * len(remarks) + 0.06, XLABEL + LINE * (legend + len(notes)) + 0.08
    gap = title_room + (0.3 if rows > 1 else 0)
    total = above + rows * height + title_room + (rows - 1) * gap + below
    figure = Figure(figsize=(WIDTH, total))
    axes = figure.subplots(rows, columns, sharex=False, sharey=share_y, squeeze=False)
    figure.subplots_adjust(
        left=LEFT / WIDTH,
        right=1 - RIGHT / WIDTH,
        bottom=below / total,
        top=1 - (above + title_room) / total,
        wspace=0.12 if share_y else 0.32,
        hspace=gap / height,
    )
    if remarks:
        figure.text(LEFT / WIDTH, 1 - 0.06 / total, "\n".join(remarks), va="top", fontsize=7, style="italic")
    if notes:
        figure.text(0.1 / WIDTH, 0.05 / total, "\n".join(notes), va="bottom", fontsize=6.5, color="#333333",
                    linespacing=1.35)  # fmt: skip
    used = list(axes.flat)[: len(titles)]
    for spare in list(axes.flat)[len(titles) :]:
        spare.remove()
    for axis, title in zip(used, titles, strict=True):
        axis.set_title(title)
    return figure, used, (0.03 + LINE * len(notes)) / total


def put_legend(figure: Figure, handles: Sequence[Any], columns: int, bottom: float) -> None:
    """Put the legend of the whole figure between the panels and the notes; `bottom` comes from `panels`."""
    figure.legend(
        handles=list(handles),
        loc="lower center",
        bbox_to_anchor=(0.5, bottom),
        ncol=columns,
        handlelength=3.2,
        columnspacing=1.4,
        borderpad=0.1,
        labelspacing=0.35,
    )
