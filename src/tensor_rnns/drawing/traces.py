"""Arrays over time that a probe took: inputs, targets, outputs and gates of one item, under one another."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tensor_rnns.declared import Natural
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import lines_of, sheet
from tensor_rnns.drawing.replica import Shown, chosen
from tensor_rnns.drawing.spec import AXIS, Axis, ProbeSpec, needs_rows
from tensor_rnns.drawing.style import plain
from tensor_rnns.experiments.records import Artefact

MOST_LINES = 8
"""More units than these are drawn as heat alone."""
MARK = "#e69f00"
"""Colour of marked steps."""
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
class Row(Timed):
    """An array that is drawn."""

    label: str | None = None

    @property
    def title(self) -> str:
        """What the row is called."""
        return self.label or self.array


@dataclass(frozen=True)
class TraceRow(Row):
    """An array as heat or lines, all of its units or some."""

    as_: Literal["heat", "lines"] = "heat"
    units: tuple[Natural, ...] | None = None
    range: tuple[float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(ProbeSpec):
    """Arrays over time, as heat or lines."""

    rows: tuple[TraceRow, ...]
    marks: Timed | None = None
    """Steps that an array of 0 and 1 shades."""
    x: Axis = AXIS

    def __post_init__(self) -> None:
        needs_rows(self.rows)


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError for an absent array, or one that is not over time."""
    spec = Spec.of(artefact)
    choice = chosen(data, artefact.id, spec)
    blocks = [[_values(shown, row, artefact.id) for row in spec.rows] for shown in choice.shown]
    heights = [_height(row, max(block[k].shape[1] for block in blocks)) for k, row in enumerate(spec.rows)]
    ranges = [_range(row, [block[k] for block in blocks], artefact.id) for k, row in enumerate(spec.rows)]
    marks = [_marks(shown, spec.marks, artefact.id) for shown in choice.shown]
    handles = _handles(spec, blocks[0], marks)
    remarks = data.remark_line(choice.rows)
    notes = [*absent(data, choice.rows, spec), choice.rule]
    made = sheet(
        [shown.title for shown in choice.shown], heights, remarks, notes, lines_of(len(handles), 4),
        left=LEFT, right=RIGHT, columns=min(COLUMNS, len(choice.shown)), inner=INNER,
    )  # fmt: skip
    texts = ["Arrays over time."]
    for shown, block, axes, steps in zip(choice.shown, blocks, made.blocks, marks, strict=True):
        said = []
        for row, values, axis, limits in zip(spec.rows, block, axes, ranges, strict=True):
            if row.as_ == "heat":
                _draw_heat(axis, values, limits)
            else:
                _draw_lines(axis, values, row, limits)
            _shade(axis, steps, edges=row.as_ == "heat")
            if made.is_first(axis):
                axis.set_ylabel(row.title)
            axis.tick_params(labelbottom=axis is axes[-1])
            said.append(f"{row.title} {values.min():.3g} to {values.max():.3g}")
        axes[-1].set_xlabel(spec.x.labelled("step").label)
        axes[-1].set_xlim(*(spec.x.limits or (0.5, len(block[0]) + 0.5)))
        axes[-1].xaxis.set_major_locator(MaxNLocator(5, integer=True))
        texts.append(f"{shown.title + ': ' if shown.title else ''}{len(block[0])} steps; {'; '.join(said)}.")
    return made.finish([*texts, choice.rule, *remarks], handles, 4)


def over_time(shown: Shown, row: Timed, artefact: str) -> np.ndarray:
    """The array of a row as [T, C], its `item` taken where one is asked for; ValueError for another shape."""
    array = shown.array(row.array, artefact)
    if row.item is not None and array.ndim > 1:
        if row.item >= array.shape[1]:
            raise ValueError(f"{artefact}: {row.array} has {array.shape[1]} items, no item {row.item}")
        array = array[:, row.item]
    if array.dtype.kind not in "biuf" or array.ndim not in (1, 2) or not array.size:
        raise ValueError(
            f"{artefact}: the array {row.array!r} is {array.dtype} {list(array.shape)}; over time "
            "are numbers [T] or [T, C], or with item [T, B] or [T, B, C]"
        )
    return array.reshape(len(array), -1).astype(float)


def _values(shown: Shown, row: TraceRow, artefact: str) -> np.ndarray:
    """The array of a row as [T, C] with the units that it asks for."""
    values = over_time(shown, row, artefact)
    if wrong := [unit for unit in row.units or () if unit >= values.shape[1]]:
        raise ValueError(f"{artefact}: {row.array} has {values.shape[1]} units, not {wrong}")
    values = values if row.units is None else values[:, list(row.units)]
    if row.as_ == "lines" and values.shape[1] > MOST_LINES:
        raise ValueError(
            f"{artefact}: {row.array} has {values.shape[1]} units, more than {MOST_LINES} lines; name "
            "units or take as: heat"
        )
    return values


def _height(row: TraceRow, channels: int) -> float:
    """Inches of a row."""
    return min(MOST, max(LEAST, CHANNEL * channels)) if row.as_ == "heat" else LINES_HEIGHT


def _range(row: TraceRow, arrays: list[np.ndarray], artefact: str) -> tuple[float, float]:
    """The range of a row, the same in all blocks: as asked, else of the numbers, with 0 in the middle where
    both signs occur."""
    if row.range is not None:
        return float(row.range[0]), float(row.range[1])
    finite = [array[np.isfinite(array)] for array in arrays]
    if not all(len(array) for array in finite):
        raise ValueError(f"{artefact}: {row.array} has no finite number")
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
    for side in axis.spines.values():
        side.set_visible(True)
    scale = axis.inset_axes((1.02, 0, 0.02, 1))
    axis.get_figure().colorbar(drawn, cax=scale, ticks=list(limits), format="%.3g")
    scale.tick_params(labelsize=5.5, length=1.5, pad=1)
    scale.get_yticklabels()[0].set_va("bottom")
    scale.get_yticklabels()[-1].set_va("top")
    scale.yaxis.offsetText.set_visible(False)


def _draw_lines(axis: Axes, values: np.ndarray, row: TraceRow, limits: tuple[float, float]) -> None:
    """A line a unit."""
    steps = np.arange(1, len(values) + 1)
    for number, line in enumerate(values.T):
        axis.plot(steps, line, linewidth=1, **(plain(number) | {"marker": ""}))
    room = 0.06 * (limits[1] - limits[0])
    axis.set_ylim(limits[0] - room, limits[1] + room)
    axis.yaxis.set_major_locator(MaxNLocator(3))


def _marks(shown: Shown, asked: Timed | None, artefact: str) -> np.ndarray:
    """The steps that are shaded, from 1."""
    if asked is None:
        return np.zeros(0)
    return np.flatnonzero((over_time(shown, asked, artefact) > 0.5).any(axis=1)) + 1


def _shade(axis: Axes, steps: np.ndarray, edges: bool) -> None:
    """Shade runs of marked steps; with `edges` draw only where they begin and end, and change no colour."""
    for run in np.split(steps, np.flatnonzero(np.diff(steps) > 1) + 1) if len(steps) else ():
        if edges:
            for step in (run[0] - 0.5, run[-1] + 0.5):
                axis.axvline(step, color=MARK, linewidth=0.8)
        else:
            axis.axvspan(run[0] - 0.5, run[-1] + 0.5, color=MARK, alpha=0.25, linewidth=0, zorder=0.5)


def _handles(spec: Spec, block: list[np.ndarray], marks: list[np.ndarray]) -> list[Line2D]:
    """A legend entry for each line of the rows of lines, where there is more than one; one for marks."""
    handles, names = [], set()
    for row, values in zip(spec.rows, block, strict=True):
        if row.as_ == "lines" and values.shape[1] > 1:
            units = row.units or range(values.shape[1])
            for k, unit in enumerate(units):
                name = f"unit {unit}"
                if name not in names:
                    names.add(name)
                    handles.append(Line2D([], [], linewidth=1, label=name, **(plain(k) | {"marker": ""})))
    if any(len(steps) for steps in marks):
        handles.append(Line2D([], [], color=MARK, alpha=0.4, linewidth=6, label="marked steps"))
    return handles
