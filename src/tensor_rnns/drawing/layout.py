"""Panels with room for the lines that every figure carries: remarks above, legend and notes below."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensor_rnns.drawing.spec import Axis
from tensor_rnns.drawing.style import WIDTH

LEFT, RIGHT, TITLE, XLABEL, LINE = 0.68, 0.12, 0.24, 0.42, 0.165
"""Inches kept at the sides, above a panel for its title, below the panels for ticks and label, and for a line
of text.
"""
BETWEEN, SHARED = 0.36, 0.14
"""Inches kept left of a panel from the second column on, for its own numbers and where it shares those of the
first column."""
LETTERS, NOTE_LETTERS, REMARK_LETTERS = 84, 118, 104
"""So many letters of a panel's title, of a note and of a remark fit in the width of the figure."""


@dataclass(frozen=True)
class Sheet:
    """A figure with its blocks of axes; `bottom` is where the legend begins, as a share of the height."""

    figure: Figure
    blocks: Sequence[Sequence[Axes]]
    columns: int
    bottom: float

    @property
    def axes(self) -> list[Axes]:
        """The axes of blocks that have one each."""
        return [block[0] for block in self.blocks]

    def is_first(self, axis: Axes) -> bool:
        """Whether a panel stands in the first column."""
        return any(axis in block for block in self.blocks[:: self.columns])

    def dress(self, axis: Axes, x: Axis, y: Axis) -> None:
        """Scales, limits and labels of one panel; y is named in the first column."""
        axis.set_xscale(x.scale)
        axis.set_yscale(y.scale)
        axis.set_xlabel(x.label or "")
        if x.scale == "linear":
            axis.xaxis.set_major_locator(MaxNLocator(5))
        if self.is_first(axis):
            axis.set_ylabel(y.label or "")
        if x.limits:
            axis.set_xlim(*x.limits)
        if y.limits:
            axis.set_ylim(*y.limits)

    def finish(self, texts: Sequence[str], handles: Sequence[Any] = (), columns: int = 3) -> Figure:
        """The figure with its legend between panels and notes, and `texts` for those who cannot see it."""
        if handles:
            self.figure.legend(
                handles=list(handles), loc="lower center", bbox_to_anchor=(0.5, self.bottom), ncol=columns,
                handlelength=3.2, columnspacing=1.4, borderpad=0.1, labelspacing=0.35,
            )  # fmt: skip
        self.figure.set_label(" ".join(text for text in texts if text))
        return self.figure


def sheet(
    titles: Sequence[str], heights: Sequence[float], remarks: Sequence[str], notes: Sequence[str],
    legend: int = 0, columns: int = 3, left: float = LEFT, right: float = RIGHT, gap: float = 0.1,
    label: float = XLABEL, head: float = 0.0, inner: float | None = None, share_y: bool = False,
) -> Sheet:  # fmt: skip
    """A block of axes for each title, under one another with the `heights` in inches; blocks fill rows.

    `legend` lines are kept for the legend, `left` (`inner` from the second column on, where it is given) and
    `right` inches at the sides of a block, `gap` between its axes, `label` below them and `head` between them
    and the title. With `share_y` all axes have one y axis, numbered in the first column.
    """
    columns = min(columns, len(titles)) or 1
    rows = -(-len(titles) // columns)
    notes, remarks = wrapped(notes), wrapped(remarks, REMARK_LETTERS)
    titles = [textwrap.fill(title, LETTERS // columns) for title in titles]
    title_room = head + (TITLE + LINE * max(title.count("\n") for title in titles) if any(titles) else 0.06)
    block = title_room + sum(heights) + gap * (len(heights) - 1) + label
    above, below = LINE * len(remarks) + 0.06, LINE * (legend + len(notes)) + 0.08
    total = above + rows * block + below
    figure = Figure(figsize=(WIDTH, total))
    inner = left if inner is None else inner
    width = (WIDTH - left - (columns - 1) * inner) / columns - right
    blocks: list[list[Axes]] = []
    for number, title in enumerate(titles):
        row, column = divmod(number, columns)
        x, top = left + column * (width + right + inner), total - above - row * block - title_room
        axes: list[Axes] = []
        for height in heights:
            shape = (x / WIDTH, (top - height) / total, width / WIDTH, height / total)
            shared_y = blocks[0][0] if share_y and blocks else None
            axes.append(figure.add_axes(shape, sharex=axes[0] if axes else None, sharey=shared_y))
            axes[-1].tick_params(labelleft=not (share_y and column))
            top -= height + gap
        axes[0].set_title(title, pad=6 + 72 * head)
        blocks.append(axes)
    put_texts(figure, remarks, notes)
    return Sheet(figure, blocks, columns, (0.03 + LINE * len(notes)) / total)


def panels(
    titles: Sequence[str], remarks: Sequence[str], notes: Sequence[str], legend: int, columns: int = 3,
    share_y: bool = True, **rest: float,
) -> Sheet:  # fmt: skip
    """A sheet with one panel for each title, tall where it stands alone."""
    height = rest.pop("height", 2.4 if len(titles) == 1 else 1.9)
    inner = SHARED if share_y else BETWEEN
    return sheet(titles, [height], remarks, notes, legend, columns, inner=inner, share_y=share_y, **rest)


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


def lines_of(count: int, columns: int) -> int:
    """How many lines `count` entries of a legend take."""
    return -(-count // columns)
