"""Curves against updates: a panel a condition, a colour a variant, the papers' points beside ours.

Keys of the artefact: `panels` and `colour` (columns; `colour` may be a list), `where`, `measure` (`running`
with `width`, `of`, `split`), `centre` (mean or median), `band` (quantiles, range, none), `beside` (ids of
`paper_values`), `lines` (`task_baseline` or {value, label}), `x`, `y` ({scale, label, limits}), `labels`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from tensor_rnns.drawing.beside import BEYOND, beyond, draw_levels, draw_points, handles_of
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import panels, put_legend
from tensor_rnns.drawing.series import BANDS, CENTRES, Line, lines, summary, thinned, width_of
from tensor_rnns.drawing.style import look
from tensor_rnns.experiments.records import Artefact

FEW = 10
"""Up to so many replicas each has its own thin line."""
MEASURES = ("running",)
KEYS = {
    "panels": (), "colour": (), "where": (), "measure": ("name", "width", "of", "split"), "centre": (),
    "band": (), "beside": (), "lines": ("value", "label"), "x": ("scale", "label"),
    "y": ("scale", "label", "limits"), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""


@dataclass
class Group:
    """The replicas of one colour: their title, their look, and how many there are in each panel."""

    title: str
    look: dict[str, Any]
    counts: dict[Any, tuple[int, int]]

    @property
    def legend(self) -> str:
        """The title with n and the number of failed replicas."""
        sizes = sorted({n for n, _ in self.counts.values()})
        n = f"{sizes[0]}" if len(sizes) == 1 else f"{sizes[0]}–{sizes[-1]}"
        failed = sum(failed for _, failed in self.counts.values())
        return f"{self.title} (n = {n}{f', {failed} failed' if failed else ''})"


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where no row of the curves is left to draw."""
    spec = artefact.spec
    rows, measure = _rows(data, artefact)
    panel_key, colour = spec.get("panels"), spec.get("colour", "variant")
    colour = [colour] if isinstance(colour, str) else list(colour)
    places = data.ordered(panel_key, rows[panel_key].unique()) if panel_key else [None]
    groups = _groups(data, rows, panel_key, colour, spec.get("labels"))
    beside = {name: data.experiment.paper_values[name] for name in spec.get("beside", ())}
    handles = [Line2D([], [], label=group.legend, **group.look) for group in groups.values()]
    handles += handles_of(beside)
    log = (spec.get("y") or {}).get("scale") == "log"
    looks = {name: group.look for name, group in groups.items()}
    limit = BEYOND * float(rows["update"].max())
    remarks = ["; ".join(data.remarks(rows))] if data.remarks(rows) else []
    notes = [*_missing(data, spec, rows, panel_key), *beyond(beside, limit), *_explained(spec, groups)]
    titles = [data.title(panel_key, place, spec.get("labels")) if panel_key else "" for place in places]
    legend_columns = 3
    extra = sum(not isinstance(entry, str) or "baseline" in entry for entry in spec.get("lines", ()))
    figure, axes, bottom = panels(
        titles, remarks, notes, -(-(len(handles) + extra) // legend_columns), height=_height(places)
    )
    told = []
    for axis, place, title in zip(axes, places, titles, strict=True):
        part = rows if place is None else rows[rows[panel_key] == place]
        ends = []
        for name, group in groups.items():
            mine = part[(part[colour] == list(name)).all(axis=1)]
            if len(mine):
                found = lines(mine, data.runs, width_of(measure))
                end = _draw_group(axis, found, group, spec, log)
                ends.append(f"{group.title} ends at {end:.3g} ({_count(*group.counts[place])})")
        draw_points(axis, beside, panel_key, place, colour, looks, limit)
        handles += draw_levels(axis, spec, data, panel_key, place, handles)
        _dress(axis, spec, measure, first=axis is axes[0] or axis.get_subplotspec().is_first_col(), log=log)
        told.append(f"{title + ': ' if title else ''}{'; '.join(ends)}.")
    put_legend(figure, handles, legend_columns, bottom)
    what = (spec.get("y") or {}).get("label", measure.get("of", "loss"))
    figure.set_label(" ".join([f"Curves of {what} against updates.", *told, *remarks]))
    return figure


def _rows(data: ArtefactData, artefact: Artefact) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """The rows of the curves that the artefact draws, and its measure."""
    measure = dict(artefact.spec.get("measure") or {"name": "running", "width": 1})
    if measure["name"] not in MEASURES:
        raise ValueError(
            f"{artefact.id}: curves draw no {measure['name']!r}; allowed measures: {', '.join(MEASURES)}"
        )
    rows = data.chosen(data.curves, artefact.spec.get("where"))
    rows = rows[
        (rows["split"] == measure.get("split", "train")) & (rows["name"] == measure.get("of", "loss"))
    ]
    if rows.empty:
        raise ValueError(
            f"{artefact.id}: no curve of {measure} among the rows chosen by {artefact.spec.get('where')}"
        )
    return rows, measure


def _groups(
    data: ArtefactData,
    rows: pd.DataFrame,
    panel_key: str | None,
    colour: list[str],
    labels: Mapping[str, str] | None,
) -> dict[tuple, Group]:
    """The groups of one colour in the order of the experiment file."""
    values = {key: data.ordered(key, rows[key].unique()) for key in colour}
    names = sorted(
        rows[colour].drop_duplicates().itertuples(index=False, name=None),
        key=lambda name: [values[key].index(value) for key, value in zip(colour, name, strict=True)],
    )
    cells = []
    for name in names:
        mine = rows[(rows[colour] == list(name)).all(axis=1)]
        cells.append(data.cell(str(mine["variant"].iloc[0])))
    groups = {}
    for place, (name, cell) in enumerate(zip(names, cells, strict=True)):
        mine = rows[(rows[colour] == list(name)).all(axis=1)]
        counts = {}
        for panel in mine[panel_key].unique() if panel_key else [None]:
            found = lines(mine if panel is None else mine[mine[panel_key] == panel], data.runs, 1)
            counts[panel] = (len(found), sum(line.failed for line in found))
        title = ", ".join(data.title(key, value, labels) for key, value in zip(colour, name, strict=True))
        groups[name] = Group(title, look(cell, cells[:place].count(cell), cells.count(cell)), counts)
    return groups


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


def _dress(axis: Axes, spec: Mapping[str, Any], measure: Mapping[str, Any], first: bool, log: bool) -> None:
    """Scales, limits and labels of one panel."""
    x, y = spec.get("x") or {}, spec.get("y") or {}
    axis.set_xscale(x.get("scale", "linear"))
    axis.set_yscale("log" if log else y.get("scale", "linear"))
    axis.set_xlabel(x.get("label", "updates"))
    if x.get("scale", "linear") == "linear":
        axis.xaxis.set_major_locator(MaxNLocator(5))
    if first:
        axis.set_ylabel(y.get("label", measure.get("of", "loss")))
    if "limits" in y:
        axis.set_ylim(*y["limits"])


def _missing(
    data: ArtefactData, spec: Mapping[str, Any], rows: pd.DataFrame, panel_key: str | None
) -> list[str]:
    """One note that names the conditions and variants that the artefact asks for and that were not run."""
    absent = []
    for key in ("condition", "variant"):
        asked = (spec.get("where") or {}).get(key, "all")
        asked = list(data.experiment.block(f"{key}s")) if asked == "all" else asked
        asked = asked if isinstance(asked, list | tuple) else [asked]
        ran = set(rows[key])
        absent += [data.title(key, name, spec.get("labels")) for name in asked if name not in ran]
    return [f"Not run at this scale: {', '.join(absent)}."] if absent else []


def _manner(spec: Mapping[str, Any], n: int) -> tuple[str, str]:
    """Centre and band of n replicas: as the artefact asks, else no band for few and quartiles for many."""
    band = spec.get("band") or ("none" if n <= FEW else "quantiles")
    centre = spec.get("centre") or ("mean" if band == "range" else "median")
    for word, allowed in ((centre, CENTRES), (band, BANDS)):
        if word not in allowed:
            raise ValueError(f"{word!r} is neither centre nor band; allowed are {', '.join(allowed)}")
    return centre, band


def _explained(spec: Mapping[str, Any], groups: Mapping[tuple, Group]) -> list[str]:
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


def _count(n: int, failed: int) -> str:
    return f"n = {n}" + (f", {failed} failed" if failed else "")


def _height(places: list) -> float:
    return 2.4 if len(places) == 1 else 1.9
