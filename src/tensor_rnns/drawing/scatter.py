"""One number against another, a point an index: what a probe found in units, or a computed table.

Keys of the artefact: `probe`, `replica` and `where` (none of them for a computed experiment), `x` and `y`
({name, scale, label, limits}: the names of the two numbers), `panels` (a list of {title, series}; a series is
{item, label, cell}; without panels each item is one), `lines` ({from: [x, y], to: [x, y], label}), `labels`.
Axes with the same `limits` have the same scale.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import LEVELS
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import dress, panels, put_legend
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.style import look, plain
from tensor_rnns.experiments.records import Artefact

KEYS = {
    "probe": (), "replica": ("seed", "best", "measure"), "where": (), "panels": ("title", "series"),
    "panels.series": ("item", "label", "cell"), "x": ("name", "scale", "label", "limits"),
    "y": ("name", "scale", "label", "limits"), "lines": ("from", "to", "label"), "labels": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""
COLUMNS, LEGEND_COLUMNS = 3, 4
POINT = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.6}


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where an item does not have both numbers."""
    spec = artefact.spec
    sources, rows, rule = _sources(data, artefact)
    wanted = spec.get("panels") or [{"title": "", "series": [{"item": item} for item in _items(sources)]}]
    blocks = [(table, title, panel) for title, table in sources for panel in wanted]
    looks: dict[str, dict[str, Any]] = {}
    for panel in wanted:
        for series in panel["series"]:
            label = _label(series)
            own = look(str(series["cell"])) if "cell" in series else plain(len(looks))
            looks.setdefault(label, own | POINT)
    lines = spec.get("lines", ())
    handles = [Line2D([], [], label=label, markersize=4, **style) for label, style in looks.items()]
    handles += [Line2D([], [], label=str(line["label"]), **_stroke(place)) for place, line in enumerate(lines)
                if "label" in line]  # fmt: skip
    remarks = data.remark_line(rows)
    notes = [*(absent(data, rows, spec) if "variant" in rows else []), *([rule] if rule else [])]
    titles = [
        ", ".join(part for part in (title, str(panel.get("title", ""))) if part) for _, title, panel in blocks
    ]
    columns = 2 if len(blocks) in (2, 4) else COLUMNS
    figure, axes, bottom = panels(
        titles,
        remarks,
        notes,
        -(-len(handles) // LEGEND_COLUMNS),
        height=2.6 if len(blocks) < 3 else 1.9,
        columns=columns,
    )
    told = []
    for axis, (table, _, panel), title in zip(axes, blocks, titles, strict=True):
        said = []
        for series in panel["series"]:
            x, y = (
                _numbers(table, series["item"], spec[axis_name]["name"], artefact.id) for axis_name in "xy"
            )
            if len(x) != len(y):
                sizes = f"{series['item']} has {len(x)} and {len(y)} numbers"
                raise ValueError(f"{artefact.id}: {sizes}; allowed are pairs")
            style = looks[_label(series)]
            axis.plot(x, y, markersize=3, clip_on=False, **style)
            said.append(f"{_label(series)}: {len(x)} points around ({np.median(x):.3g}, {np.median(y):.3g})")
        for place, line in enumerate(lines):
            ends = np.array([line["from"], line["to"]], dtype=float)
            axis.plot(*ends.T, zorder=1, **_stroke(place))
        dress(axis, _axis(spec["x"]), _axis(spec["y"]))
        if spec["x"].get("limits") and spec["x"]["limits"] == spec["y"].get("limits"):
            axis.set_aspect("equal")
        told.append(f"{title + ': ' if title else ''}{'; '.join(said)}.")
    put_legend(figure, handles, LEGEND_COLUMNS, bottom)
    what = f"{_axis(spec['y'])['label']} against {_axis(spec['x'])['label']}; medians of each group."
    figure.set_label(" ".join([what, *told, *([rule] if rule else []), *remarks]))
    return figure


def _sources(
    data: ArtefactData, artefact: Artefact
) -> tuple[list[tuple[str, pd.DataFrame]], pd.DataFrame, str]:
    """((title, table) of each block, the rows that remarks are about, the rule that chose the replicas)."""
    if "probe" in artefact.spec:
        choice = chosen(data, artefact)
        return [(one.title, one.rows) for one in choice.shown], choice.rows, choice.rule
    if data.computed.empty:
        raise ValueError(f"{artefact.id}: nothing computed to draw")
    return [("", data.computed)], data.computed, ""


def _items(sources: list[tuple[str, pd.DataFrame]]) -> list[str]:
    """Every item of the tables, in their order."""
    return list(dict.fromkeys(item for _, table in sources for item in table["item"]))


def _numbers(table: pd.DataFrame, item: str, name: str, artefact: str) -> np.ndarray:
    """The numbers of one item and name, by index."""
    rows = table[(table["item"] == item) & (table["name"] == name)].sort_values("index")
    if rows.empty:
        have = sorted({f"{item}/{name}" for item, name in zip(table["item"], table["name"], strict=True)})
        raise ValueError(f"{artefact}: no {name} of {item}; there are {have[:20]}")
    return rows["value"].to_numpy(float)


def _label(series: Mapping[str, Any]) -> str:
    return str(series.get("label") or series["item"])


def _axis(block: Mapping[str, Any]) -> dict[str, Any]:
    """An axis, called like its number where the artefact gives it no label."""
    return {"label": str(block["name"])} | {key: value for key, value in block.items() if key != "name"}


def _stroke(place: int) -> dict[str, Any]:
    """How line number `place` is drawn."""
    return {"color": "#444444", "linestyle": LEVELS[place % len(LEVELS)], "linewidth": 0.9}
