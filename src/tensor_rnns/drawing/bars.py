"""One number per replica, put together by group: a bar or a dot per group, every seed, the paper's value."""

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.analysis.measures import TIMES, Measure
from tensor_rnns.declared import Invalid
from tensor_rnns.drawing import beside
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Cut, absent, names_of, numberless, part, title_of
from tensor_rnns.drawing.layout import Sheet, panels
from tensor_rnns.drawing.numbers import Total, draw_seeds, marks_of, numbers, total, what_of
from tensor_rnns.drawing.spec import AXIS, Axis, Columns, GroupsSpec, listed
from tensor_rnns.drawing.style import PAPER

LETTERS = 24
"""A name at the side breaks after so many letters."""
ROW, LETTER, COUNT = 0.21, 0.063, 0.049
"""Inches of a row, of a letter at the side, and of one of the numbers of replicas at the right of a panel."""


@dataclass(frozen=True)
class Row:
    """One bar: where it stands, what stands at the side of it and of those below, its look, its replicas."""

    height: float
    middle: float
    title: str
    look: Mapping[str, Any]
    keys: Mapping[str, Any]

    def part(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The replicas of this bar among `rows`."""
        return part(rows, list(self.keys), list(self.keys.values()))


@dataclass(frozen=True, kw_only=True)
class Spec(GroupsSpec):
    """Bars or dots of a measure; the `groups` stand down the side."""

    measure: Measure
    groups: Columns = "variant"
    mark: Literal["bar", "dot"] = "bar"

    def __post_init__(self) -> None:
        low, high = self.x.limits or (0, 0)
        if self.mark == "bar" and (self.x.scale != "linear" or not low <= 0 <= high):
            raise Invalid("x", "bars begin at 0, which this axis leaves out; take mark: dot")


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where no replica has the measure."""
    sides, measure = listed(spec.groups), spec.measure.block
    rows = numbers(data, spec, measure, [*spec.keys, *sides])
    cut = Cut(data, spec, rows)
    bars = _rows(cut, sides)
    entries = data.printed([*spec.keys, *sides])
    drawn = [(value, bar, bar.part(cut.panel(value))) for value in cut.values for bar in bars]
    drawn = [(value, bar, mine) for value, bar, mine in drawn if len(mine)]
    totals = [total(mine["value"], mine["failed"], measure) for *_, mine in drawn]
    lost = sum(not any(beside.belongs(e, mine, measure) for *_, mine in drawn) for e in entries)
    ran = data.replicas(spec.where)
    notes = [*absent(data, ran, spec), *numberless(data, rows, spec), *marks_of(rows, totals)]
    notes += [f"{lost} of the paper's {len(entries)} values belong to what is not drawn."] if lost else []
    letters = max(max(map(len, bar.title.split("\n"))) for bar in bars)
    counted = max(len(line) for stats in totals for line in _counts(stats).split("\n"))
    handles = _handles(cut, sides, spec.mark, entries)
    sheet = panels(
        cut.titles, data.remark_line(rows), notes, handles, min(3, max(1, len(handles))),
        height=0.15 + ROW * (bars[-1].height + 1), left=0.35 + LETTER * letters, right=0.1 + COUNT * counted,
    )  # fmt: skip
    x = spec.x.labelled(what_of(measure))
    for axis, value, title in zip(sheet.axes, cut.values, cut.titles, strict=True):
        said = []
        for (panel, bar, mine), stats in zip(drawn, totals, strict=True):
            if panel == value:
                _draw_row(axis, bar, mine, stats, spec.mark)
                paper = _draw_paper(axis, bar, [e for e in entries if beside.belongs(e, mine, measure)])
                said.append(f"{title_of(data, list(bar.keys), list(bar.keys.values()))} {stats.text}{paper}")
        beside.draw_levels(axis, spec.lines, cut.baseline(value), upright=True)
        _dress(sheet, axis, x, bars, 0 if measure["name"] in TIMES else -np.inf)
        sheet.say(title, said)
    return sheet.finish(f"{x.label} by {', '.join(sides)}.")


def _rows(cut: Cut, sides: list[str]) -> list[Row]:
    """The rows of the figure from above; those of one name at the side stand together."""
    bars, height, colour = [], -1.0, listed(cut.spec.colour)
    for name in names_of(cut.data, cut.rows, sides):
        height += 0.0 if set(colour) <= set(sides) else 0.35
        own_names = names_of(cut.data, part(cut.rows, sides, name), colour)
        middle = height + (len(own_names) + 1) / 2
        for position, own in enumerate(own_names):
            height += 1
            title = textwrap.fill(title_of(cut.data, sides, name), LETTERS) if position == 0 else ""
            keys = dict(zip(sides, name, strict=True)) | dict(zip(colour, own, strict=True))
            bars.append(Row(height, middle, title, cut.groups[own].look, keys))
    return bars


def _handles(cut: Cut, sides: list[str], mark: str, entries: Sequence[beside.Entry]) -> list[Line2D]:
    """The legend: colours that the names at the side do not explain, the paper's mark, levels."""
    groups = [] if set(listed(cut.spec.colour)) <= set(sides) else cut.groups.values()
    bar = {"marker": "s", "markersize": 7} if mark == "bar" else {}
    handles = [Line2D([], [], label=group.title, **group.look | {"linestyle": ""} | bar) for group in groups]
    paper = Line2D([], [], color=PAPER, linestyle="", marker="d", label="paper", markerfacecolor="white")
    return handles + [paper] * bool(entries) + beside.level_handles(cut.spec.lines)


def _dress(sheet: Sheet, axis: Axes, x: Axis, bars: Sequence[Row], least: float) -> None:
    """Names at the side, numbers below from `least` on: no time is below 0, whatever its interval says."""
    sheet.dress(axis, x, AXIS)
    axis.set_xlim(left=max(least, axis.get_xlim()[0]))
    named = [bar for bar in bars if bar.title]
    axis.set_yticks([bar.middle for bar in named], [bar.title for bar in named])
    axis.set_ylim(bars[-1].height + 0.6, bars[0].height - 0.6)
    axis.grid(axis="y", visible=False)


def _draw_row(axis: Axes, bar: Row, mine: pd.DataFrame, stats: Total, mark: str) -> None:
    """The bar or dot of one group, its interval, a mark for each seed; n at the right."""
    colour = bar.look["color"]
    if np.isfinite(stats.mean):
        if mark == "bar":
            axis.barh(bar.height, stats.mean, 0.72, color=colour, alpha=0.4, linewidth=0, zorder=2)
        else:
            axis.plot([stats.mean], [bar.height], bar.look["marker"], color=colour, markersize=6, zorder=4)
    if stats.is_drawn:
        axis.plot([stats.low, stats.high], [bar.height] * 2, color=colour, linewidth=1.6, zorder=3)
    finite = mine[np.isfinite(mine["value"])].sort_values("seed")
    if len(finite) > 1 or finite["failed"].any():
        spread = np.linspace(-0.22, 0.22, len(finite)) if len(finite) > 1 else np.zeros(1)
        draw_seeds(axis, finite["value"], bar.height + spread, finite["failed"], colour)
    axis.annotate(_counts(stats), (1, bar.height), (3, 0), ("axes fraction", "data"), "offset points",
                  va="center", fontsize=6, linespacing=0.95, color="#444444")  # fmt: skip


def _counts(stats: Total) -> str:
    """The numbers of replicas in lines, and whether they are too few for an interval."""
    few = stats.interval and not (stats.is_drawn or stats.never)
    return stats.counts.replace(", ", "\n", 1) + ("\nno interval" if few else "")


def _draw_paper(axis: Axes, bar: Row, entries: Sequence[beside.Entry]) -> str:
    """The paper's values of one row; what the description says of them."""
    values = [float(entry["value"]) for entry in entries]
    if values:
        axis.plot(values, [bar.height] * len(values), "d", color=PAPER, markerfacecolor="white", zorder=7)
    return f", paper {', '.join(f'{value:g}' for value in values)}" if values else ""
