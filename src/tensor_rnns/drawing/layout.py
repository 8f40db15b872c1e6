"""Panels with room for the lines that every figure carries: remarks above, legend and notes below."""

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensor_rnns.drawing.style import WIDTH

LEFT, RIGHT, TITLE, XLABEL, LINE = 0.68, 0.12, 0.24, 0.42, 0.165
"""Inches kept at the sides, above a panel for its title, below the panels for ticks and label, and for a line
of text.
"""

LETTERS, NOTE_LETTERS, REMARK_LETTERS = 84, 118, 104
"""So many letters of a panel's title, of a note and of a remark fit in the width of the figure."""


def panels(
    titles: Sequence[str], remarks: Sequence[str], notes: Sequence[str], legend: int, height: float = 1.9,
    columns: int = 3, share_y: bool = True, left: float = LEFT,
) -> tuple[Figure, list[Axes], float]:  # fmt: skip
    """A figure with a panel for each title and the texts in place; `legend` lines are kept for the legend and
    `left` inches before the first column.

    Returns the figure, its panels and the height, as a share of the figure's, where the legend begins.
    """
    columns = min(columns, len(titles)) or 1
    rows = -(-len(titles) // columns)
    notes, remarks = wrapped(notes), wrapped(remarks, REMARK_LETTERS)
    titles = [textwrap.fill(title, LETTERS // columns) for title in titles]
    title_room = TITLE + LINE * max(title.count("\n") for title in titles)
    above, below = LINE * len(remarks) + 0.06, XLABEL + LINE * (legend + len(notes)) + 0.08
    gap = title_room + (0.38 if rows > 1 else 0)
    total = above + rows * height + title_room + (rows - 1) * gap + below
    figure = Figure(figsize=(WIDTH, total))
    axes = figure.subplots(rows, columns, sharex=False, sharey=share_y, squeeze=False)
    figure.subplots_adjust(
        left=left / WIDTH,
        right=1 - RIGHT / WIDTH,
        bottom=below / total,
        top=1 - (above + title_room) / total,
        wspace=0.17 if share_y else 0.32,
        hspace=gap / height,
    )
    put_texts(figure, remarks, notes)
    used = list(axes.flat)[: len(titles)]
    for spare in list(axes.flat)[len(titles) :]:
        spare.remove()
    for axis, title in zip(used, titles, strict=True):
        axis.set_title(title)
    return figure, used, (0.03 + LINE * len(notes)) / total


def wrapped(texts: Sequence[str], letters: int = NOTE_LETTERS) -> list[str]:
    """The lines of at most so many `letters` that `texts` take."""
    return [part for text in texts for part in textwrap.wrap(text, letters)]


def put_texts(figure: Figure, remarks: Sequence[str], notes: Sequence[str]) -> None:
    """The remarks at the top and the lines of notes at the bottom of a figure."""
    total = figure.get_figheight()
    if remarks:
        figure.text(LEFT / WIDTH, 1 - 0.06 / total, "\n".join(remarks), va="top", fontsize=7, style="italic")
    if notes:
        figure.text(0.1 / WIDTH, 0.05 / total, "\n".join(notes), va="bottom", fontsize=6.5, color="#333333",
                    linespacing=1.35)  # fmt: skip


def stack(
    titles: Sequence[str], heights: Sequence[float], remarks: Sequence[str], notes: Sequence[str],
    legend: int = 0, columns: int = 3, left: float = LEFT, right: float = RIGHT, gap: float = 0.1,
    label: float = XLABEL, head: float = 0.0,
    inner: float | None = None,
) -> tuple[Figure, list[list[Axes]], float]:  # fmt: skip
    """A block of axes for each title, under one another with the `heights` in inches; blocks fill rows.

    `left` (`inner` from the second column on, where it is given) and `right` inches are kept at the sides of
    a block, `gap` between its axes, `label` below them and `head` between them and the title. Returns the
    figure, the axes of each block, and where the legend begins, as a share of the height.
    """
    columns = min(columns, len(titles)) or 1
    rows = -(-len(titles) // columns)
    notes, remarks = wrapped(notes), wrapped(remarks, REMARK_LETTERS)
    titles = [textwrap.fill(title, LETTERS // columns) for title in titles]
    title_room = TITLE + LINE * max(title.count("\n") for title in titles) if any(titles) else 0.06
    title_room += head
    block = title_room + sum(heights) + gap * (len(heights) - 1) + label
    above, below = LINE * len(remarks) + 0.06, LINE * (legend + len(notes)) + 0.08
    total = above + rows * block + below
    figure = Figure(figsize=(WIDTH, total))
    inner = left if inner is None else inner
    width = (WIDTH - left - (columns - 1) * inner) / columns - right
    found = []
    for place, title in enumerate(titles):
        row, column = divmod(place, columns)
        x, top = left + column * (width + right + inner), total - above - row * block - title_room
        axes: list[Axes] = []
        for height in heights:
            shape = (x / WIDTH, (top - height) / total, width / WIDTH, height / total)
            axes.append(figure.add_axes(shape, sharex=axes[0] if axes else None))
            top -= height + gap
        axes[0].set_title(title, pad=6 + 72 * head)
        found.append(axes)
    put_texts(figure, remarks, notes)
    return figure, found, (0.03 + LINE * len(notes)) / total


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


def dress(axis: Axes, x: Mapping[str, Any], y: Mapping[str, Any]) -> None:
    """Scales, limits and labels ({scale, label, limits}) of one panel; y is named in the first column."""
    axis.set_xscale(x.get("scale", "linear"))
    axis.set_yscale(y.get("scale", "linear"))
    axis.set_xlabel(x.get("label", ""))
    if x.get("scale", "linear") == "linear":
        axis.xaxis.set_major_locator(MaxNLocator(5))
    place = axis.get_subplotspec()
    if place is None or place.is_first_col():
        axis.set_ylabel(y.get("label", ""))
    if "limits" in x:
        axis.set_xlim(*x["limits"])
    if "limits" in y:
        axis.set_ylim(*y["limits"])
