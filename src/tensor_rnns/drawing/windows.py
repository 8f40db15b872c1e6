"""Computed numbers against their index: windows of weights, theory, spectra; several panels and series.

Every computed number is drawn: a window may be one spike, which thinning would lose.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from tensor_rnns.declared import Invalid
from tensor_rnns.drawing.beside import draw_levels, level_handles
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.spec import AXIS, Axis, Level
from tensor_rnns.drawing.spec import Spec as Common
from tensor_rnns.drawing.style import look, plain
from tensor_rnns.experiments.selector import Rows


@dataclass(frozen=True)
class Series:
    """One line, or points of one look: that of `cell` where it is given."""

    item: str
    label: str | None = None
    cell: str | None = None
    name: ClassVar[str | None] = None

    @property
    def title(self) -> str:
        """What the series is called in the legend."""
        return self.label or self.name or self.item


@dataclass(frozen=True)
class Panel:
    """One panel."""

    series: tuple[Series, ...]
    title: str = ""


@dataclass(frozen=True)
class NamedSeries(Series):
    """One line; the name of its numbers may be left out where the item has one."""

    name: str | None = None  # type: ignore[misc]


@dataclass(frozen=True)
class NamedPanel(Panel):
    """One panel of lines; `x` is what its axis is called where that is not the figure's."""

    series: tuple[NamedSeries, ...]
    x: str | None = None


@dataclass(frozen=True, kw_only=True)
class Spec(Common):
    """Numbers of a computed table over their positions; without `panels` one per item, a line per name."""

    kind: ClassVar[str | None] = "compute"
    panels: tuple[NamedPanel, ...] = ()
    where: Rows | None = None
    lines: tuple[Level, ...] = ()
    x: Axis = AXIS
    y: Axis = AXIS
    share_y: bool = True

    def __post_init__(self) -> None:
        if self.panels and self.where is not None:
            raise Invalid("where", "'where' is not read beside 'panels'; name items in the series")


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure of the computed rows; ValueError where an item or name was not computed."""
    wanted = spec.panels or [
        NamedPanel(tuple(NamedSeries(item, name=name) for name in rows["name"].unique()), item)
        for item, rows in data.chosen(data.computed, spec.where).groupby("item", sort=False)
    ]
    if not wanted:
        raise ValueError("nothing computed to draw")
    looks = looks_of(wanted)
    titles = [panel.title for panel in wanted]
    sheet = panels(
        titles, data.remark_line(data.computed), [], handles_of(looks) + level_handles(spec.lines),
        min(3, len(looks)), columns=2 if len(wanted) in (2, 4) else 3, share_y=spec.share_y,
    )  # fmt: skip
    x, y = spec.x.labelled("step"), spec.y.labelled("value")
    for axis, panel, title in zip(sheet.axes, wanted, titles, strict=True):
        ends = []
        for series in panel.series:
            index, values = numbers_of(data.computed, series.item, series.name)
            axis.plot(index, values, markevery=(0, max(1, len(index) // 5)), **looks[series.title])
            ends.append(f"{series.title} from {values[0]:.3g} to {values[-1]:.3g}")
        draw_levels(axis, spec.lines)
        sheet.dress(axis, replace(x, label=panel.x or x.label), y)
        sheet.say(title, ends)
    against = list(dict.fromkeys(panel.x or x.label for panel in wanted))
    return sheet.finish(f"{y.label} against {', '.join(against)}.")


def looks_of(panels: Sequence[Panel], **more: Any) -> dict[str, dict[str, Any]]:
    """One look per title, the same in all panels: that of its cell, else the next plain one."""
    looks: dict[str, dict[str, Any]] = {}
    for series in (series for panel in panels for series in panel.series):
        own = plain(len(looks)) if series.cell is None else look(series.cell)
        looks.setdefault(series.title, own | more)
    return looks


def handles_of(looks: Mapping[str, Mapping[str, Any]]) -> list[Line2D]:
    """The entries of the legend."""
    return [Line2D([], [], label=label, **style) for label, style in looks.items()]


def numbers_of(table: pd.DataFrame, item: str, name: str | None) -> tuple[np.ndarray, np.ndarray]:
    """Index and value of one item and name by index; the name may be left out where the item has one.

    ValueError, with what there is, where the table does not have exactly that.
    """
    rows = table[(table["item"] == item) & ((table["name"] == name) | (name is None))]
    if rows["name"].nunique() != 1:
        have = sorted({f"{item}/{name}" for item, name in zip(table["item"], table["name"], strict=True)})
        raise ValueError(f"no {name or 'single name'} of {item}; there are {have[:20]}")
    rows = rows.sort_values("index")
    return rows["index"].to_numpy(float), rows["value"].to_numpy(float)
