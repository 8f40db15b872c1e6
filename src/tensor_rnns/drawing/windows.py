"""Computed numbers against their index: windows of weights, theory, spectra; several panels and series.

Every computed number is drawn: a window may be one spike, which thinning would lose.

Keys of the artefact: `panels` (a list of {title, series}; a series is {item, name, label, cell}; `name` may
be left out where the item has one name), or nothing: then each item is a panel and each name a series. `x`,
`y` ({scale, label, limits}), `lines` ({value, label}), `share_y`.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import dress, panels, put_legend
from tensor_rnns.drawing.style import look, plain
from tensor_rnns.experiments.records import Artefact

KEYS = {
    "panels": ("title", "series"), "panels.series": ("item", "name", "label", "cell"), "where": (),
    "lines": ("value", "label"), "x": ("scale", "label", "limits"), "y": ("scale", "label", "limits"),
    "share_y": (),
}  # fmt: skip
"""The keys that are read, and below each those of its mappings; () where any may stand."""


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact` from the computed rows; ValueError where an item or name was not computed."""
    spec = artefact.spec
    wanted = spec.get("panels") or _all_panels(data.chosen(data.computed, spec.get("where")))
    if not wanted:
        raise ValueError(f"{artefact.id}: nothing computed to draw")
    looks: dict[str, dict[str, Any]] = {}
    for panel in wanted:
        for series in panel["series"]:
            _look(looks, series)
    remarks = data.remark_line(data.computed)
    columns = min(3, len(looks))
    lines = spec.get("lines", ())
    figure, axes, bottom = panels(
        [str(panel.get("title", "")) for panel in wanted],
        remarks, [], -(-(len(looks) + len(lines)) // columns),
        height=2.4 if len(wanted) == 1 else 1.9, columns=2 if len(wanted) in (2, 4) else 3,
        share_y=bool(spec.get("share_y", True)),
    )  # fmt: skip
    told = []
    x, y = spec.get("x") or {}, spec.get("y") or {}
    for axis, panel in zip(axes, wanted, strict=True):
        ends = []
        for series in panel["series"]:
            index, values = _values(data.computed, artefact.id, series)
            axis.plot(index, values, markevery=(0, max(1, len(index) // 5)), **looks[_label(series)])
            ends.append(f"{_label(series)} from {values[0]:.3g} to {values[-1]:.3g}")
        for line in lines:
            axis.axhline(float(line["value"]), color="#444444", linestyle="-.", linewidth=0.9, zorder=1)
        dress(axis, {"label": "step"} | x, {"label": "value"} | y)
        told.append(f"{panel.get('title', '')}: {'; '.join(ends)}.".lstrip(": "))
    handles = [Line2D([], [], label=label, **style) for label, style in looks.items()]
    handles += [
        Line2D([], [], label=str(line["label"]), color="#444444", linestyle="-.", linewidth=0.9)
        for line in lines
    ]
    put_legend(figure, handles, columns, bottom)
    figure.set_label(
        " ".join([f"{y.get('label', 'Value')} against {x.get('label', 'step')}.", *told, *remarks])
    )
    return figure


def _all_panels(computed: pd.DataFrame) -> list[dict[str, Any]]:
    """A panel for each item and a series for each name, in the order of the rows."""
    return [
        {
            "title": item,
            "series": [{"item": item, "name": name, "label": name} for name in rows["name"].unique()],
        }
        for item, rows in computed.groupby("item", sort=False)
    ]


def _label(series: Mapping[str, Any]) -> str:
    return str(series.get("label") or series.get("name") or series["item"])


def _look(looks: dict[str, dict[str, Any]], series: Mapping[str, Any]) -> None:
    """Give the label of `series` a look, the same in all panels."""
    label, place = _label(series), len(looks)
    if label in looks:
        return
    if "cell" in series:
        looks[label] = look(str(series["cell"]))
    else:
        looks[label] = plain(place)


def _values(
    computed: pd.DataFrame, artefact: str, series: Mapping[str, Any]
) -> tuple[Sequence[float], Sequence[float]]:
    """Index and value of one series, sorted by index."""
    rows = computed[computed["item"] == series["item"]]
    if "name" in series:
        rows = rows[rows["name"] == series["name"]]
    if rows.empty or rows["name"].nunique() > 1:
        have = sorted(
            {f"{item}/{name}" for item, name in zip(computed["item"], computed["name"], strict=True)}
        )
        raise ValueError(
            f"{artefact}: the series {dict(series)} is not one computed item/name; computed: {have[:20]}"
        )
    rows = rows.sort_values("index")
    return rows["index"].to_numpy(float), rows["value"].to_numpy(float)
