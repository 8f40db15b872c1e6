"""One number per replica against a number: a setting such as the rank, or what a condition stands for."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from tensor_rnns.analysis.measures import Measure
from tensor_rnns.declared import Invalid
from tensor_rnns.drawing import beside
from tensor_rnns.drawing.data import ArtefactData, is_number
from tensor_rnns.drawing.groups import Group, Groups, Panels, absent, groups_of, listed, part
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.numbers import Total, draw_seeds, marks_of, numbers, total, what_of
from tensor_rnns.drawing.spec import AXIS, Axis, Column, Columns, Lines, RunsSpec
from tensor_rnns.drawing.style import DASHED
from tensor_rnns.experiments.records import Artefact

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
class Spec(RunsSpec):
    """A measure over a setting, or over names that `values` gives numbers; `also` is dashed."""

    kind: ClassVar[str | None] = "train"
    over: Column
    measure: Measure
    values: dict[str, float] | None = None
    panels: Column | None = None
    colour: Columns = "variant"
    also: Also | None = None
    lines: Lines = ()
    x: Axis = AXIS
    y: Axis = AXIS

    def __post_init__(self) -> None:
        if self.over in ("condition", "variant", "option", "dataset") and not self.values:
            raise Invalid("over", f"{self.over} is no number; give each its number under values")


def draw(data: ArtefactData, artefact: Artefact, spec: Spec) -> Figure:
    """The figure of `artefact`; ValueError where a value of `over` is no number or no run has the measure."""
    colour, measure = listed(spec.colour), spec.measure.block
    keys = [spec.over, *listed(spec.panels), *colour]
    rows = _placed(data, spec, measure, keys)
    also = _placed(data, spec, spec.also.measure.block, keys) if spec.also else rows[:0]
    cut = Panels.of(data, rows, spec.panels)
    groups = groups_of(data, rows, colour)
    totals = {
        (name, value): _totals(part(cut.rows(rows, value), colour, name), measure)
        for name in groups for value in cut.values
    }  # fmt: skip
    for (name, value), found in totals.items():
        groups[name].counts |= {(value, level): (mine.n, mine.failed) for level, mine in found.items()}
    entries = data.printed(artefact, keys)
    handles = [group.handle for group in groups.values()] + _other_handles(spec, entries, rows)
    marks = marks_of(rows, [total for found in totals.values() for total in found.values()])
    sheet = panels(cut.titles, data.remark_line(rows), [*absent(data, rows, spec), *marks], handles)
    x = spec.x.labelled(spec.over.rpartition(".")[2].replace("_", " "))
    y = spec.y.labelled(what_of(measure))
    for axis, value, title in zip(sheet.axes, cut.values, cut.titles, strict=True):
        here, said = cut.rows(rows, value), []
        for name, group in groups.items():
            found = totals[name, value]
            if found:
                _draw_group(axis, part(here, colour, name), found, group)
                said += [f"{group.title} at {level:g}: {mine.text}" for level, mine in found.items()]
            if spec.also:
                mine = part(cut.rows(also, value), colour, name)
                _draw_also(axis, _totals(mine, spec.also.measure.block), group)
        said += _draw_paper(axis, entries, here, groups, colour, measure)
        beside.draw_levels(axis, spec.lines, beside.baseline(spec, data, cut, value))
        sheet.dress(axis, x, y)
        _ticks(axis, sorted(rows[X].unique()))
        sheet.say(title, said)
    return sheet.finish(f"{y.label} against {x.label}.")


def _placed(data: ArtefactData, spec: Spec, measure: Mapping[str, Any], keys: list[str]) -> pd.DataFrame:
    """The replicas with the column X, what `over` and `values` make of each."""
    over, levels = spec.over, spec.values
    rows = numbers(data, spec.where, measure, keys)
    found = [value if levels is None else levels.get(value) for value in rows[over]]
    if wrong := sorted({str(name) for name, x in zip(rows[over], found, strict=True) if not is_number(x)}):
        known = "give each its number under values"
        known = known if levels is None else f"values has {sorted(map(str, levels))}"
        raise ValueError(f"{over} is {', '.join(wrong)}, no number; {known}")
    return rows.assign(**{X: np.asarray(found, dtype=float)})


def _totals(rows: pd.DataFrame, measure: Mapping[str, Any]) -> Totals:
    """What the replicas at each number along the axis have in common."""
    return {
        float(x): total(mine["value"], int(mine["failed"].sum()), measure)
        for x, mine in rows.groupby(X, sort=True)
    }


def _draw_group(axis: Axes, mine: pd.DataFrame, totals: Totals, group: Group) -> None:
    """Means joined by a line, an interval at each, a mark for each seed."""
    axis.plot(list(totals), [found.mean for found in totals.values()], zorder=4, **group.look)
    for x, found in totals.items():
        if found.interval:
            ends = [found.low, found.high]
            axis.plot([x, x], ends, color=group.look["color"], linewidth=1.6, alpha=0.6, zorder=3)
    finite = mine[np.isfinite(mine["value"])]
    draw_seeds(axis, finite[X], finite["value"], finite["failed"], group.look["color"])


def _draw_also(axis: Axes, totals: Totals, group: Group) -> None:
    """The means of the second measure, thin and dashed."""
    axis.plot(list(totals), [found.mean for found in totals.values()], color=group.look["color"],
              linestyle=DASHED, linewidth=0.9, marker=group.look["marker"], markersize=3,
              markerfacecolor="white", zorder=2.5)  # fmt: skip


def _draw_paper(
    axis: Axes, entries: Sequence[beside.Entry], here: pd.DataFrame, groups: Groups, colour: list[str],
    measure: Mapping[str, Any],
) -> list[str]:  # fmt: skip
    """The paper's points, single values and levels of one panel; what the description says of them."""
    said = []
    for entry in entries:
        single, points = not beside.columns_of(entry, here), []
        if "points" in entry:
            of = [name for name in groups if beside.belongs(entry, part(here, colour, name), measure)]
            if of or single:
                points = beside.points_of(entry)
                look = beside.HOLLOW | beside.own_look(groups[of[0]] if of else None)
                axis.plot(*zip(*points, strict=True), zorder=6, **look)
        elif single:
            axis.axhline(float(entry["value"]), **beside.LEVEL)
            said.append(f"paper {float(entry['value']):g}")
        else:
            for (x, *name), mine in here.groupby([X, *colour], sort=True):
                if beside.belongs(entry, mine, measure):
                    points.append((x, float(entry["value"])))
                    look = beside.HOLLOW | beside.own_look(groups[tuple(name)]) | {"linestyle": ""}
                    axis.plot(*points[-1], zorder=6, **look)
        said += [f"paper at {x:g}: {value:g}" for x, value in points]
    return said


def _other_handles(spec: Spec, entries: Sequence[beside.Entry], rows: pd.DataFrame) -> list[Line2D]:
    """What the dashed line, the paper's marks and the levels are."""
    handles = [beside.dashed_handle(spec.also.label or spec.also.measure.measure)] if spec.also else []
    levels = [entry for entry in entries if not beside.columns_of(entry, rows) and "value" in entry]
    if len(levels) < len(entries):
        handles.append(Line2D([], [], label="paper", **beside.HOLLOW | beside.BLACK))
    return handles + beside.handles_of(levels) + beside.level_handles(spec.lines)


def _ticks(axis: Axes, xs: list[float]) -> None:
    """A tick at each number where there are few."""
    if len(xs) <= TICKS:
        axis.xaxis.set_major_locator(FixedLocator(xs))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
