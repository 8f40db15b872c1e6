"""One number a replica against a number: a setting such as the rank, or what a condition stands for.

Keys of the artefact: `over` (a column whose values are numbers, or any column with `values: {name: number}`),
`panels` (column), `colour` (columns; default variant), `measure`, `also` ({measure, label}: a second measure,
dashed), `where`, `lines` (`task_baseline` or {value, label}), `x` and `y` ({scale, label, limits}), `labels`.
"""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from tensor_rnns.drawing.beside import HOLLOW, belongs, columns_of, draw_levels
from tensor_rnns.drawing.data import ArtefactData, is_number
from tensor_rnns.drawing.groups import Group, absent, groups_of, listed, part
from tensor_rnns.drawing.layout import dress, panels, put_legend
from tensor_rnns.drawing.numbers import EXPLAINED, Total, numbers, total
from tensor_rnns.drawing.style import DASHED, PAPER
from tensor_rnns.experiments.records import Artefact

KEYS = {
    "over": (), "values": (), "panels": (), "colour": (), "measure": (), "also": ("measure", "label"),
    "where": (), "lines": ("value", "label"), "x": ("scale", "label", "limits"),
    "y": ("scale", "label", "limits"), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
X = "x"
"""The column of the numbers along the axis."""
TICKS = 9
"""Up to so many numbers each has its own tick."""
COLUMNS = 3
LEVEL: Mapping[str, Any] = {"color": PAPER, "linestyle": (0, (2, 2)), "linewidth": 0.8}
"""How a number of the paper that belongs to no point is drawn."""


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where a value of `over` is no number or no run has the measure."""
    spec = artefact.spec
    panel_key, colour = spec.get("panels"), listed(spec.get("colour"), "variant")
    rows = _placed(data, artefact, spec.get("measure"))
    also = _placed(data, artefact, spec["also"]["measure"]) if "also" in spec else None
    places = data.ordered(panel_key, list(rows[panel_key].unique())) if panel_key else [None]
    groups = groups_of(data, rows, colour, spec.get("labels"))
    totals = {}
    for name, group in groups.items():
        for place in places:
            mine = part(rows if place is None else rows[rows[panel_key] == place], colour, name)
            totals[name, place] = {x: total(points) for x, points in mine.groupby(X, sort=True)}
            for x, found in totals[name, place].items():
                group.counts[place, x] = (found.n, found.failed)
    entries = data.printed(artefact, [*listed(panel_key), *colour, spec["over"]])
    handles = [Line2D([], [], label=group.legend, **group.look) for group in groups.values()]
    handles += _other_handles(spec, entries, rows)
    remarks = data.remark_line(rows)
    notes = [*absent(data, rows, spec), *_notes(rows)]
    titles = [data.title(panel_key, place, spec.get("labels")) if panel_key else "" for place in places]
    figure, axes, bottom = panels(
        titles, remarks, notes, -(-(len(handles) + len(spec.get("lines", ()))) // COLUMNS),
        height=2.4 if len(places) == 1 else 1.9,
    )  # fmt: skip
    told = []
    for axis, place, title in zip(axes, places, titles, strict=True):
        here = rows if place is None else rows[rows[panel_key] == place]
        second = also if also is None or place is None else also[also[panel_key] == place]
        said = []
        for name, group in groups.items():
            mine = part(here, colour, name)
            if len(mine):
                _draw_group(axis, mine, totals[name, place], group)
                said += [f"{group.title} at {x:g}: {found.text}" for x, found in totals[name, place].items()]
            if second is not None:
                _draw_also(axis, part(second, colour, name), group)
        said += _draw_paper(axis, entries, here, groups, colour, spec["measure"])
        handles += draw_levels(axis, spec, data, panel_key, place, handles)
        dress(
            axis,
            {"label": _named(spec)} | (spec.get("x") or {}),
            {"label": _what(spec)} | (spec.get("y") or {}),
        )
        _ticks(axis, sorted(rows[X].unique()))
        told.append(f"{title + ': ' if title else ''}{'; '.join(said)}.")
    put_legend(figure, handles, COLUMNS, bottom)
    figure.set_label(" ".join([f"{_what(spec)} against {_named(spec)}.", *told, *remarks]))
    return figure


def _placed(data: ArtefactData, artefact: Artefact, measure: Any) -> pd.DataFrame:
    """The replicas with the column X, what `over` and `values` make of each."""
    spec = artefact.spec
    over = spec["over"]
    keys = [over, *listed(spec.get("panels")), *listed(spec.get("colour"), "variant")]
    rows = numbers(data, artefact, measure, keys)
    levels = spec.get("values")
    found = [value if levels is None else levels.get(value) for value in rows[over]]
    if wrong := sorted({str(name) for name, x in zip(rows[over], found, strict=True) if not is_number(x)}):
        told = (
            "give each its number under values"
            if levels is None
            else f"values has {sorted(map(str, levels))}"
        )
        raise ValueError(f"{artefact.id}: {over} is {', '.join(wrong)}, no number; {told}")
    return rows.assign(**{X: np.asarray(found, dtype=float)})


def _draw_group(axis: Axes, mine: pd.DataFrame, totals: Mapping[float, Total], group: Group) -> None:
    """Means joined by a line, an interval at each, a dot a seed and a cross a failed one."""
    colour = group.look["color"]
    xs = np.array(list(totals))
    axis.plot(xs, [found.mean for found in totals.values()], zorder=4, **group.look)
    for x, found in totals.items():
        if np.isfinite(found.low):
            axis.plot([x, x], [found.low, found.high], color=colour, linewidth=1.6, alpha=0.6, zorder=3)
    for failed, shape in ((False, "o"), (True, "x")):
        chosen = mine[(mine["failed"] == failed) & np.isfinite(mine["value"])]
        axis.plot(chosen[X], chosen["value"], shape, color=colour, markersize=4 if failed else 2, zorder=5,
                  markerfacecolor="white", markeredgewidth=0.6)  # fmt: skip


def _draw_also(axis: Axes, mine: pd.DataFrame, group: Group) -> None:
    """The means of the second measure, thin and dashed."""
    means = {x: total(points).mean for x, points in mine.groupby(X, sort=True)}
    axis.plot(list(means), list(means.values()), color=group.look["color"], linestyle=DASHED, linewidth=0.9,
              marker=group.look["marker"], markersize=3, markerfacecolor="white", zorder=2.5)  # fmt: skip


def _draw_paper(
    axis: Axes, entries: list[dict[str, Any]], here: pd.DataFrame,
    groups: Mapping[tuple[Hashable, ...], Group], colour: list[str], measure: Mapping[str, Any],
) -> list[str]:  # fmt: skip
    """The paper's points, single values and levels of one panel; what the description says of them."""
    said = []
    for entry in entries:
        own = {"color": PAPER, "marker": "o"}
        name = next((name for name in groups if belongs(entry, part(here, colour, name), measure)), None)
        own |= {key: groups[name].look[key] for key in own} if name else {}
        if "points" in entry:
            if name is None and not columns_of(entry, here):
                name = ()
            if name is not None:
                points = sorted((float(x), float(value)) for x, value in entry["points"].items())
                axis.plot(*zip(*points, strict=True), zorder=6, **HOLLOW | own)
                said += [f"paper at {x:g}: {value:g}" for x, value in points]
        elif columns_of(entry, here):
            for x, mine in here.groupby(X, sort=True):
                for part_name, some in mine.groupby(colour, sort=True):
                    if belongs(entry, some, measure):
                        own |= {key: groups[part_name].look[key] for key in own}
                        style = HOLLOW | own | {"linestyle": ""}
                        axis.plot([x], [float(entry["value"])], zorder=6, **style)
                        said.append(f"paper at {x:g}: {float(entry['value']):g}")
        else:
            axis.axhline(float(entry["value"]), **LEVEL)
            said.append(f"paper {float(entry['value']):g}")
    return said


def _other_handles(
    spec: Mapping[str, Any], entries: list[dict[str, Any]], rows: pd.DataFrame
) -> list[Line2D]:
    """What the dashed line and the paper's marks are."""
    handles = []
    if "also" in spec:
        label = f"dashed: {spec['also'].get('label') or spec['also']['measure']['name']}"
        handles.append(Line2D([], [], color="#444444", linestyle=DASHED, linewidth=0.9, label=label))
    levels = [entry for entry in entries if "value" in entry and not columns_of(entry, rows)]
    if len(levels) < len(entries):
        handles.append(Line2D([], [], label="paper", color=PAPER, marker="o", **HOLLOW))
    for entry in levels:
        handles.append(Line2D([], [], label=f"paper: {float(entry['value']):g}", **LEVEL))
    return handles


def _notes(rows: pd.DataFrame) -> list[str]:
    """What the marks are, and how many replicas never got where the measure asks."""
    told = [EXPLAINED] if rows["seed"].nunique() > 1 else []
    told += ["Cross: a failed seed's last finite value."] if rows["failed"].any() else []
    never = int((~np.isfinite(rows["value"])).sum())
    told += [f"{never} of {len(rows)} replicas never got there and are not drawn."] if never else []
    return [" ".join(told)] if told else []


def _named(spec: Mapping[str, Any]) -> str:
    """What runs along the axis."""
    return str((spec.get("x") or {}).get("label") or spec["over"].rpartition(".")[2].replace("_", " "))


def _what(spec: Mapping[str, Any]) -> str:
    """What the number is called."""
    measure = spec["measure"]
    return str((spec.get("y") or {}).get("label") or measure.get("of") or measure["name"])


def _ticks(axis: Axes, xs: list[float]) -> None:
    """A tick at each number where there are few."""
    if len(xs) <= TICKS:
        axis.xaxis.set_major_locator(FixedLocator(xs))
        axis.xaxis.set_minor_locator(NullLocator())
        axis.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
