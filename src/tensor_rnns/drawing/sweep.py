"""One number per replica against a number: a setting such as the rank, or what a condition stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from tensor_rnns.analysis.measures import Measure
from tensor_rnns.declared import Invalid, is_number
from tensor_rnns.drawing import beside
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Cut, Group, absent, numberless
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.numbers import Total, draw_seeds, marks_of, numbers, total, what_of
from tensor_rnns.drawing.spec import AXIS, Axis, Column, GroupsSpec, listed
from tensor_rnns.drawing.style import DASHED

X = "x"
"""The column of the numbers along the axis."""
TICKS = 9
"""Up to so many numbers each has its own tick."""
Totals = dict[float, Total]


@dataclass(frozen=True)
class Also:
    """A second measure over the same numbers."""

    measure: Measure
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(GroupsSpec):
    """A measure over a setting, or over names that `values` gives numbers; `also` is dashed."""

    over: Column
    measure: Measure
    values: dict[str, float] | None = None
    also: Also | None = None
    y: Axis = AXIS

    def __post_init__(self) -> None:
        if self.over in ("condition", "variant", "option", "dataset") and not self.values:
            raise Invalid("over", f"{self.over} is no number; give each its number under values")


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where a value of `over` is no number or no run has the measure."""
    measure = spec.measure.block
    rows = _placed(data, spec, measure)
    also = _placed(data, spec, spec.also.measure.block) if spec.also else rows[:0]
    cut = Cut(data, spec, rows)
    totals = {
        (name, value): _totals(cut.part(value, name), measure) for name in cut.groups for value in cut.values
    }
    for (name, value), by_level in totals.items():
        cut.groups[name].counts |= {(value, level): (mine.n, mine.failed) for level, mine in by_level.items()}
    entries = data.printed([spec.over, *spec.keys])
    marks = marks_of(rows, [total for of_panel in totals.values() for total in of_panel.values()])
    dashed = spec.also and (spec.also.label or spec.also.measure.measure)
    handles = beside.legend(cut, dashed, _paper_handles(entries, rows))
    notes = [*absent(data, data.replicas(spec.where), spec), *numberless(data, rows, spec), *marks]
    sheet = panels(cut.titles, data.remark_line(rows), notes, handles)
    x = spec.x.labelled(spec.over.rpartition(".")[2].replace("_", " "))
    y = spec.y.labelled(what_of(measure))
    for axis, value, title in zip(sheet.axes, cut.values, cut.titles, strict=True):
        said = []
        for name, group in cut.groups.items():
            if by_level := totals[name, value]:
                _draw_group(axis, cut.part(value, name), by_level, group)
                said += [f"{group.title} at {level:g}: {mine.text}" for level, mine in by_level.items()]
            if spec.also:
                _draw_also(axis, _totals(cut.part(value, name, also), spec.also.measure.block), group)
        said += _draw_paper(axis, entries, cut, value, measure)
        beside.draw_levels(axis, spec.lines, cut.baseline(value))
        sheet.dress(axis, x, y)
        _ticks(axis, sorted(rows[X].unique()))
        sheet.say(title, said)
    return sheet.finish(f"{y.label} against {x.label}.")


def _placed(data: ArtefactData, spec: Spec, measure: Mapping[str, Any]) -> pd.DataFrame:
    """The replicas with the column X, what `over` and `values` make of each."""
    over, levels = spec.over, spec.values
    rows = numbers(data, spec, measure, [over, *spec.keys])
    levels_of_rows = [value if levels is None else levels.get(value) for value in rows[over]]
    places = zip(rows[over], levels_of_rows, strict=True)
    if wrong := sorted({str(name) for name, x in places if not is_number(x)}):
        known = f"values has {sorted(map(str, levels))}" if levels else "give each its number under values"
        raise ValueError(f"{over} is {', '.join(wrong)}, no number; {known}")
    return rows.assign(**{X: np.asarray(levels_of_rows, dtype=float)})


def _totals(rows: pd.DataFrame, measure: Mapping[str, Any]) -> Totals:
    """What the replicas at each number along the axis have in common."""
    return {float(x): total(mine["value"], mine["failed"], measure) for x, mine in rows.groupby(X, sort=True)}


def _draw_group(axis: Axes, mine: pd.DataFrame, totals: Totals, group: Group) -> None:
    """Means joined by a line, an interval at each, a mark for each seed."""
    axis.plot(list(totals), [stats.mean for stats in totals.values()], zorder=4, **group.look)
    for x, stats in totals.items():
        if stats.is_drawn:
            ends = [stats.low, stats.high]
            axis.plot([x, x], ends, color=group.look["color"], linewidth=1.6, alpha=0.6, zorder=3)
    finite = mine[np.isfinite(mine["value"])]
    draw_seeds(axis, finite[X], finite["value"], finite["failed"], group.look["color"])


def _draw_also(axis: Axes, totals: Totals, group: Group) -> None:
    """The means of the second measure, thin and dashed."""
    axis.plot(list(totals), [stats.mean for stats in totals.values()], color=group.look["color"],
              linestyle=DASHED, linewidth=0.9, marker=group.look["marker"], markersize=3,
              markerfacecolor="white", zorder=2.5)  # fmt: skip


def _draw_paper(
    axis: Axes, entries: Sequence[beside.Entry], cut: Cut, panel: Any, measure: Mapping[str, Any]
) -> list[str]:
    """The paper's points, single values and levels of one panel; what the description says of them."""
    said, here = [], cut.panel(panel)
    for entry in entries:
        single, points = not beside.columns_of(entry, here), []
        if "points" in entry:
            of = [name for name in cut.groups if beside.belongs(entry, cut.part(panel, name), measure)]
            if of or single:
                points = beside.points_of(entry)
                look = beside.HOLLOW | beside.own_look(cut.groups[of[0]] if of else None)
                axis.plot(*zip(*points, strict=True), zorder=6, **look)
        elif single:
            axis.axhline(float(entry["value"]), **beside.LEVEL)
            said.append(f"paper {float(entry['value']):g}")
        else:
            for (x, *name), mine in here.groupby([X, *listed(cut.spec.colour)], sort=True):
                if beside.belongs(entry, mine, measure):
                    points.append((x, float(entry["value"])))
                    look = beside.HOLLOW | beside.own_look(cut.groups[tuple(name)]) | {"linestyle": ""}
                    axis.plot(*points[-1], zorder=6, **look)
        said += [f"paper at {x:g}: {value:g}" for x, value in points]
    return said


def _paper_handles(entries: Sequence[beside.Entry], rows: pd.DataFrame) -> list[Line2D]:
    """What the paper's marks and levels are."""
    levels = [entry for entry in entries if not beside.columns_of(entry, rows) and "value" in entry]
    mark = Line2D([], [], label="paper", **beside.HOLLOW | beside.BLACK)
    return [mark] * (len(levels) < len(entries)) + beside.handles_of(levels)


def _ticks(axis: Axes, xs: list[float]) -> None:
    """A tick at each number where there are few."""
    if len(xs) <= TICKS:
        axis.xaxis.set_major_locator(FixedLocator(xs))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
