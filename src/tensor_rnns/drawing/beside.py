"""What stands beside our curves: the papers' points and values, and levels such as the task's baseline."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tensor_rnns.drawing.data import ArtefactData, setting_of
from tensor_rnns.drawing.groups import Cut, Group
from tensor_rnns.drawing.spec import Level, Lines, listed
from tensor_rnns.drawing.style import DASHED, PAPER
from tensor_rnns.experiments.records import KEY

BEYOND = 5
"""The papers' points are drawn up to so many times our last update."""
LEVELS = ((0, (7, 3)), (0, (1, 2)), (0, (6, 2, 1, 2, 1, 2)))
"""Line styles of the levels that `lines` asks for."""
HOLLOW: Mapping[str, Any] = {
    "linestyle": (0, (4, 2)), "linewidth": 0.9, "markerfacecolor": "white", "markeredgewidth": 0.9,
}  # fmt: skip
"""How points of the papers are drawn."""
LEVEL: Mapping[str, Any] = {"color": PAPER, "linestyle": (0, (2, 2)), "linewidth": 0.8}
"""How a number of the paper that belongs to no point is drawn."""
BLACK: Mapping[str, Any] = {"color": PAPER, "marker": "o"}
"""The look of what belongs to no group of ours."""
POINTS = {"authors_log": "authors' log", "literature": "quoted"}
"""What a legend calls points that are not printed in the paper."""
Entry = Mapping[str, Any]
"""A number of the paper, or a series of them, with its place; see `experiments.tables.entries`."""


def points_of(entry: Entry) -> list[tuple[float, float]]:
    """A series of the paper in the order of its updates."""
    return sorted((float(x), float(value)) for x, value in entry["points"].items())


def draw_points(axis: Axes, entries: Sequence[Entry], cut: Cut, panel: Any, limit: float) -> None:
    """Draw the papers' points up to `limit`, hollow and dashed, and a single value as a dashed level.

    They have the colour and marker of the group that they name; else they are black.
    """
    for entry in entries:
        if entry.get(cut.spec.panels, panel) != panel:
            continue
        own = own_look(cut.groups.get(tuple(entry.get(key) for key in listed(cut.spec.colour))))
        if "points" in entry:
            near = np.array([pair for pair in points_of(entry) if pair[0] <= limit]).reshape(-1, 2)
            axis.plot(near[:, 0], near[:, 1], zorder=5, **HOLLOW | own)
        else:
            axis.axhline(float(entry["value"]), **LEVEL | {"color": own["color"]})


def own_look(group: Group | None) -> Mapping[str, Any]:
    """Colour and marker of the group that a value of the paper belongs to; black for none."""
    return {key: group.look[key] for key in BLACK} if group else BLACK


def same_settings(
    entries: Sequence[Entry], data: ArtefactData, rows: pd.DataFrame
) -> tuple[list[Entry], list[str]]:
    """The entries of the papers that no setting keeps from standing beside `rows`, and a note on the others.

    An entry may name settings by their dotted names, such as `training.learning_rate`; where no row has them
    all, its points are of another protocol.
    """
    drawn = rows[list(KEY)].drop_duplicates().itertuples(index=False, name=None)
    settings = [data.runs[key].settings for key in drawn]

    def fits(entry: Entry) -> bool:
        asked = {key: value for key, value in entry.items() if "." in key}
        return any(all(setting_of(own, key) == value for key, value in asked.items()) for own in settings)

    kept = [entry for entry in entries if fits(entry)]
    lost = len(kept) < len(entries)
    return kept, ["Published points with other settings are not drawn."] * lost


def beyond(entries: Sequence[Entry], limit: float, unit: str) -> list[str]:
    """One note where points of the papers lie so far beyond our updates that they are not drawn."""
    furthest = max((points_of(entry)[-1][0] for entry in entries if "points" in entry), default=0)
    note = f"Points beside ours go on to {unit} {furthest:g} and are not all drawn."
    return [note] if furthest > limit else []


def handles_of(entries: Sequence[Entry]) -> list[Line2D]:
    """A legend entry for each source of points and for each value of the paper."""
    origins = [entry["source"] for entry in entries if "points" in entry]
    sources = dict.fromkeys(POINTS.get(origin, "paper") for origin in origins)
    levels = [f"paper: {float(entry['value']):g}" for entry in entries if "points" not in entry]
    points = [Line2D([], [], label=source, **HOLLOW | BLACK) for source in sources]
    return points + [Line2D([], [], label=label, **LEVEL) for label in levels]


def columns_of(entry: Entry, rows: pd.DataFrame) -> list[str]:
    """The keys of an entry of the paper that are columns of `rows`, the number itself left out."""
    return [key for key in entry if key in rows.columns and key not in ("value", "failed", "name")]


def belongs(entry: Entry, rows: pd.DataFrame, measure: Mapping[str, Any]) -> bool:
    """Whether an entry of the paper is about all of `rows` and of this measure.

    Its keys that are columns of `rows`, at least one, must hold the one value that these have.
    """
    keys = columns_of(entry, rows)
    same = entry["measure"] == measure and bool(keys) and len(rows) > 0
    return same and all((rows[key] == entry[key]).all() for key in keys)


def stroke(number: int) -> dict[str, Any]:
    """How level or line number `number` of `lines` is drawn."""
    return {"color": "#444444", "linestyle": LEVELS[number % len(LEVELS)], "linewidth": 0.9}


def legend(cut: Cut, dashed: str | None, paper: Sequence[Line2D]) -> list[Line2D]:
    """The entries of the legend: groups, the second value of each, the marks of the paper, levels."""
    style: Mapping[str, Any] = {"color": "#444444", "linewidth": 0.9, "linestyle": DASHED}
    second = [Line2D([], [], label=f"dashed: {dashed}", **style)] if dashed else []
    groups = [group.handle for group in cut.groups.values()]
    return [*groups, *second, *paper, *level_handles(cut.spec.lines)]


def level_handles(lines: Lines) -> list[Line2D]:
    """The entries of the legend for the levels of an artefact."""
    labels = [entry.label if isinstance(entry, Level) else "baseline" for entry in lines]
    return [Line2D([], [], label=label, **stroke(number)) for number, label in enumerate(labels)]


def draw_levels(axis: Axes, lines: Lines, baseline: float | None = None, upright: bool = False) -> None:
    """Draw the levels of `lines` in one panel, `upright` where the numbers run along x."""
    for number, entry in enumerate(lines):
        level = entry.value if isinstance(entry, Level) else baseline
        if level is not None:
            (axis.axvline if upright else axis.axhline)(float(level), zorder=1, **stroke(number))
