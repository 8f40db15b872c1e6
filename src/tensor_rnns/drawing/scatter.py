"""One number against another, a point an index: what a probe found in units, or a computed table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import stroke
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.replica import Choice, chosen
from tensor_rnns.drawing.spec import Axis, ProbeSpec
from tensor_rnns.drawing.windows import Panel, Series, handles_of, looks_of, numbers_of

LEGEND_COLUMNS = 4
POINT: Mapping[str, Any] = {"linestyle": "", "markerfacecolor": "none", "markeredgewidth": 0.6}


@dataclass(frozen=True, kw_only=True)
class NumberAxis(Axis):
    """An axis of the numbers of that name."""

    name: str


@dataclass(frozen=True)
class Segment:
    """A straight line between two points."""

    from_: tuple[float, float]
    to: tuple[float, float]
    label: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(ProbeSpec):
    """One number over another, of a probe's items or, without `probe`, of a computed table's.

    Without `panels` one shows all items; axes with the same `limits` have the same scale.
    """

    kind: ClassVar[str | None] = None
    x: NumberAxis
    y: NumberAxis
    probe: str | None = None
    panels: tuple[Panel, ...] = ()
    lines: tuple[Segment, ...] = ()


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where an item does not have both numbers."""
    choice = chosen(data, spec) if spec.probe else Choice((), data.remark_line(data.computed))
    tables = [(shown.title, shown.rows) for shown in choice.shown] or [("", data.computed)]
    items = dict.fromkeys(item for _, table in tables for item in table["item"])
    wanted = spec.panels or [Panel(tuple(map(Series, items)))]
    blocks = [(table, panel) for _, table in tables for panel in wanted]
    titles = [", ".join(filter(None, (title, panel.title))) for title, _ in tables for panel in wanted]
    looks = looks_of(wanted, **POINT)
    handles = handles_of({label: style | {"markersize": 4} for label, style in looks.items()})
    lines = [(line, stroke(number)) for number, line in enumerate(spec.lines)]
    handles += [Line2D([], [], label=line.label, **style) for line, style in lines if line.label]
    sheet = panels(
        titles, choice.remarks, choice.notes(), handles, LEGEND_COLUMNS,
        columns=2 if len(blocks) in (2, 4) else 3, height=2.6 if len(blocks) < 3 else 1.9,
    )  # fmt: skip
    x, y = spec.x.labelled(spec.x.name), spec.y.labelled(spec.y.name)
    for axis, (table, panel), title in zip(sheet.axes, blocks, titles, strict=True):
        said = [_draw_series(axis, table, series, spec, looks[series.title]) for series in panel.series]
        for line, style in lines:
            axis.plot(*np.array([line.from_, line.to], dtype=float).T, zorder=1, **style)
        sheet.dress(axis, x, y)
        if x.limits and x.limits == y.limits:
            axis.set_aspect("equal")
        sheet.say(title, said)
    return sheet.finish(f"{y.label} against {x.label}; medians of each group.", choice.rule)


def _draw_series(axis: Axes, table: pd.DataFrame, series: Series, spec: Spec, look: Mapping[str, Any]) -> str:
    """The points of one item; what the description says of them."""
    x, y = (numbers_of(table, series.item, number.name)[1] for number in (spec.x, spec.y))
    if len(x) != len(y):
        raise ValueError(f"{series.item} has {len(x)} and {len(y)} numbers; allowed are pairs")
    axis.plot(x, y, markersize=3, clip_on=False, **look)
    return f"{series.title}: {len(x)} points around ({np.median(x):.3g}, {np.median(y):.3g})"
