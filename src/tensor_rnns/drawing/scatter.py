"""One number against another, a point an index: what a probe found in units, or a computed table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.drawing.beside import stroke
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import absent
from tensor_rnns.drawing.layout import lines_of, panels
from tensor_rnns.drawing.named import Panel, Series, handles_of, looks_of, numbers_of
from tensor_rnns.drawing.replica import chosen
from tensor_rnns.drawing.spec import Axis, ProbeSpec
from tensor_rnns.experiments.records import Artefact

COLUMNS, LEGEND_COLUMNS = 3, 4
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


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact`; ValueError where an item does not have both numbers."""
    spec = Spec.of(artefact, data.experiment.kind)
    sources, rows, rule = _sources(data, artefact.id, spec)
    items = dict.fromkeys(item for _, table in sources for item in table["item"])
    wanted = spec.panels or [Panel(tuple(map(Series, items)))]
    blocks = [(table, panel) for _, table in sources for panel in wanted]
    titles = [", ".join(filter(None, (title, panel.title))) for title, _ in sources for panel in wanted]
    looks = looks_of(wanted, **POINT)
    lines = list(enumerate(spec.lines))
    handles = handles_of({label: style | {"markersize": 4} for label, style in looks.items()})
    handles += [Line2D([], [], label=line.label, **stroke(k)) for k, line in lines if line.label]
    remarks = data.remark_line(rows)
    notes = [*(absent(data, rows, spec) if "variant" in rows else []), *([rule] if rule else [])]
    x, y = spec.x.labelled(spec.x.name), spec.y.labelled(spec.y.name)
    sheet = panels(
        titles, remarks, notes, lines_of(len(handles), LEGEND_COLUMNS),
        columns=2 if len(blocks) in (2, 4) else COLUMNS, height=2.6 if len(blocks) < 3 else 1.9,
    )  # fmt: skip
    texts = [f"{y.label} against {x.label}; medians of each group."]
    for axis, (table, panel), title in zip(sheet.axes, blocks, titles, strict=True):
        said = [_draw_series(axis, table, series, spec, looks, artefact.id) for series in panel.series]
        for number, line in lines:
            axis.plot(*np.array([line.from_, line.to], dtype=float).T, zorder=1, **stroke(number))
        sheet.dress(axis, x, y)
        if x.limits and x.limits == y.limits:
            axis.set_aspect("equal")
        texts.append(f"{title + ': ' if title else ''}{'; '.join(said)}.")
    return sheet.finish([*texts, rule, *remarks], handles, LEGEND_COLUMNS)


def _draw_series(
    axis: Axes, table: pd.DataFrame, series: Series, spec: Spec,
    looks: Mapping[str, Mapping[str, Any]], artefact: str,
) -> str:  # fmt: skip
    """The points of one item; what the description says of them."""
    x, y = (numbers_of(table, artefact, series.item, number.name)[1] for number in (spec.x, spec.y))
    if len(x) != len(y):
        raise ValueError(f"{artefact}: {series.item} has {len(x)} and {len(y)} numbers; allowed are pairs")
    axis.plot(x, y, markersize=3, clip_on=False, **looks[series.title])
    return f"{series.title}: {len(x)} points around ({np.median(x):.3g}, {np.median(y):.3g})"


def _sources(
    data: ArtefactData, artefact: str, spec: Spec
) -> tuple[Sequence[tuple[str, pd.DataFrame]], pd.DataFrame, str]:
    """((title, table) of each block, the rows that remarks are about, the rule that chose the replicas)."""
    if spec.probe is not None:
        choice = chosen(data, artefact, spec)
        return [(shown.title, shown.rows) for shown in choice.shown], choice.rows, choice.rule
    if data.computed.empty:
        raise ValueError(f"{artefact}: nothing computed to draw")
    return [("", data.computed)], data.computed, ""
