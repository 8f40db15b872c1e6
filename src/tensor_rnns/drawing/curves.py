"""Curves against updates or epochs: one panel per condition, one colour per variant, the papers' points.

Keys of the artefact: `panels` and `colour` (columns; `colour` may be a list), `where`, `measure`
(`running` with `width`, `of`, `split`), `also` (a second logged value, dashed: `of`, `split`, `width`,
`label`), `centre` (mean or median), `band` (quantiles, range, none), `lines` (`task_baseline` or
{value, label}), `x` ({scale, label, limits, unit}), `y` ({scale, label, limits}), `labels`.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.analysis.kinds import Split
from tensor_rnns.drawing.beside import (
    BEYOND,
    beyond,
    draw_levels,
    draw_points,
    handles_of,
    level_handles,
    same_settings,
)  # fmt: skip
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Group, Panels, absent, groups_of, listed, part
from tensor_rnns.drawing.layout import lines_of, panels
from tensor_rnns.drawing.series import BANDS, CENTRES, Line, epoch_lengths, lines, summary, thinned, width_of
from tensor_rnns.drawing.spec import AXIS, Axis, Column, Columns, Lines, RunsSpec
from tensor_rnns.drawing.style import DASHED, SOLID
from tensor_rnns.experiments.records import Artefact

Drawn = Mapping[tuple[Hashable, ...], Sequence[Line]]
FEW = 10
"""Up to so many replicas each has its own thin line."""
MEASURES = ("running",)
UNITS = ("update", "epoch")
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


TIME = TimeAxis()


@dataclass(frozen=True, kw_only=True)
class Spec(RunsSpec):
    """Curves over updates or epochs, one panel per value of a column."""

    kind: ClassVar[str | None] = "train"
    panels: Column | None = None
    colour: Columns = "variant"
    measure: Running | None = None
    also: Also | None = None
    centre: Literal["mean", "median"] = "mean"
    band: Literal["none", "quantiles", "range"] = "none"
    lines: Lines = ()
    x: TimeAxis = TIME
    y: Axis = AXIS


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where no row of the curves is left to draw."""
    spec, measure = artefact.spec, _measure(artefact)
    colour = listed(spec.get("colour"), "variant")
    keys = [*listed(spec.get("panels")), *colour]
    rows = data.with_settings(_rows(data, artefact, measure), keys)
    also = data.with_settings(_rows(data, artefact, spec["also"]), keys) if "also" in spec else rows[:0]
    pace, unit, unknown = _pace(data, spec, rows)
    cut = Panels.of(data, rows, spec)
    groups = _groups(data, rows, cut, colour, spec)
    beside, left_out = same_settings(data.printed(artefact, keys), data, rows)
    handles = [group.handle for group in groups.values()] + _also_handle(spec)
    handles += handles_of(beside) + level_handles(spec)
    limit = BEYOND * max(line.updates[-1] for line in lines(rows, data.runs, 1, pace) if len(line.updates))

    def drawn(table: pd.DataFrame, value: Any, width: int) -> Drawn:
        here = cut.rows(table, value)
        return {name: lines(part(here, colour, name), data.runs, width, pace) for name in groups}

    ours = [drawn(rows, value, width_of(measure)) for value in cut.values]
    remarks = data.remark_line(rows)
    notes = [*absent(data, rows, spec), *left_out, *beyond(beside, limit, unit), *unknown]
    notes += [*_outside(spec, cut.titles, groups, ours), *_explained(spec, groups)]
    sheet = panels(cut.titles, remarks, notes, lines_of(len(handles), LEGEND_COLUMNS))
    y = {"label": measure.get("of", "loss")} | (spec.get("y") or {})
    texts = [f"Curves of {y['label']} against {unit}s."]
    for axis, value, title, mine in zip(sheet.axes, cut.values, cut.titles, ours, strict=True):
        ends = []
        for name, group in groups.items():
            if mine[name]:
                end = _draw_group(axis, mine[name], group, spec, y.get("scale") == "log")
                ends.append(f"{group.title} ends at {end:.3g} ({group.count(value)})")
        for name, found in drawn(also, value, width_of(spec.get("also") or {})).items():
            _draw_also(axis, found, groups[name], spec)
        draw_points(axis, beside, cut, value, colour, groups, limit)
        draw_levels(axis, spec, data, cut, value)
        sheet.dress(axis, {"label": f"{unit}s"} | (spec.get("x") or {}), y)
        texts.append(f"{title + ': ' if title else ''}{'; '.join(ends)}.")
    return sheet.finish([*texts, *remarks], handles, LEGEND_COLUMNS)


def _groups(
    data: ArtefactData, rows: pd.DataFrame, cut: Panels, colour: list[str], spec: Mapping[str, Any]
) -> dict[tuple[Hashable, ...], Group]:
    """The groups of one colour with their counts; solid where a second value is dashed."""
    groups = groups_of(data, rows, colour, spec.get("labels"))
    for name, group in groups.items():
        group.look |= {"linestyle": SOLID} if "also" in spec else {}
        for value in cut.values:
            found = lines(cut.rows(part(rows, colour, name), value), data.runs, 1)
            if found:
                group.counts[value] = (len(found), sum(line.failed for line in found))
    return groups


def _measure(artefact: Artefact) -> Mapping[str, Any]:
    """The measure that the artefact draws; ValueError for one that curves do not know."""
    measure = dict(artefact.spec.get("measure") or {"name": "running", "width": 1})
    if measure["name"] not in MEASURES:
        raise ValueError(
            f"{artefact.id}: curves draw no {measure['name']!r}; allowed measures: {', '.join(MEASURES)}"
        )
    return measure


def _rows(data: ArtefactData, artefact: Artefact, measure: Mapping[str, Any]) -> pd.DataFrame:
    """The rows of the curves of one logged value among those that the artefact chooses."""
    rows = data.chosen(data.curves, artefact.spec.get("where"))
    rows = rows[
        (rows["split"] == measure.get("split", "train")) & (rows["name"] == measure.get("of", "loss"))
    ]
    if rows.empty:
        where = artefact.spec.get("where")
        raise ValueError(f"{artefact.id}: no curve of {dict(measure)} among the rows chosen by {where}")
    return rows


def _pace(
    data: ArtefactData, spec: Mapping[str, Any], rows: pd.DataFrame
) -> tuple[Mapping[tuple, float], str, list[str]]:
    """(updates of a unit by replica, the unit of the axis, one note where epochs were asked for and are not
    known)."""
    unit = (spec.get("x") or {}).get("unit", "update")
    if unit not in UNITS:
        raise ValueError(f"x.unit is {unit!r}; allowed are {', '.join(UNITS)}")
    if unit == "update":
        return {}, unit, []
    pace = epoch_lengths(data, rows)
    if pace is None:
        return {}, "update", ["Less than an epoch was run: against updates, not epochs."]
    return pace, unit, []


def _draw_group(axis: Axes, found: Sequence[Line], group: Group, spec: Mapping[str, Any], log: bool) -> float:
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
    spec: Mapping[str, Any], titles: Sequence[str], groups: Mapping[tuple[Hashable, ...], Group],
    drawn: Sequence[Drawn],
) -> list[str]:  # fmt: skip
    """One note naming, panel by panel, the groups of which no line has a point within `y.limits`."""
    if "limits" not in (spec.get("y") or {}):
        return []
    low, high = spec["y"]["limits"]
    said = []
    for title, panel in zip(titles, drawn, strict=True):
        values = {
            name: np.concatenate([line.values for line in some]) for name, some in panel.items() if some
        }
        out = [groups[name].title for name, v in values.items() if not ((low <= v) & (v <= high)).any()]
        if out:
            said.append(", ".join(out) + (f" ({title})" if title else ""))
    return [f"Outside the axis: {'; '.join(said)}."] if said else []


def _draw_also(axis: Axes, found: Sequence[Line], group: Group, spec: Mapping[str, Any]) -> None:
    """The centre of the second value of one group, thin and dashed."""
    centre, _ = _manner(spec, len(found))
    drawn = [line for line in found if len(line.updates)]
    if drawn:
        whole = summary(drawn, centre, "none")
        updates, middle = thinned(whole.updates, whole.centre)
        axis.plot(updates, middle, color=group.look["color"], linestyle=DASHED, linewidth=0.9, zorder=2.5)


def _also_handle(spec: Mapping[str, Any]) -> list[Line2D]:
    """What the dashed lines are."""
    if "also" not in spec:
        return []
    label = f"dashed: {spec['also'].get('label') or spec['also'].get('split', 'train')}"
    return [Line2D([], [], color="#444444", linewidth=0.9, linestyle=DASHED, label=label)]


def _manner(spec: Mapping[str, Any], n: int) -> tuple[str, str]:
    """Centre and band of n replicas: as the artefact asks, else no band for few and quartiles for many."""
    band = spec.get("band") or ("none" if n <= FEW else "quantiles")
    centre = spec.get("centre") or ("mean" if band == "range" else "median")
    for word, allowed in ((centre, CENTRES), (band, BANDS)):
        if word not in allowed:
            raise ValueError(f"{word!r} is neither centre nor band; allowed are {', '.join(allowed)}")
    return centre, band


def _explained(spec: Mapping[str, Any], groups: Mapping[tuple[Hashable, ...], Group]) -> list[str]:
    """One note on what line, band and cross are."""
    most = max(n for group in groups.values() for n, _ in group.counts.values())
    centre, band = _manner(spec, most)
    said = [f"bold: {centre} of the seeds", BANDS[band]] if most > 1 else []
    width = width_of(spec.get("measure") or {})
    if width > 1:
        said.append(f"running mean over {width:g} updates")
    if any(failed for group in groups.values() for _, failed in group.counts.values()):
        said.append("cross: a failed seed's last finite value")
    return ["; ".join(said).capitalize() + "."] if said else []
