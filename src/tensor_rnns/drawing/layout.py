"""Panels with room for the lines that every figure carries: remarks above, legend and notes below."""

import textwrap
from collections.abc import Iterable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tensor_rnns.drawing.spec import Axis
from tensor_rnns.drawing.style import WIDTH

LEFT, RIGHT, TITLE, XLABEL, LINE = 0.68, 0.12, 0.24, 0.42, 0.165
"""Inches kept at the sides, above a panel for its title, below it for its axis, and for a line of text."""
BETWEEN, SHARED = 0.46, 0.14
"""Inches left of a panel from the second column on, with its own numbers or those of the first column."""
LETTERS, NOTE_LETTERS, REMARK_LETTERS = 84, 118, 104
"""So many letters of a panel's title, of a note and of a remark fit in the width of the figure."""
LETTER, ENTRY, TICK, HANDLE = 0.062, 0.058, 0.075, 9
"""Inches of a letter of labels, of a legend and along an axis; a line of a legend takes so many letters."""


class Sheet:
    """A figure with a block of axes for each title, under one another with the `heights` in inches, in rows.

    The legend of `handles` stands between panels and notes. `left` (`inner` from the second column on, where
    given) and `right` are inches at the sides of a block, `gap` between its axes, `label` below them, `head`
    between them and the title. With `share_y` all axes have one y axis, numbered in the first column.
    """

    def __init__(
        self, titles: Sequence[str], heights: Sequence[float], remarks: Sequence[str], notes: Sequence[str],
        handles: Sequence[Line2D] = (), legend_columns: int = 3, columns: int = 3, left: float = LEFT,
        right: float = RIGHT, gap: float = 0.1, label: float = XLABEL, head: float = 0.0,
        inner: float | None = None, share_y: bool = False,
    ):  # fmt: skip
        self.remarks, self.said = remarks, []
        self.columns = columns = min(columns, len(titles)) or 1
        rows = -(-len(titles) // columns)
        notes, above_all = wrapped(notes), wrapped(remarks, REMARK_LETTERS)
        inner = left if inner is None else inner
        width = (WIDTH - left - (columns - 1) * inner) / columns - right
        letters = int(LETTERS / WIDTH * (width + right + (right if columns == 1 else inner)))
        titles = [textwrap.fill(title, letters) for title in titles]
        broken = max((title.count("\n") for title in titles), default=0)
        title_room = head + (TITLE + LINE * broken if any(titles) else 0.06)
        block = title_room + sum(heights) + gap * (len(heights) - 1) + label
        legend = -(-len(handles) // (legend_columns := fitting(handles, legend_columns)))
        above, below = LINE * len(above_all) + 0.06, LINE * (legend + len(notes)) + 0.08
        total = above + rows * block + below
        self.figure = Figure(figsize=(WIDTH, total))
        self.blocks: list[list[Axes]] = []
        for number, title in enumerate(titles):
            row, column = divmod(number, columns)
            x, top = left + column * (width + right + inner), total - above - row * block - title_room
            axes: list[Axes] = []
            for height in heights:
                shape = (x / WIDTH, (top - height) / total, width / WIDTH, height / total)
                shared_y = self.blocks[0][0] if share_y and self.blocks else None
                axes.append(self.figure.add_axes(shape, sharex=axes[0] if axes else None, sharey=shared_y))
                axes[-1].tick_params(labelleft=not (share_y and column))
                top -= height + gap
            axes[0].set_title(title, pad=6 + 72 * head)
            self.blocks.append(axes)
        self.axes = [block[0] for block in self.blocks]
        put_texts(self.figure, above_all, notes)
        if handles:
            anchor = (0.5, (0.03 + LINE * len(notes)) / total)
            self.figure.legend(
                handles=list(handles), loc="lower center", bbox_to_anchor=anchor,
                ncol=legend_columns, handlelength=3.2, columnspacing=1.4, borderpad=0.1, labelspacing=0.35,
            )  # fmt: skip

    def is_first(self, axis: Axes) -> bool:
        """Whether a panel stands in the first column."""
        return any(axis in block for block in self.blocks[:: self.columns])

    def dress(self, axis: Axes, x: Axis, y: Axis) -> None:
        """Scales, limits and labels of one panel; y is named in the first column, and x below each panel, or
        once below the middle of its row where the name is too wide for that."""
        axis.set(xscale=x.scale, yscale=y.scale)
        row = self.axes[self.axes.index(axis) // self.columns * self.columns :][: self.columns]
        box, last, label = axis.get_position(), row[-1].get_position(), x.label or ""
        if len(label) * LETTER <= box.width * WIDTH:
            axis.set_xlabel(label)
        elif axis is row[0]:
            axis.set_xlabel(label, x=(last.x1 - box.x0) / box.width / 2)
        if self.is_first(axis):
            axis.set_ylabel(y.label or "")
        if x.limits:
            axis.set_xlim(*x.limits)
        if y.limits:
            axis.set_ylim(*y.limits)
        if x.scale == "linear":
            letters = max(3, *(len(f"{end:.0f}") for end in axis.get_xlim()))
            room = int(axis.get_position().width * WIDTH / (TICK * letters))
            axis.xaxis.set_major_locator(MaxNLocator(max(1, min(5, room)), steps=[1, 2, 5, 10]))

    def say(self, title: str, parts: Iterable[str]) -> None:
        """Describe one block."""
        self.said.append(f"{title + ': ' if title else ''}{'; '.join(parts)}.")

    def finish(self, before: str, *after: str) -> Figure:
        """The figure with its description: what was said of the blocks, `before` and `after`, the remarks."""
        self.figure.set_label(" ".join(filter(None, [before, *self.said, *after, *self.remarks])))
        return self.figure


def fitting(handles: Sequence[Line2D], most: int) -> int:
    """So many columns of a legend, at most `most`, fit in the width of the figure."""
    sizes = [len(str(handle.get_label())) + HANDLE for handle in handles]
    wide = {n: sum(max(part, default=0) for part in np.array_split(sizes, n)) for n in range(2, most + 1)}
    return max((n for n, letters in wide.items() if letters * ENTRY <= WIDTH), default=1)


def panels(
    titles: Sequence[str], remarks: Sequence[str], notes: Sequence[str], handles: Sequence[Line2D] = (),
    legend_columns: int = 3, columns: int = 3, share_y: bool = True, **rest: float,
) -> Sheet:  # fmt: skip
    """A sheet with one panel for each title, tall where it stands alone."""
    height = rest.pop("height", 2.4 if len(titles) == 1 else 1.9)
    rest |= {"inner": SHARED if share_y else BETWEEN, "columns": columns}
    return Sheet(titles, [height], remarks, notes, handles, legend_columns, share_y=share_y, **rest)


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
