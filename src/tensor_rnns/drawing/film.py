"""Arrays over time as a film: one map per step, which the SVG file shows one after another, over and over.

All maps lie on one another; a picture that does not move, as in print or where a reader asks for less
motion, shows the last one. Below them a bar grows with time.
"""

from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from tensor_rnns.declared import Positive
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.layout import Sheet
from tensor_rnns.drawing.replica import NUMBERS, chosen
from tensor_rnns.drawing.spec import ProbeSpec
from tensor_rnns.drawing.style import BLUE, frame

MAP, BAR = 1.1, 0.12
"""Inches of a map and of the bar."""


@dataclass(frozen=True, kw_only=True)
class Spec(ProbeSpec):
    """Maps [rows, columns] over time of the `array` [T, rows, columns], `seconds` each."""

    array: str
    rows: str = "rows"
    columns: str = "columns"
    seconds: Positive = 0.25


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError for an absent array or one of another shape."""
    choice = chosen(data, spec)
    films = [shown.array(spec.array, NUMBERS, (3,), "maps [T, rows, columns]") for shown in choice.shown]
    largest = max(float(np.abs(film).max()) for film in films) or 1.0
    titles = [shown.title for shown in choice.shown]
    notes = choice.notes(f"Blue to red: -{largest:.3g} to {largest:.3g}. In print: the last step.")
    made = Sheet(titles, [MAP, BAR], choice.remarks, notes, columns=2)
    for title, film, axes in zip(titles, films, made.blocks, strict=True):
        _draw_film(axes, film, largest, spec)
        made.say(title, [f"{len(film)} maps of {film.shape[1]} rows and {film.shape[2]} columns"])
    return made.finish("A film.", choice.rule)


def _draw_film(axes: list[Axes], film: np.ndarray, largest: float, spec: Spec) -> None:
    """The maps on one another, and the bar."""
    steps, rows = film.shape[:2]
    above, below = axes
    for t, values in enumerate(film):
        gid = frame(t, steps, spec.seconds)
        above.imshow(values, cmap="RdBu_r", vmin=-largest, vmax=largest, aspect="auto", origin="lower",
                     interpolation="none", extent=(0, steps, 0.5, rows + 0.5), gid=gid)  # fmt: skip
        below.barh([0], [t + 1], color=BLUE, gid=gid)
    for axis in axes:
        axis.grid(visible=False)
        axis.tick_params(labelbottom=axis is below)
    above.set(xticks=[], ylabel=spec.rows)
    above.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    below.set(yticks=[], xlim=(0, steps), xlabel=f"above: {spec.columns}; bar: step")
