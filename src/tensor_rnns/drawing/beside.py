"""What stands beside our curves: the papers' points and values, and levels such as the task's baseline."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from tensor_rnns.drawing.data import ArtefactData, setting_of
from tensor_rnns.drawing.style import PAPER
from tensor_rnns.experiments.records import KEY

BEYOND = 5
"""The papers' points are drawn up to so many times our last update."""
LEVELS = ((0, (7, 3)), (0, (1, 2)), (0, (6, 2, 1, 2, 1, 2)))
"""Line styles of the levels that `lines` asks for."""
HOLLOW: Mapping[str, Any] = {
    "linestyle": (0, (4, 2)), "linewidth": 0.9, "markerfacecolor": "white", "markeredgewidth": 0.9,
}  # fmt: skip
"""How points of the papers are drawn."""


def draw_points(
    axis: Axes, beside: Sequence[Mapping[str, Any]], panel_key: str | None, place: Any, colour: Sequence[str],
    looks: Mapping[tuple, Mapping[str, Any]], limit: float,
) -> None:  # fmt: skip
    """Draw the papers' points up to `limit`, hollow and dashed, and a single value as a dashed level.

    They have the colour and marker of the variant that they name; else they are black.
    """
    for entry in beside:
        if panel_key and entry.get(panel_key, place) != place:
            continue
        own = looks.get(tuple(entry.get(key) for key in colour), {"color": PAPER, "marker": "o"})
        if "points" in entry:
            points = sorted((float(update), float(value)) for update, value in entry["points"].items())
            near = np.array([pair for pair in points if pair[0] <= limit]).reshape(-1, 2)
            style = HOLLOW | {"color": own["color"], "marker": own["marker"]}
            axis.plot(near[:, 0], near[:, 1], zorder=5, **style)
        elif "value" in entry:
            axis.axhline(float(entry["value"]), color=own["color"], linestyle=(0, (2, 2)), linewidth=0.8)


def same_settings(
    beside: Sequence[Mapping[str, Any]], data: ArtefactData, rows: pd.DataFrame
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The entries of the papers that no setting keeps from standing beside `rows`, and a note on the others.

    An entry may name settings by their dotted names, such as `training.learning_rate`; where no row has them
    all, its points are of another protocol.
    """
    drawn = set(rows[list(KEY)].itertuples(index=False, name=None))
    found = [run.settings for run in data.records if tuple(run.key[key] for key in KEY) in drawn]
    kept = [
        entry
        for entry in beside
        if not any("." in key for key in entry)
        or any(
            all(setting_of(settings, key) == value for key, value in entry.items() if "." in key)
            for settings in found
        )
    ]
    lost = len(kept) < len(beside)
    return kept, ["Points of the papers with other settings than those drawn are left out."] if lost else []


def beyond(beside: Sequence[Mapping[str, Any]], limit: float, unit: str = "update") -> list[str]:
    """One note where points of the papers lie so far beyond our updates that they are not drawn."""
    furthest = max((max(map(float, entry["points"])) for entry in beside if "points" in entry), default=0)
    return (
        [f"Points beside ours go on to {unit} {furthest:g} and are not all drawn."]
        if furthest > limit
        else []
    )


def handles_of(beside: Sequence[Mapping[str, Any]]) -> list[Line2D]:
    """A legend entry for the authors' logs and for each value of the paper."""
    handles = []
    for entry in beside:
        if "points" in entry:
            source = "authors' log" if entry["source"] == "authors_log" else "paper"
            if source not in [handle.get_label() for handle in handles]:
                handles.append(Line2D([], [], color=PAPER, linestyle=(0, (4, 2)), linewidth=0.9, marker="o",
                                      markerfacecolor="white", label=source))  # fmt: skip
        else:
            label = f"paper: {float(entry['value']):g}"
            handles.append(Line2D([], [], color=PAPER, linestyle=(0, (2, 2)), linewidth=0.8, label=label))
    return handles


def columns_of(entry: Mapping[str, Any], rows: pd.DataFrame) -> list[str]:
    """The keys of an entry of the paper that are columns of `rows`, the number itself left out."""
    return [key for key in entry if key in rows.columns and key not in ("value", "failed", "name")]


def belongs(entry: Mapping[str, Any], rows: pd.DataFrame, measure: Mapping[str, Any]) -> bool:
    """Whether an entry of the paper is about all of `rows` and of this measure.

    Its keys that are columns of `rows`, at least one, must hold the one value that these have.
    """
    if entry["measure"] != measure:
        return False
    keys = columns_of(entry, rows)
    return bool(keys) and len(rows) > 0 and all((rows[key] == entry[key]).all() for key in keys)


def draw_levels(
    axis: Axes,
    spec: Mapping[str, Any],
    data: ArtefactData,
    panel_key: str | None,
    place: Any,
    known: list[Line2D],
    upright: bool = False,
) -> list[Line2D]:
    """Draw the levels of `lines`, `upright` where the numbers run along x; the legend entries that are not
    yet `known`."""
    handles = []
    for place_of, entry in enumerate(spec.get("lines", ())):
        if entry == "task_baseline":
            rows = data.chosen(data.metrics[data.metrics["name"] == "baseline"], spec.get("where"))
            rows = data.with_settings(rows, [] if panel_key is None else [panel_key])
            rows = rows if place is None else rows[rows[panel_key] == place]
            level, label = (float(rows["value"].iloc[0]) if len(rows) else None), "baseline"
        elif isinstance(entry, Mapping):
            level, label = float(entry["value"]), str(entry["label"])
        else:
            raise ValueError(f"lines names {entry!r}; allowed are task_baseline and {{value, label}}")
        if level is None:
            continue
        own = {"color": "#444444", "linestyle": LEVELS[place_of % len(LEVELS)], "linewidth": 0.9}
        (axis.axvline if upright else axis.axhline)(level, zorder=1, **own)
        if label not in [handle.get_label() for handle in [*known, *handles]]:
            handles.append(Line2D([], [], label=label, **own))
    return handles
