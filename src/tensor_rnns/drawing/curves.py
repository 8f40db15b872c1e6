"""Curves against updates or epochs: a panel a condition, a colour a variant, the papers' points beside ours.

Keys of the artefact: `panels` and `colour` (columns; `colour` may be a list), `where`, `measure`
(`running` with `width`, `of`, `split`), `also` (a second logged value, dashed: `of`, `split`, `width`,
`label`), `centre` (mean or median), `band` (quantiles, range, none), `lines` (`task_baseline` or
{value, label}), `x` ({scale, label, limits, unit}), `y` ({scale, label, limits}), `labels`.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import BEYOND, beyond, draw_levels, draw_points, handles_of, same_settings
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Group, absent, groups_of, listed, part
from tensor_rnns.drawing.layout import dress, panels, put_legend
from tensor_rnns.drawing.series import BANDS, CENTRES, Line, epoch_lengths, lines, summary, thinned, width_of
from tensor_rnns.drawing.style import DASHED, SOLID
from tensor_rnns.experiments.records import Artefact

FEW = 10
"""Up to so many replicas each has its own thin line."""
MEASURES = ("running",)
UNITS = ("update", "epoch")
KEYS = {
    "panels": (), "colour": (), "where": (), "measure": ("name", "width", "of", "split"),
    "also": ("of", "split", "width", "label"), "centre": (), "band": (),
    "lines": ("value", "label"), "x": ("scale", "label", "limits", "unit"),
    "y": ("scale", "label", "limits"), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
LEGEND_COLUMNS = 3


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where no row of the curves is left to draw."""
    spec = artefact.spec
    measure = _measure(artefact)
    panel_key, colour = spec.get("panels"), listed(spec.get("colour"), "variant")
    keys = [*listed(panel_key), *colour]
    rows = data.with_settings(_rows(data, artefact, measure), keys)
    also = data.with_settings(_rows(data, artefact, spec["also"]), keys) if "also" in spec else None
    pace, unit, unknown = _pace(data, spec, rows)
    places = data.ordered(panel_key, list(rows[panel_key].unique())) if panel_key else [None]
    groups = groups_of(data, rows, colour, spec.get("labels"))
    for name, group in groups.items():
        group.look |= {} if also is None else {"linestyle": SOLID}
        mine = part(rows, colour, name)
        for panel in mine[panel_key].unique() if panel_key else [None]:
            found = lines(mine if panel is None else mine[mine[panel_key] == panel], data.runs, 1)
            group.counts[panel] = (len(found), sum(line.failed for line in found))
    beside, left_out = same_settings(data.printed(artefact, keys), data, rows)
    handles = [Line2D([], [], label=group.legend, **group.look) for group in groups.values()]
    if also is not None:
        handles.append(
            Line2D([], [], color="#444444", linewidth=0.9, linestyle=DASHED, label=_also_label(spec))
        )
    handles += handles_of(beside)
    log = (spec.get("y") or {}).get("scale") == "log"
    limit = BEYOND * max(
        float(line.updates[-1]) for line in lines(rows, data.runs, 1, pace) if len(line.updates)
    )
    titles = [data.title(panel_key, place, spec.get("labels")) if panel_key else "" for place in places]
    drawn = [
        {
            name: lines(_chosen(rows, panel_key, place, colour, name), data.runs, width_of(measure), pace)
            for name in groups
        }
        for place in places
    ]
    remarks = data.remark_line(rows)
    notes = [
        *absent(data, rows, spec),
        *left_out,
        *beyond(beside, limit, unit),
        *unknown,
        *_outside(spec, titles, groups, drawn),
        *_explained(spec, groups),
    ]
    extra = sum(not isinstance(entry, str) or "baseline" in entry for entry in spec.get("lines", ()))
    figure, axes, bottom = panels(
        titles, remarks, notes, -(-(len(handles) + extra) // LEGEND_COLUMNS),
        height=2.4 if len(places) == 1 else 1.9,
    )  # fmt: skip
    looks = {name: group.look for name, group in groups.items()}
    told = []
    for axis, place, title, mine in zip(axes, places, titles, drawn, strict=True):
        ends = []
        for name, group in groups.items():
            if mine[name]:
                end = _draw_group(axis, mine[name], group, spec, log)
                ends.append(f"{group.title} ends at {end:.3g} ({group.count(place)})")
            if also is not None:
                second = _chosen(also, panel_key, place, colour, name)
                _draw_also(axis, lines(second, data.runs, width_of(spec["also"]), pace), group, spec)
        draw_points(axis, beside, panel_key, place, colour, looks, limit)
        handles += draw_levels(axis, spec, data, panel_key, place, handles)
        y = {"label": measure.get("of", "loss")} | (spec.get("y") or {})
        dress(axis, {"label": f"{unit}s"} | (spec.get("x") or {}), y)
        told.append(f"{title + ': ' if title else ''}{'; '.join(ends)}.")
    put_legend(figure, handles, LEGEND_COLUMNS, bottom)
    what = (spec.get("y") or {}).get("label", measure.get("of", "loss"))
    figure.set_label(" ".join([f"Curves of {what} against {unit}s.", *told, *remarks]))
    return figure


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


def _chosen(
    rows: pd.DataFrame, panel_key: str | None, place: Any, colour: list[str], name: tuple[Hashable, ...]
) -> pd.DataFrame:
    """The rows of one group in one panel."""
    return part(rows if place is None else rows[rows[panel_key] == place], colour, name)


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


def _draw_group(axis: Axes, found: list[Line], group: Group, spec: Mapping[str, Any], log: bool) -> float:
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
            axis.plot(
                updates[-1:], values[-1:], "x", color="white", markersize=8, markeredgewidth=3, zorder=6
            )
            axis.plot(
                updates[-1:], values[-1:], "x", color=colour, markersize=7, markeredgewidth=1.5, zorder=7
            )
    whole = summary(drawn, centre, band)
    updates, middle, low, high = thinned(whole.updates, whole.centre, whole.low, whole.high)
    if band != "none" and len(drawn) > 1:
        low = np.where(low > 0, low, np.nan) if log else low
        axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, middle, markevery=max(1, len(updates) // 6), zorder=3, **group.look)
    return float(middle[-1])


def _outside(
    spec: Mapping[str, Any],
    titles: list[str],
    groups: Mapping[tuple[Hashable, ...], Group],
    drawn: list[dict[tuple[Hashable, ...], list[Line]]],
) -> list[str]:
    """One note naming, panel by panel, the groups of which no line has a point within `y.limits`."""
    if "limits" not in (spec.get("y") or {}):
        return []
    low, high = spec["y"]["limits"]
    told = []
    for title, panel in zip(titles, drawn, strict=True):
        values = {
            name: np.concatenate([line.values for line in found]) for name, found in panel.items() if found
        }
        out = [
            groups[name].title for name, some in values.items() if not ((low <= some) & (some <= high)).any()
        ]
        if out:
            told.append(", ".join(out) + (f" ({title})" if title else ""))
    return [f"Outside the axis: {'; '.join(told)}."] if told else []


def _draw_also(axis: Axes, found: list[Line], group: Group, spec: Mapping[str, Any]) -> None:
    """The centre of the second value of one group, thin and dashed."""
    centre, _ = _manner(spec, len(found))
    drawn = [line for line in found if len(line.updates)]
    if drawn:
        whole = summary(drawn, centre, "none")
        updates, middle = thinned(whole.updates, whole.centre)
        axis.plot(updates, middle, color=group.look["color"], linestyle=DASHED, linewidth=0.9, zorder=2.5)


def _also_label(spec: Mapping[str, Any]) -> str:
    also = spec["also"]
    return f"dashed: {also.get('label') or also.get('split', 'train')}"


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
    told = [f"bold: {centre} of the seeds", BANDS[band]] if most > 1 else []
    width = width_of(spec.get("measure") or {})
    if width > 1:
        told.append(f"running mean over {width:g} updates")
    if any(failed for group in groups.values() for _, failed in group.counts.values()):
        told.append("cross: a failed seed's last finite value")
    return ["; ".join(told).capitalize() + "."] if told else []
