"""Arrays over time that a probe took: inputs, targets, outputs and gates of one item, under one another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tensor_rnns.declared import Natural
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import Sheet
from tensor_rnns.drawing.replica import NUMBERS, Shown, chosen
from tensor_rnns.drawing.spec import AXIS, ArraysSpec, Axis, Row
from tensor_rnns.drawing.style import plain

MOST_LINES = 8
"""More units than these are drawn as heat alone."""
MARK = "#e69f00"
"""Colour of marked steps."""
SEEN = 150
"""Marked steps are shaded where they are at least one in so many; a shade of fewer would not be seen."""
TICK: dict[str, Any] = {
    "marker": "|",
    "markersize": 7,
    "markeredgewidth": 1.4,
    "linestyle": "",
    "color": MARK,
}
"""What marks them then, at the top edge of a row."""
CHANNEL, LEAST, MOST, LINES_HEIGHT = 0.075, 0.32, 1.5, 0.8
"""Inches of a channel of a heat map, the least and most of a map, and of a row of lines."""
SHARP = 600
"""More steps than these are averaged where a heat map has not a dot for each."""
LEFT, INNER, RIGHT, COLUMNS = 0.68, 0.3, 0.42, 3


@dataclass(frozen=True)
class Timed:
    """An array [T] or [T, C], or with `item` [T, B] or [T, B, C]."""

    array: str
    item: Natural | None = None


@dataclass(frozen=True)
class TraceRow(Row, Timed):
    """An array as heat or lines."""

    as_: Literal["heat", "lines"] = "heat"
    range: tuple[float, float] | None = None
    scale: Literal["linear", "log"] = "linear"
    """Of lines."""


@dataclass(frozen=True, kw_only=True)
class Spec(ArraysSpec):
    """Arrays over time, as heat or lines."""

    rows: tuple[TraceRow, ...]
    marks: Timed | None = None
    """Steps that an array of 0 and 1 shades."""
    x: Axis = AXIS


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError for an absent array, or one that is not over time."""
    choice = chosen(data, spec)
    blocks = [[_values(shown, row) for row in spec.rows] for shown in choice.shown]
    by_row = list(zip(spec.rows, zip(*blocks, strict=True), strict=True))
    ranges = [_range(row, arrays) for row, arrays in by_row]
    marks = [np.zeros(0)] * len(blocks)
    if spec.marks:
        marked = [(over_time(shown, spec.marks) > 0.5).any(axis=1) for shown in choice.shown]
        marks = [np.flatnonzero(steps) + 1 for steps in marked]
    made = Sheet(
        [shown.title for shown in choice.shown], [_height(row, arrays) for row, arrays in by_row],
        choice.remarks, choice.notes(), _handles(spec, blocks[0], marks), 4,
        left=LEFT, right=RIGHT, columns=COLUMNS, inner=INNER,
    )  # fmt: skip
    along = spec.x.labelled("step").label or ""
    noun = (along.split() or ["step"])[0].strip(",;").removesuffix("s") + "s"
    for shown, block, axes, steps in zip(choice.shown, blocks, made.blocks, marks, strict=True):
        said = [f"{len(block[0])} {noun}"]
        for row, values, axis, limits in zip(spec.rows, block, axes, ranges, strict=True):
            if row.as_ == "heat":
                _draw_heat(axis, values, limits)
            else:
                _draw_lines(axis, values, limits, row.scale)
            _shade(axis, steps, len(values), edges=row.as_ == "heat")
            if made.is_first(axis):
                axis.set_ylabel(row.title)
            axis.tick_params(labelbottom=axis is axes[-1])
            said.append(f"{row.title} {values.min():.3g} to {values.max():.3g}")
        axes[-1].set_xlabel(along)
        axes[-1].set_xlim(*(spec.x.limits or (0.5, len(block[0]) + 0.5)))
        axes[-1].xaxis.set_major_locator(MaxNLocator(5, integer=True))
        made.say(shown.title, said)
    return made.finish(f"Arrays over {noun}.", choice.rule)


def over_time(shown: Shown, row: Timed) -> np.ndarray:
    """The array of a row as [T, C], its `item` taken where one is asked for; ValueError for another shape."""
    dimensions = (1, 2) if row.item is None else (1, 2, 3)
    allowed = "numbers over time [T] or [T, C], or with item [T, B] or [T, B, C]"
    array = shown.array(row.array, NUMBERS, dimensions, allowed)
    if row.item is not None and array.ndim > 1:
        if row.item >= array.shape[1]:
            raise ValueError(f"{row.array} has {array.shape[1]} items, no item {row.item}")
        array = array[:, row.item]
    return array.reshape(len(array), -1).astype(float)


def _values(shown: Shown, row: TraceRow) -> np.ndarray:
    """The array of a row as [T, C]; ValueError for more lines than can be told apart."""
    values = over_time(shown, row)
    if row.as_ == "lines" and values.shape[1] > MOST_LINES:
        given = f"{row.array} has {values.shape[1]} units, more than {MOST_LINES} lines"
        raise ValueError(f"{given}; take as: heat")
    return values


def _height(row: TraceRow, arrays: Sequence[np.ndarray]) -> float:
    """Inches of a row."""
    channels = max(array.shape[1] for array in arrays)
    return min(MOST, max(LEAST, CHANNEL * channels)) if row.as_ == "heat" else LINES_HEIGHT


def _range(row: TraceRow, arrays: Sequence[np.ndarray]) -> tuple[float, float]:
    """The range of a row in all blocks: as asked, else of the numbers, with 0 in the middle of both signs."""
    if row.range is not None:
        return row.range
    finite = [array[np.isfinite(array) & ((array > 0) | (row.scale != "log"))] for array in arrays]
    if not all(map(len, finite)):
        raise ValueError(f"{row.array} has no finite number" + " above 0" * (row.scale == "log"))
    low, high = min(float(array.min()) for array in finite), max(float(array.max()) for array in finite)
    if low < 0 < high and row.as_ == "heat":
        low, high = -max(-low, high), max(-low, high)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _draw_heat(axis: Axes, values: np.ndarray, limits: tuple[float, float]) -> None:
    """Channels from below, time to the right; a scale at the right. Both signs: blue to red."""
    colours = "RdBu_r" if limits[0] < 0 < limits[1] else "Greys"
    drawn = axis.imshow(values.T, cmap=colours, vmin=limits[0], vmax=limits[1], aspect="auto", origin="lower",
                        interpolation="nearest" if len(values) <= SHARP else "auto",
                        extent=(0.5, len(values) + 0.5, 0.5, values.shape[1] + 0.5))  # fmt: skip
    axis.grid(visible=False)
    axis.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    axis.spines[:].set_visible(True)
    scale = axis.inset_axes((1.02, 0, 0.02, 1))
    axis.get_figure().colorbar(drawn, cax=scale, ticks=list(limits), format="%.3g")
    scale.tick_params(labelsize=5.5, length=1.5, pad=1)
    scale.get_yticklabels()[0].set_va("bottom")
    scale.get_yticklabels()[-1].set_va("top")
    scale.yaxis.offsetText.set_visible(False)


def _draw_lines(axis: Axes, values: np.ndarray, limits: tuple[float, float], scale: str) -> None:
    """One line per unit."""
    steps = np.arange(1, len(values) + 1)
    for number, line in enumerate(values.T):
        axis.plot(steps, line, linewidth=1, **(plain(number) | {"marker": ""}))
    if scale == "log":
        axis.set_yscale(scale)
        axis.set_ylim(limits[0] / 1.3, limits[1] * 1.3)
        return
    room = 0.06 * (limits[1] - limits[0])
    axis.set_ylim(limits[0] - room, limits[1] + room)
    axis.yaxis.set_major_locator(MaxNLocator(3))


def _runs(steps: np.ndarray) -> list[np.ndarray]:
    """Marked steps that follow one another, together."""
    return np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1) if len(steps) else []


def _is_short(run: np.ndarray, length: int) -> bool:
    """Whether a run of marked steps among `length` is too short for a shade to be seen."""
    return len(run) * SEEN < length


def _shade(axis: Axes, steps: np.ndarray, length: int, edges: bool) -> None:
    """Shade runs of marked steps; with `edges` draw only where they begin and end, and change no colour.

    Where runs are too short to be seen, ticks mark them, and thin lines below the others.
    """
    for run in _runs(steps):
        if edges:
            for step in (run[0] - 0.5, run[-1] + 0.5):
                axis.axvline(step, color=MARK, linewidth=0.8)
        elif _is_short(run, length):
            axis.axvline(run.mean(), color=MARK, linewidth=0.8, zorder=0.5)
            axis.plot([run.mean()], [1], transform=axis.get_xaxis_transform(), clip_on=False, **TICK)
        else:
            axis.axvspan(run[0] - 0.5, run[-1] + 0.5, color=MARK, alpha=0.25, linewidth=0, zorder=0.5)


def _handles(spec: Spec, block: list[np.ndarray], marks: list[np.ndarray]) -> list[Line2D]:
    """A legend entry for each line of the rows of lines, where there is more than one; one for marks."""
    drawn = zip(spec.rows, block, strict=True)
    most = max((values.shape[1] for row, values in drawn if row.as_ == "lines"), default=0)
    looks = [plain(number) | {"marker": ""} for number in range(most if most > 1 else 0)]
    handles = [Line2D([], [], linewidth=1, label=f"unit {k}", **own) for k, own in enumerate(looks)]
    if any(map(len, marks)):
        short = any(_is_short(run, len(block[0])) for steps in marks for run in _runs(steps))
        look = TICK if short else {"color": MARK, "alpha": 0.4, "linewidth": 6}
        handles.append(Line2D([], [], label="marked steps", **look))
    return handles
