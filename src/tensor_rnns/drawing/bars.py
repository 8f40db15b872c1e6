"""One number a replica, put together by group: a bar or a dot a group, every seed, the paper's value beside.

Keys of the artefact: `panels` (column), `groups` (columns, down the side; default variant), `colour` (column;
default variant), `measure`, `where`, `mark` (bar or dot), `lines` (`task_baseline` or {value, label}), `x`
({scale, label, limits}), `labels`.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import belongs, draw_levels
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent, groups_of, listed, names_of, part, title_of
from tensor_rnns.drawing.layout import dress, panels, put_legend
from tensor_rnns.drawing.numbers import EXPLAINED, Total, numbers, total
from tensor_rnns.drawing.style import PAPER
from tensor_rnns.experiments.records import Artefact

MARKS = ("bar", "dot")
KEYS = {
    "panels": (), "groups": (), "colour": (), "measure": (), "where": (), "mark": (),
    "lines": ("value", "label"), "x": ("scale", "label", "limits"), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
LETTERS = 24
"""A name at the side breaks after so many letters."""
ROOM = 0.2
"""So much of a panel's width is kept at its right for the numbers of replicas."""
ROW, LETTER = 0.21, 0.063
"""Inches of a row, and of a letter at the side."""


@dataclass(frozen=True)
class Row:
    """One bar: where it stands, what stands at the side of it and of those below, its look, its replicas."""

    height: float
    middle: float
    title: str
    look: Mapping[str, Any]
    keys: Mapping[str, Any]


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where no replica has the measure, or bars could not begin at 0."""
    spec, mark = artefact.spec, artefact.spec.get("mark", "bar")
    _check(artefact.id, mark, spec.get("x") or {})
    panel_key, sides = spec.get("panels"), listed(spec.get("groups"), "variant")
    colour = listed(spec.get("colour"), "variant")
    rows = numbers(data, artefact, spec.get("measure"), [*listed(panel_key), *sides, *colour])
    places = data.ordered(panel_key, list(rows[panel_key].unique())) if panel_key else [None]
    lines = _lines(data, rows, sides, colour, spec.get("labels"))
    entries = data.printed(artefact, [*listed(panel_key), *sides, *colour])
    handles = _legend(data, rows, sides, colour, spec, mark, bool(entries))
    columns = min(3, max(1, len(handles)))
    remarks = data.remark_line(rows)
    here = {place: rows if place is None else rows[rows[panel_key] == place] for place in places}
    cells = {
        (place, line.height): part(here[place], list(line.keys), list(line.keys.values()))
        for place in places for line in lines
    }  # fmt: skip
    titles = [data.title(panel_key, place, spec.get("labels")) if panel_key else "" for place in places]
    letters = max(max(map(len, line.title.split("\n"))) for line in lines)
    extra = len(spec.get("lines", ()))
    notes = [*absent(data, rows, spec), *_notes(rows, entries, spec["measure"], cells.values())]
    figure, axes, bottom = panels(
        titles, remarks, notes, -(-(len(handles) + extra) // columns) if handles or extra else 0,
        height=0.15 + ROW * (lines[-1].height + 1), left=0.35 + LETTER * letters,
    )  # fmt: skip
    told = []
    for axis, place, title in zip(axes, places, titles, strict=True):
        drawn = []
        for line in lines:
            mine = cells[place, line.height]
            if len(mine):
                found = total(mine)
                _draw_row(axis, line, mine, found, mark)
                said = _draw_paper(axis, line, mine, entries, spec["measure"])
                drawn.append(f"{_told(data, line, spec)} {found.text}{said}")
        handles += draw_levels(axis, spec, data, panel_key, place, handles, upright=True)
        dress(axis, {"label": _what(spec)} | (spec.get("x") or {}), {})
        if "limits" not in (spec.get("x") or {}) and axis.get_xscale() == "linear":
            low, high = axis.get_xlim()
            axis.set_xlim(low, high + ROOM * (high - low))
        axis.set_yticks(
            [line.middle for line in lines if line.title], [line.title for line in lines if line.title]
        )
        axis.set_ylim(lines[-1].height + 0.6, lines[0].height - 0.6)
        axis.grid(axis="y", visible=False)
        told.append(f"{title + ': ' if title else ''}{'; '.join(drawn)}.")
    if handles:
        put_legend(figure, handles, columns, bottom)
    figure.set_label(" ".join([f"{_what(spec)} by {', '.join(sides)}.", *told, *remarks]))
    return figure


def _check(artefact: str, mark: str, x: Mapping[str, Any]) -> None:
    """ValueError for another mark, and for bars on an axis without 0."""
    if mark not in MARKS:
        raise ValueError(f"{artefact}: mark is {mark!r}; allowed are {', '.join(MARKS)}")
    low, high = x.get("limits", (0, 0))
    if mark == "bar" and (x.get("scale", "linear") != "linear" or not low <= 0 <= high):
        raise ValueError(f"{artefact}: bars begin at 0, which x = {dict(x)} leaves out; take mark: dot")


def _what(spec: Mapping[str, Any]) -> str:
    """What the axis of the numbers is called."""
    measure = spec["measure"]
    return str((spec.get("x") or {}).get("label") or measure.get("of") or measure["name"])


def _lines(
    data: ArtefactData,
    rows: pd.DataFrame,
    sides: list[str],
    colour: list[str],
    labels: Mapping[Any, str] | None,
) -> list[Row]:
    """The rows of the figure from above; those of one name at the side stand together."""
    looks = groups_of(data, rows, colour, labels)
    found, height = [], -1.0
    for name in names_of(data, rows, sides):
        height += 0.0 if set(colour) <= set(sides) else 0.35
        mine = part(rows, sides, name)
        own_names = names_of(data, mine, colour)
        middle = height + (len(own_names) + 1) / 2
        for position, own in enumerate(own_names):
            height += 1
            title = textwrap.fill(title_of(data, sides, name, labels), LETTERS) if position == 0 else ""
            keys = dict(zip(sides, name, strict=True)) | dict(zip(colour, own, strict=True))
            found.append(Row(height, middle, title, looks[own].look, keys))
    return found


def _told(data: ArtefactData, line: Row, spec: Mapping[str, Any]) -> str:
    """A row in words."""
    return title_of(data, list(line.keys), list(line.keys.values()), spec.get("labels"))


def _legend(
    data: ArtefactData, rows: pd.DataFrame, sides: list[str], colour: list[str], spec: Mapping[str, Any],
    mark: str, paper: bool,
) -> list[Line2D]:  # fmt: skip
    """What the colours mean where the names at the side do not say it, and the paper's mark."""
    handles = []
    if not set(colour) <= set(sides):
        for group in groups_of(data, rows, colour, spec.get("labels")).values():
            shape = {"marker": "s", "markersize": 7} if mark == "bar" else {"marker": group.look["marker"]}
            handles.append(
                Line2D([], [], color=group.look["color"], linestyle="", label=group.title, **shape)
            )
    if paper:
        handles.append(Line2D([], [], color=PAPER, linestyle="", marker="d", label="paper",
                              markerfacecolor="white"))  # fmt: skip
    return handles


def _draw_row(axis: Axes, line: Row, mine: pd.DataFrame, found: Total, mark: str) -> None:
    """The bar or dot of one group, its interval, a dot a seed and a cross a failed one; n at the right."""
    colour = line.look["color"]
    if np.isfinite(found.mean):
        if mark == "bar":
            axis.barh(line.height, found.mean, 0.72, color=colour, alpha=0.4, linewidth=0, zorder=2)
        else:
            axis.plot([found.mean], [line.height], line.look["marker"], color=colour, markersize=6, zorder=4)
    if np.isfinite(found.low):
        axis.plot([found.low, found.high], [line.height] * 2, color=colour, linewidth=1.6, zorder=3)
    finite = mine[np.isfinite(mine["value"].to_numpy(float))].sort_values("seed")
    heights = line.height + np.linspace(-0.22, 0.22, len(finite)) if len(finite) > 1 else [line.height]
    for failed, shape in ((False, "o"), (True, "x")):
        chosen = (finite["failed"] == failed).to_numpy()
        if chosen.any() and (failed or len(finite) > 1):
            axis.plot(finite["value"].to_numpy(float)[chosen], np.asarray(heights)[chosen], shape, zorder=5,
                      color=colour, markersize=3 if failed else 2.2, markerfacecolor="white",
                      markeredgewidth=0.7)  # fmt: skip
    told = f"n = {found.n}" + (f", {found.failed} failed" if found.failed else "")
    told += f", {found.never} never" if found.never else ""
    axis.annotate(told, (1, line.height), xycoords=("axes fraction", "data"), va="center", ha="right",
                  fontsize=6, color="#444444", zorder=6)  # fmt: skip


def _draw_paper(
    axis: Axes, line: Row, mine: pd.DataFrame, entries: list[dict[str, Any]], measure: Mapping[str, Any]
) -> str:
    """The paper's values of one row; what the description says of them."""
    values = [float(entry["value"]) for entry in entries if belongs(entry, mine, measure)]
    if values:
        axis.plot(values, [line.height] * len(values), "d", color=PAPER, markerfacecolor="white", zorder=7)
    return f", paper {', '.join(f'{value:g}' for value in values)}" if values else ""


def _notes(
    rows: pd.DataFrame,
    entries: list[dict[str, Any]],
    measure: Mapping[str, Any],
    cells: Iterable[pd.DataFrame],
) -> list[str]:
    """What the marks are, and how many values of the paper belong to none of the `cells` that ran."""
    ran = [cell for cell in cells if len(cell)]
    told = [EXPLAINED] if rows["seed"].nunique() > 1 else []
    told += ["Cross: a failed seed's last finite value."] if rows["failed"].any() else []
    lost = sum(not any(belongs(entry, cell, measure) for cell in ran) for entry in entries)
    told += [f"{lost} of the paper's {len(entries)} values belong to what was not run."] if lost else []
    return [" ".join(told)] if told else []
