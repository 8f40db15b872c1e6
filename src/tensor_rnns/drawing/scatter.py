"""One number against another, a point an index: what a probe found in units, or a computed table.

Keys of the artefact: `probe`, `replica` and `where` (none of them for a computed experiment), `x` and `y`
({name, scale, label, limits}: the names of the two numbers), `panels` (a list of {title, series}; a series is
{item, label, cell}; without panels each item is one), `lines` ({from: [x, y], to: [x, y], label}), `labels`.
Axes with the same `limits` have the same scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import stroke
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import lines_of, panels
from tensor_rnns.drawing.named import handles_of, label_of, looks_of, numbers_of
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.spec import Axis, Chosen, Labels
from tensor_rnns.drawing.spec import Spec as Common
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.experiments.selector import Selector

COLUMNS, LEGEND_COLUMNS = 3, 4
POINT: Mapping[str, Any] = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.6}


@dataclass(frozen=True, kw_only=True)
class NumberAxis(Axis):
    """An axis of the numbers of that name."""

    name: str


@dataclass(frozen=True)
class Series:
    """Points of one look."""

    item: str
    label: str | None = None
    cell: str | None = None


@dataclass(frozen=True)
class Panel:
    """One panel."""

    series: tuple[Series, ...]
    title: str = ""


@dataclass(frozen=True)
class Segment:
    """A straight line between two points."""

    from_: tuple[float, float]
    to: tuple[float, float]
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(Common):
    """One number over another, of a probe's items or of a computed table's."""

    x: NumberAxis
    y: NumberAxis
    probe: str | None = None
    replica: Chosen | None = None
    where: Selector | None = None
    panels: tuple[Panel, ...] = ()
    lines: tuple[Segment, ...] = ()
    labels: Labels | None = None


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where an item does not have both numbers."""
    spec = artefact.spec
    sources, rows, rule = _sources(data, artefact)
    items = dict.fromkeys(item for _, table in sources for item in table["item"])
    wanted = spec.get("panels") or [{"title": "", "series": [{"item": item} for item in items]}]
    blocks = [(table, panel) for _, table in sources for panel in wanted]
    titles = [", ".join(filter(None, (title, str(panel.get("title", "")))))
              for title, _ in sources for panel in wanted]  # fmt: skip
    looks = looks_of(wanted, **POINT)
    lines = list(enumerate(spec.get("lines", ())))
    handles = handles_of({label: style | {"markersize": 4} for label, style in looks.items()})
    handles += [Line2D([], [], label=str(line["label"]), **stroke(k)) for k, line in lines if "label" in line]
    remarks = data.remark_line(rows)
    notes = [*(absent(data, rows, spec) if "variant" in rows else []), *([rule] if rule else [])]
    x, y = _axis(spec["x"]), _axis(spec["y"])
    sheet = panels(
        titles, remarks, notes, lines_of(len(handles), LEGEND_COLUMNS),
        columns=2 if len(blocks) in (2, 4) else COLUMNS, height=2.6 if len(blocks) < 3 else 1.9,
    )  # fmt: skip
    texts = [f"{y['label']} against {x['label']}; medians of each group."]
    for axis, (table, panel), title in zip(sheet.axes, blocks, titles, strict=True):
        said = [_draw_series(axis, table, series, spec, looks, artefact.id) for series in panel["series"]]
        for number, line in lines:
            axis.plot(*np.array([line["from"], line["to"]], dtype=float).T, zorder=1, **stroke(number))
        sheet.dress(axis, x, y)
        if x.get("limits") and x["limits"] == y.get("limits"):
            axis.set_aspect("equal")
        texts.append(f"{title + ': ' if title else ''}{'; '.join(said)}.")
    return sheet.finish([*texts, rule, *remarks], handles, LEGEND_COLUMNS)


def _draw_series(
    axis: Axes, table: pd.DataFrame, series: Mapping[str, Any], spec: Mapping[str, Any],
    looks: Mapping[str, Mapping[str, Any]], artefact: str,
) -> str:  # fmt: skip
    """The points of one item; what the description says of them."""
    x, y = (numbers_of(table, artefact, series["item"], spec[key]["name"])[1] for key in "xy")
    if len(x) != len(y):
        raise ValueError(f"{artefact}: {series['item']} has {len(x)} and {len(y)} numbers; allowed are pairs")
    axis.plot(x, y, markersize=3, clip_on=False, **looks[label_of(series)])
    return f"{label_of(series)}: {len(x)} points around ({np.median(x):.3g}, {np.median(y):.3g})"


def _sources(
    data: ArtefactData, artefact: Artefact
) -> tuple[Sequence[tuple[str, pd.DataFrame]], pd.DataFrame, str]:
    """((title, table) of each block, the rows that remarks are about, the rule that chose the replicas)."""
    if "probe" in artefact.spec:
        choice = chosen(data, artefact)
        return [(shown.title, shown.rows) for shown in choice.shown], choice.rows, choice.rule
    if data.computed.empty:
        raise ValueError(f"{artefact.id}: nothing computed to draw")
    return [("", data.computed)], data.computed, ""


def _axis(block: Mapping[str, Any]) -> dict[str, Any]:
    """An axis, called like its number where the artefact gives it no label."""
    return {"label": str(block["name"])} | {key: value for key, value in block.items() if key != "name"}
