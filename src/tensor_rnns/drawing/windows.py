"""Computed numbers against their index: windows of weights, theory, spectra; several panels and series.

Every computed number is drawn: a window may be one spike, which thinning would lose.
"""

from dataclasses import dataclass
from typing import ClassVar

import pandas as pd
from matplotlib.figure import Figure

from tensor_rnns.declared import Invalid
from tensor_rnns.drawing.beside import level_handles, stroke
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import lines_of, panels
from tensor_rnns.drawing.named import Panel, Series, handles_of, looks_of, numbers_of
from tensor_rnns.drawing.spec import AXIS, Axis, Level
from tensor_rnns.drawing.spec import Spec as Common
from tensor_rnns.experiments.records import Artefact
from tensor_rnns.experiments.selector import Rows


@dataclass(frozen=True)
class NamedSeries(Series):
    """One line; the name of its numbers may be left out where the item has one."""

    name: str | None = None

    @property
    def title(self) -> str:
        """What the series is called in the legend."""
        return self.label or self.name or self.item


@dataclass(frozen=True)
class NamedPanel(Panel):
    """One panel of lines."""

    series: tuple[NamedSeries, ...]


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


def draw(data: ArtefactData, artefact: Artefact) -> Figure:
    """The figure of `artefact` from the computed rows; ValueError where an item or name was not computed."""
    spec = Spec.of(artefact)
    wanted = spec.panels or _all_panels(data.chosen(data.computed, spec.where))
    if not wanted:
        raise ValueError(f"{artefact.id}: nothing computed to draw")
    looks = looks_of(wanted)
    handles = handles_of(looks) + level_handles(spec.lines)
    columns = min(3, len(looks))
    remarks = data.remark_line(data.computed)
    titles = [panel.title for panel in wanted]
    sheet = panels(
        titles, remarks, [], lines_of(len(handles), columns), columns=2 if len(wanted) in (2, 4) else 3,
        share_y=spec.share_y,
    )  # fmt: skip
    x, y = spec.x.labelled("step"), spec.y.labelled("value")
    texts = [f"{y.label} against {x.label}."]
    for axis, panel, title in zip(sheet.axes, wanted, titles, strict=True):
        ends = []
        for series in panel.series:
            index, values = numbers_of(data.computed, artefact.id, series.item, series.name)
            axis.plot(index, values, markevery=(0, max(1, len(index) // 5)), **looks[series.title])
            ends.append(f"{series.title} from {values[0]:.3g} to {values[-1]:.3g}")
        for number, line in enumerate(spec.lines):
            axis.axhline(float(line.value), zorder=1, **stroke(number))
        sheet.dress(axis, x, y)
        texts.append(f"{title + ': ' if title else ''}{'; '.join(ends)}.")
    return sheet.finish([*texts, *remarks], handles, columns)


def _all_panels(computed: pd.DataFrame) -> list[NamedPanel]:
    """A panel for each item and a series for each name, in the order of the rows."""
    return [
        NamedPanel(tuple(NamedSeries(item, name=name) for name in rows["name"].unique()), item)
        for item, rows in computed.groupby("item", sort=False)
    ]
