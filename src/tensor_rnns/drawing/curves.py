"""Curves against updates or epochs: one panel per condition, one colour per variant, the papers' points."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.analysis.curve_measures import Split
from tensor_rnns.drawing.beside import (
    BEYOND,
    beyond,
    dashed_handle,
    draw_levels,
    draw_points,
    handles_of,
    level_handles,
    same_settings,
)  # fmt: skip
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Group, Panels, absent, groups_of, listed, part
from tensor_rnns.drawing.layout import lines_of, panels
from tensor_rnns.drawing.series import BANDS, Line, epoch_lengths, lines, summary, thinned
from tensor_rnns.drawing.spec import AXIS, Axis, Column, Columns, Lines, RunsSpec
from tensor_rnns.drawing.style import DASHED, SOLID
from tensor_rnns.experiments.records import Artefact

Drawn = Mapping[tuple[Hashable, ...], Sequence[Line]]
FEW = 10
"""Up to so many replicas each has its own thin line."""
LEGEND_COLUMNS = 3


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
    """The axis of time, in updates or in epochs."""

    unit: Literal["update", "epoch"] = "update"


TIME, RUNNING = TimeAxis(), Running()


@dataclass(frozen=True, kw_only=True)
class Spec(RunsSpec):
    """Curves over updates or epochs, one panel per value of a column."""

    kind: ClassVar[str | None] = "train"
    panels: Column | None = None
    colour: Columns = "variant"
    measure: Running = RUNNING
    also: Also | None = None
    """A second value, dashed."""
    centre: Literal["mean", "median"] | None = None
    band: Literal["none", "quantiles", "range"] | None = None
    """Left out, none for few replicas and quartiles for many."""
    lines: Lines = ()
    x: TimeAxis = TIME
    y: Axis = AXIS


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where no row of the curves is left to draw."""
    spec = Spec.of(artefact)
    colour = listed(spec.colour)
    keys = [*listed(spec.panels), *colour]
    rows = data.with_settings(_rows(data, artefact.id, spec, spec.measure), keys)
    also = data.with_settings(_rows(data, artefact.id, spec, spec.also), keys) if spec.also else rows[:0]
    pace, unit, unknown = _pace(data, spec, rows)
    cut = Panels.of(data, rows, spec.panels, spec.labels)
    groups = _groups(data, rows, cut, colour, spec)
    beside, left_out = same_settings(data.printed(artefact, keys), data, rows)
    handles = [group.handle for group in groups.values()]
    handles += [dashed_handle(spec.also.label or spec.also.split)] if spec.also else []
    handles += handles_of(beside) + level_handles(spec.lines)
    limit = BEYOND * max(line.updates[-1] for line in lines(rows, data.runs, 1, pace) if len(line.updates))

    def drawn(table: pd.DataFrame, value: Any, width: int) -> Drawn:
        here = cut.rows(table, value)
        return {name: lines(part(here, colour, name), data.runs, width, pace) for name in groups}

    ours = [drawn(rows, value, spec.measure.width) for value in cut.values]
    remarks = data.remark_line(rows)
    notes = [*absent(data, rows, spec), *left_out, *beyond(beside, limit, unit), *unknown]
    notes += [*_outside(spec, cut.titles, groups, ours), *_explained(spec, groups)]
    sheet = panels(cut.titles, remarks, notes, lines_of(len(handles), LEGEND_COLUMNS))
    x, y = spec.x.labelled(f"{unit}s"), spec.y.labelled(spec.measure.of)
    texts = [f"Curves of {y.label} against {unit}s."]
    for axis, value, title, mine in zip(sheet.axes, cut.values, cut.titles, ours, strict=True):
        ends = []
        for name, group in groups.items():
            if mine[name]:
                end = _draw_group(axis, mine[name], group, spec, y.scale == "log")
                ends.append(f"{group.title} ends at {end:.3g} ({group.count(value)})")
        for name, found in drawn(also, value, spec.also.width if spec.also else 1).items():
            _draw_also(axis, found, groups[name], spec)
        draw_points(axis, beside, cut, value, colour, groups, limit)
        draw_levels(axis, spec.lines, spec, data, cut, value)
        sheet.dress(axis, x, y)
        texts.append(f"{title + ': ' if title else ''}{'; '.join(ends)}.")
    return sheet.finish([*texts, *remarks], handles, LEGEND_COLUMNS)


def _groups(
    data: ArtefactData, rows: pd.DataFrame, cut: Panels, colour: list[str], spec: Spec
) -> dict[tuple[Hashable, ...], Group]:
    """The groups of one colour with their counts; solid where a second value is dashed."""
    groups = groups_of(data, rows, colour, spec.labels)
    for name, group in groups.items():
        group.look |= {"linestyle": SOLID} if spec.also else {}
        for value in cut.values:
            found = lines(cut.rows(part(rows, colour, name), value), data.runs, 1)
            if found:
                group.counts[value] = (len(found), sum(line.failed for line in found))
    return groups


def _rows(data: ArtefactData, artefact: str, spec: Spec, value: Also) -> pd.DataFrame:
    """The rows of the curves of one logged value among those that the artefact chooses."""
    rows = data.chosen(data.curves, spec.where)
    rows = rows[(rows["split"] == value.split) & (rows["name"] == value.of)]
    if rows.empty:
        raise ValueError(f"{artefact}: no curve of {value} among the rows chosen by {spec.where}")
    return rows


def _pace(data: ArtefactData, spec: Spec, rows: pd.DataFrame) -> tuple[Mapping[tuple, float], str, list[str]]:
    """(updates of a unit by replica, the unit of the axis, one note where epochs were asked for and are not
    known)."""
    if spec.x.unit == "update":
        return {}, "update", []
    pace = epoch_lengths(data, rows)
    if pace is None:
        return {}, "update", ["Less than an epoch was run: against updates, not epochs."]
    return pace, "epoch", []


def _draw_group(axis: Axes, found: Sequence[Line], group: Group, spec: Spec, log: bool) -> float:
    """Draw the lines, centre and band of one group; the last value of the centre."""
    centre, band = _manner(spec, len(found))
    drawn = [line for line in found if len(line.updates)]
    if not drawn:
        return float("nan")
    colour = group.look["color"]
    for line in drawn:
        updates, values = thinned(line.updates, line.values)
        if 1 < len(drawn) <= FEW and band == "none":
            axis.plot(updates, values, color=colour, linewidth=0.5, alpha=0.45)
        if line.failed:
            # A white cross below the coloured one keeps it apart from the lines that it lies on.
            for shade, size, width in (("white", 8, 3.0), (colour, 7, 1.5)):
                axis.plot(updates[-1:], values[-1:], "x", color=shade, markersize=size,
                          markeredgewidth=width, zorder=7)  # fmt: skip
    whole = summary(drawn, centre, band)
    updates, middle, low, high = thinned(whole.updates, whole.centre, whole.low, whole.high)
    if band != "none" and len(drawn) > 1:
        low = np.where(low > 0, low, np.nan) if log else low
        axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, middle, markevery=max(1, len(updates) // 6), zorder=3, **group.look)
    return float(middle[-1])


def _outside(
    spec: Spec, titles: Sequence[str], groups: Mapping[tuple[Hashable, ...], Group],
    drawn: Sequence[Drawn],
) -> list[str]:  # fmt: skip
    """One note naming, panel by panel, the groups of which no line has a point within `y.limits`."""
    if not spec.y.limits:
        return []
    low, high = spec.y.limits
    said = []
    for title, panel in zip(titles, drawn, strict=True):
        values = {
            name: np.concatenate([line.values for line in some]) for name, some in panel.items() if some
        }
        out = [groups[name].title for name, v in values.items() if not ((low <= v) & (v <= high)).any()]
        if out:
            said.append(", ".join(out) + (f" ({title})" if title else ""))
    return [f"Outside the axis: {'; '.join(said)}."] if said else []


def _draw_also(axis: Axes, found: Sequence[Line], group: Group, spec: Spec) -> None:
    """The centre of the second value of one group, thin and dashed."""
    centre, _ = _manner(spec, len(found))
    drawn = [line for line in found if len(line.updates)]
    if drawn:
        whole = summary(drawn, centre, "none")
        updates, middle = thinned(whole.updates, whole.centre)
        axis.plot(updates, middle, color=group.look["color"], linestyle=DASHED, linewidth=0.9, zorder=2.5)


def _manner(spec: Spec, n: int) -> tuple[str, str]:
    """Centre and band of n replicas: as the artefact asks, else no band for few and quartiles for many."""
    band = spec.band or ("none" if n <= FEW else "quantiles")
    return spec.centre or ("mean" if band == "range" else "median"), band


def _explained(spec: Spec, groups: Mapping[tuple[Hashable, ...], Group]) -> list[str]:
    """One note on what line, band and cross are."""
    most = max(n for group in groups.values() for n, _ in group.counts.values())
    centre, band = _manner(spec, most)
    said = [f"bold: {centre} of the seeds", BANDS[band]] if most > 1 else []
    if spec.measure.width > 1:
        said.append(f"running mean over {spec.measure.width:g} updates")
    if any(failed for group in groups.values() for _, failed in group.counts.values()):
        said.append("cross: a failed seed's last finite value")
    return ["; ".join(said).capitalize() + "."] if said else []
