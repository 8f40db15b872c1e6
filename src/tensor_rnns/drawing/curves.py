"""Curves against updates, epochs or seconds: a panel per condition, a colour per variant, papers' points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.analysis.curve_measures import Split
from tensor_rnns.drawing import beside, edges
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Cut, Group, Name, absent, counted, rowless
from tensor_rnns.drawing.layout import RIGHT, panels
from tensor_rnns.drawing.lines import Line, lines, summary, thinned
from tensor_rnns.drawing.paces import UNITS
from tensor_rnns.drawing.spec import AXIS, Axis, GroupsSpec
from tensor_rnns.drawing.style import DASHED, SOLID
from tensor_rnns.drawing.tables import span

BANDS = {"none": "thin: each seed", "quantiles": "band: quartiles", "range": "band: minimum to maximum"}
"""The kinds of band, and how a figure explains them."""
FEW = 10
"""Up to so many replicas each has its own thin line, and its own cross where it failed."""
DIRECT = 8
"""More lines than these in rising order are named beside the panels and not in the legend."""


Drawn = Mapping[Name, Sequence[Line]]


@dataclass(frozen=True)
class Also:
    """A second curve of each group: a series of a split, smoothed over `width` updates."""

    of: str = "loss"
    split: Split = "train"
    width: int = 1
    label: str | None = None


@dataclass(frozen=True)
class Running(Also):
    """The measure `running` at every update."""

    name: Literal["running"] = "running"


@dataclass(frozen=True)
class TimeAxis(Axis):
    """The axis of time, in updates, in epochs, or in seconds of training."""

    unit: Literal["update", "epoch", "second"] = "update"


TIME, RUNNING = TimeAxis(), Running()


@dataclass(frozen=True, kw_only=True)
class Spec(GroupsSpec):
    """Curves over updates or epochs."""

    measure: Running = RUNNING
    also: Also | None = None
    """A second value, dashed."""
    centre: Literal["mean", "median"] | None = None
    band: Literal["none", "quantiles", "range"] | None = None
    """Left out, none for few replicas and quartiles for many."""
    x: TimeAxis = TIME
    y: Axis = AXIS
    share_y: bool = True


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where no row of the curves is left to draw."""
    rows = _rows(data, spec, spec.measure)
    also = _rows(data, spec, spec.also) if spec.also else rows[:0]
    logged = rows[rows["update"].map(len) > 0]
    pace = UNITS[spec.x.unit](data, logged) if spec.x.unit in UNITS else None
    unit = spec.x.unit if pace else "update"
    cut = Cut(data, spec, rows)
    groups = cut.groups

    def drawn(table: pd.DataFrame, value: Any, width: int) -> Drawn:
        return {name: lines(data, cut.part(value, name, table), width, pace) for name in groups}

    ours = [drawn(rows, value, spec.measure.width) for value in cut.values]
    manner = _manner(spec, max(len(some) for panel in ours for some in panel.values()))
    _count(spec, cut, ours)
    limit = _reach(lines(data, rows, 1, pace), spec.measure)
    there = [e for e in data.printed(spec.keys) if e.get(spec.panels, cut.values[0]) in cut.values]
    printed, left_out = beside.same_settings(there, data, rows)
    notes = [*absent(data, rows, spec), *left_out, *beside.beyond(printed, limit, unit)]
    notes += _notes(spec, cut, ours, manner, unit)
    dashed = spec.also and (spec.also.label or spec.also.split)
    handles = beside.legend(cut, dashed, beside.handles_of(printed))
    direct, room = len(groups) > DIRECT and cut.ordered, 0.0
    if direct:
        handles, notes = handles[len(groups) :], [_named(cut), *notes]
        room = edges.NAME * max(len(group.title) for group in groups.values())
    remarks = data.remark_line(rows)
    sheet = panels(cut.titles, remarks, notes, handles, share_y=spec.share_y, right=RIGHT + room)
    time = spec.x if unit == spec.x.unit else TIME
    x, y, ends = time.labelled(f"{unit}s"), spec.y.labelled(spec.measure.of), []
    for axis, value, title, mine in zip(sheet.axes, cut.values, cut.titles, ours, strict=True):
        ends.append(_draw_groups(axis, mine, cut, spec, manner))
        for name, lines_also in drawn(also, value, spec.also.width if spec.also else 1).items():
            _draw_also(axis, lines_also, groups[name], manner[0])
        beside.draw_points(axis, printed, cut, value, limit)
        beside.draw_levels(axis, spec.lines, cut.baseline(value))
        sheet.dress(axis, x, y)
        sheet.say(title, [_said(groups[name], end, value) for name, end in ends[-1].items()])
    for axis, last in zip(sheet.axes, ends, strict=True) if direct else ():
        edges.draw_names(axis, [(end, groups[name]) for name, end in last.items() if np.isfinite(end)])
    return sheet.finish(f"Curves of {y.label} against {unit}s.")


def _rows(data: ArtefactData, spec: Spec, value: Also) -> pd.DataFrame:
    """The rows of the curves of one logged value among those that the artefact chooses, empty ones of
    replicas that failed before they logged any."""
    rows = data.chosen(data.curves, spec.where)
    rows = rows[(rows["split"] == value.split) & (rows["name"] == value.of)]
    if rows.empty:
        where = spec.where or "the main protocol"
        raise ValueError(f"no curve of {value.of} on {value.split} chosen by {where}")
    lost = [run.key for run in rowless(data, rows, spec)["run"] if run.failed]
    if lost:
        none = {"split": value.split, "name": value.of, "update": np.zeros(0), "value": np.zeros(0)}
        rows = pd.concat([rows, pd.DataFrame([key | none for key in lost])], ignore_index=True)
    return data.with_settings(rows, spec.keys)


def _said(group: Group, end: float, value: Any) -> str:
    """The description of one group in the panel of `value`: where its centre ends, if it has one."""
    last = f"ends at {end:.3g}" if np.isfinite(end) else "has no centre"
    return f"{group.title} {last} ({counted(*group.counts[value])})"


def _reach(ours: Sequence[Line], measure: Running) -> float:
    """Up to where the papers' points are drawn; ValueError where no line of ours has a finite value."""
    if last := [line.updates[-1] for line in ours if len(line.updates)]:
        return float(beside.BEYOND * max(last))
    raise ValueError(f"no finite value of {measure.of} on {measure.split}")


def _count(spec: Spec, cut: Cut, ours: Sequence[Drawn]) -> None:
    """Count the lines of each group in each panel that has some of it; solid ones where others are dashed."""
    for name, group in cut.groups.items():
        group.look |= {"linestyle": SOLID} if spec.also else {}
        here = [(value, panel[name]) for value, panel in zip(cut.values, ours, strict=True) if panel[name]]
        group.counts |= {value: (len(some), sum(line.failed for line in some)) for value, some in here}


def _notes(spec: Spec, cut: Cut, ours: Sequence[Drawn], manner: tuple[str, str], unit: str) -> list[str]:
    """What is to be said of the axes and of the lines."""
    why = "Less than an epoch was run" if spec.x.unit == "epoch" else "Not every run was timed"
    other = [f"{why}: against updates, not {spec.x.unit}s."] * (unit != spec.x.unit)
    early = _early(cut, spec.measure, ours)
    return [*other, *early, *_outside(cut, spec.y.limits, ours), *_explained(spec, cut, ours, manner)]


def _early(cut: Cut, measure: Running, drawn: Sequence[Drawn]) -> list[str]:
    """One note on the failed seeds of each group that logged no finite value, panel by panel."""
    said = []
    for title, panel in zip(cut.titles, drawn, strict=True):
        for name, some in panel.items():
            if count := sum(line.failed and not len(line.updates) for line in some):
                said.append(f"{count} of {cut.groups[name].title}" + (f" ({title})" if title else ""))
    what = f"a finite {measure.of} on {measure.split} was logged"
    return [f"Failed before {what}, and have no line: {', '.join(said)}."] if said else []


def _named(cut: Cut) -> str:
    """What the names beside the panels are, and how many seeds each line has, which else the legend says."""
    counts = zip(*(count for group in cut.groups.values() for count in group.counts.values()), strict=True)
    return f"Named beside a panel: its lines, in the order of their ends. {counted(*map(span, counts))} each."


def _draw_groups(axis: Axes, mine: Drawn, cut: Cut, spec: Spec, manner: tuple[str, str]) -> dict[Name, float]:
    """Draw the groups of one panel; the last value of the centre of each that has lines there."""
    there = {name: (cut.groups[name], some) for name, some in mine.items() if some}
    if manner[1] != "none":
        failed = [
            (group.look["color"], [line.updates for line in some if line.failed])
            for group, some in there.values()
        ]
        edges.draw_failed(axis, [(colour, lost) for colour, lost in failed if lost])
    return {name: _draw_group(axis, some, group, spec, manner) for name, (group, some) in there.items()}


def _draw_group(
    axis: Axes, group_lines: Sequence[Line], group: Group, spec: Spec, manner: tuple[str, str]
) -> float:
    """Draw the lines, centre and band of one group; the last value of the centre."""
    centre, band = manner
    drawn = [line for line in group_lines if len(line.updates)]
    colour = group.look["color"]
    for line in drawn:
        updates, values = thinned(line.updates, line.values)
        if 1 < len(group_lines) <= FEW and band == "none":
            axis.plot(updates, values, color=colour, linewidth=0.5, alpha=0.45)
        if line.failed and band == "none":
            # A white cross below the coloured one keeps it apart from the lines that it lies on.
            for shade, size, width in (("white", 8, 3.0), (colour, 7, 1.5)):
                axis.plot(updates[-1:], values[-1:], "x", color=shade, markersize=size,
                          markeredgewidth=width, zorder=7)  # fmt: skip
    updates, middle, low, high = summary(group_lines, centre, band)
    if not len(updates):
        return float("nan")
    if band != "none" and len(drawn) > 1:
        low = np.where(low > 0, low, np.nan) if spec.y.scale == "log" else low
        axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, middle, markevery=max(1, len(updates) // 6), zorder=3, **group.look)
    return float(middle[-1])


def _draw_also(axis: Axes, group_lines: Sequence[Line], group: Group, centre: str) -> None:
    """The centre of the second value of one group, thin and dashed."""
    if group_lines:
        updates, middle, *_ = summary(group_lines, centre, "none")
        axis.plot(updates, middle, color=group.look["color"], linestyle=DASHED, linewidth=0.9, zorder=2.5)


def _outside(cut: Cut, limits: tuple[float, float] | None, drawn: Sequence[Drawn]) -> list[str]:
    """One note naming, panel by panel, the groups of which no line has a point within `limits`."""
    low, high = limits or (-np.inf, np.inf)
    slack = 1e-6 * (high - low)  # an accuracy of 1 may be recorded as 1.00000003

    def seen(some: Sequence[Line]) -> bool:
        return any(((low - slack <= line.values) & (line.values <= high + slack)).any() for line in some)

    said = []
    for title, panel in zip(cut.titles, drawn, strict=True):
        lines_of = {name: [line for line in some if len(line.updates)] for name, some in panel.items()}
        if out := [cut.groups[name].title for name, some in lines_of.items() if some and not seen(some)]:
            said.append(", ".join(out) + (f" ({title})" if title else ""))
    return [f"Outside the axis: {'; '.join(said)}."] if said and limits else []


def _manner(spec: Spec, n: int) -> tuple[str, str]:
    """Centre and band where a line has up to n replicas, the same for all lines of a figure: as the artefact
    asks, else no band for few and quartiles for many."""
    band = spec.band or ("none" if n <= FEW else "quantiles")
    return spec.centre or ("mean" if band == "range" else "median"), band


def _explained(spec: Spec, cut: Cut, drawn: Sequence[Drawn], manner: tuple[str, str]) -> list[str]:
    """One note on what line, band, cross and tick are."""
    counts = [count for group in cut.groups.values() for count in group.counts.values()]
    groups = [some for panel in drawn for some in panel.values()]
    several = [[line.updates[-1:] for line in some] for some in groups]
    going_on = " that go on, at least half" * any(len({*map(tuple, ends)}) > 1 for ends in several)
    said = []
    if any(n > 1 for n, _ in counts):
        said = [f"bold: {manner[0]} of the seeds{going_on}", BANDS[manner[1]]]
    said += _window(cut.rows, spec.measure.width)
    mark = "cross: a failed seed's last finite value"
    mark = mark if manner[1] == "none" else "ticks: where failed seeds stop"
    said += [mark] if any(line.failed and len(line.updates) for some in groups for line in some) else []
    return ["; ".join(said).capitalize() + "."] if said else []


def _window(rows: pd.DataFrame, width: int) -> list[str]:
    """Over how many updates the lines are running means, and how many of these are logged."""
    if width == 1:
        return []
    paces = {int(updates[1] - updates[0]) for updates in rows["update"] if len(updates) > 1}
    if len(paces) > 1:
        return [f"running mean of what was logged in {width} updates"]
    pace = max(paces, default=1)
    return [f"running mean over {width} updates" + f", one in {pace} of them logged" * (pace > 1)]
