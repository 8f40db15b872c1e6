"""Curves against updates, epochs or seconds: a panel per condition, a colour per variant, papers' points."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tensor_rnns.analysis.curve_measures import Split
from tensor_rnns.analysis.runs import running_series
from tensor_rnns.drawing import beside
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import Cut, Group, Name, absent, counted
from tensor_rnns.drawing.layout import panels
from tensor_rnns.drawing.spec import AXIS, Axis, GroupsSpec
from tensor_rnns.drawing.style import DASHED, SOLID
from tensor_rnns.experiments.records import KEY

POINTS = 400
"""A drawn line has at most about this many points; more would not be seen and make the files large."""
BANDS = {"none": "thin: each seed", "quantiles": "band: quartiles", "range": "band: minimum to maximum"}
"""The kinds of band, and how a figure explains them."""
FEW = 10
"""Up to so many replicas each has its own thin line."""


@dataclass(frozen=True)
class Line:
    """One replica: its updates, its values there, and whether it failed."""

    updates: np.ndarray
    values: np.ndarray
    failed: bool


Drawn = Mapping[Name, Sequence[Line]]


@dataclass(frozen=True)
class Also:
    """A second curve of each group: a series of a split, smoothed over `width` updates."""

    of: str = "loss"
    split: Split = "train"
    width: int = 1
    label: str | None = None


@dataclass(frozen=True)
class Running(Also):
    """The measure `running` at every update."""

    name: Literal["running"] = "running"


@dataclass(frozen=True)
class TimeAxis(Axis):
    """The axis of time, in updates, in epochs, or in seconds of training."""

    unit: Literal["update", "epoch", "second"] = "update"


TIME, RUNNING = TimeAxis(), Running()


@dataclass(frozen=True, kw_only=True)
class Spec(GroupsSpec):
    """Curves over updates or epochs."""

    measure: Running = RUNNING
    also: Also | None = None
    """A second value, dashed."""
    centre: Literal["mean", "median"] | None = None
    band: Literal["none", "quantiles", "range"] | None = None
    """Left out, none for few replicas and quartiles for many."""
    x: TimeAxis = TIME
    y: Axis = AXIS
    share_y: bool = True


def draw(data: ArtefactData, spec: Spec) -> Figure:
    """The figure; ValueError where no row of the curves is left to draw."""
    rows = _rows(data, spec, spec.measure)
    also = _rows(data, spec, spec.also) if spec.also else rows[:0]
    pace = UNITS[spec.x.unit](data, rows) if spec.x.unit in UNITS else None
    unit = spec.x.unit if pace else "update"
    cut = Cut(data, spec, rows)
    groups = cut.groups

    def drawn(table: pd.DataFrame, value: Any, width: int) -> Drawn:
        return {name: lines(data, cut.part(value, name, table), width, pace) for name in groups}

    ours = [drawn(rows, value, spec.measure.width) for value in cut.values]
    for name, group in groups.items():
        group.look |= {"linestyle": SOLID} if spec.also else {}
        here = [(value, panel[name]) for value, panel in zip(cut.values, ours, strict=True) if panel[name]]
        group.counts |= {value: (len(some), sum(line.failed for line in some)) for value, some in here}
    limit = _reach(lines(data, rows, 1, pace), spec.measure)
    there = [e for e in data.printed(spec.keys) if e.get(spec.panels, cut.values[0]) in cut.values]
    printed, left_out = beside.same_settings(there, data, rows)
    notes = [*absent(data, rows, spec), *left_out, *beside.beyond(printed, limit, unit)]
    why = "Less than an epoch was run" if spec.x.unit == "epoch" else "Not every run was timed"
    notes += [f"{why}: against updates, not {spec.x.unit}s."] * (unit != spec.x.unit)
    notes += [*_outside(cut, spec.y.limits, ours), *_explained(spec, cut, ours)]
    dashed = spec.also and (spec.also.label or spec.also.split)
    handles = beside.legend(cut, dashed, beside.handles_of(printed))
    sheet = panels(cut.titles, data.remark_line(rows), notes, handles, share_y=spec.share_y)
    time = spec.x if unit == spec.x.unit else TIME
    x, y = time.labelled(f"{unit}s"), spec.y.labelled(spec.measure.of)
    for axis, value, title, mine in zip(sheet.axes, cut.values, cut.titles, ours, strict=True):
        ends = []
        for name, group in groups.items():
            if mine[name]:
                end = _draw_group(axis, mine[name], group, spec)
                ends.append(f"{group.title} ends at {end:.3g} ({counted(*group.counts[value])})")
        for name, lines_also in drawn(also, value, spec.also.width if spec.also else 1).items():
            _draw_also(axis, lines_also, groups[name], spec)
        beside.draw_points(axis, printed, cut, value, limit)
        beside.draw_levels(axis, spec.lines, cut.baseline(value))
        sheet.dress(axis, x, y)
        sheet.say(title, ends)
    return sheet.finish(f"Curves of {y.label} against {unit}s.")


def _rows(data: ArtefactData, spec: Spec, value: Also) -> pd.DataFrame:
    """The rows of the curves of one logged value among those that the artefact chooses."""
    rows = data.chosen(data.curves, spec.where)
    rows = rows[(rows["split"] == value.split) & (rows["name"] == value.of)]
    if rows.empty:
        raise ValueError(
            f"no curve of {value.of} on {value.split} chosen by {spec.where or 'the main protocol'}"
        )
    return data.with_settings(rows, spec.keys)


def _reach(ours: Sequence[Line], measure: Running) -> float:
    """Up to where the papers' points are drawn; ValueError where no line of ours has a finite value."""
    if last := [line.updates[-1] for line in ours if len(line.updates)]:
        return float(beside.BEYOND * max(last))
    raise ValueError(f"no finite value of {measure.of} on {measure.split}")


def _draw_group(axis: Axes, group_lines: Sequence[Line], group: Group, spec: Spec) -> float:
    """Draw the lines, centre and band of one group; the last value of the centre."""
    centre, band = _manner(spec, len(group_lines))
    drawn = [line for line in group_lines if len(line.updates)]
    if not drawn:
        return float("nan")
    colour = group.look["color"]
    for line in drawn:
        updates, values = thinned(line.updates, line.values)
        if 1 < len(drawn) <= FEW and band == "none":
            axis.plot(updates, values, color=colour, linewidth=0.5, alpha=0.45)
        if line.failed:
            # A white cross below the coloured one keeps it apart from the lines that it lies on.
            for shade, size, width in (("white", 8, 3.0), (colour, 7, 1.5)):
                axis.plot(updates[-1:], values[-1:], "x", color=shade, markersize=size,
                          markeredgewidth=width, zorder=7)  # fmt: skip
    updates, middle, low, high = summary(drawn, centre, band)
    if band != "none" and len(drawn) > 1:
        low = np.where(low > 0, low, np.nan) if spec.y.scale == "log" else low
        axis.fill_between(updates, low, high, color=colour, alpha=0.18, linewidth=0)
    axis.plot(updates, middle, markevery=max(1, len(updates) // 6), zorder=3, **group.look)
    return float(middle[-1])


def _draw_also(axis: Axes, group_lines: Sequence[Line], group: Group, spec: Spec) -> None:
    """The centre of the second value of one group, thin and dashed."""
    if drawn := [line for line in group_lines if len(line.updates)]:
        updates, middle, *_ = summary(drawn, _manner(spec, len(group_lines))[0], "none")
        axis.plot(updates, middle, color=group.look["color"], linestyle=DASHED, linewidth=0.9, zorder=2.5)


def _outside(cut: Cut, limits: tuple[float, float] | None, drawn: Sequence[Drawn]) -> list[str]:
    """One note naming, panel by panel, the groups of which no line has a point within `limits`."""
    low, high = limits or (-np.inf, np.inf)
    slack = 1e-6 * (high - low)  # an accuracy of 1 may be recorded as 1.00000003

    def seen(some: Sequence[Line]) -> bool:
        return any(((low - slack <= line.values) & (line.values <= high + slack)).any() for line in some)

    said = []
    for title, panel in zip(cut.titles, drawn, strict=True):
        if out := [cut.groups[name].title for name, some in panel.items() if some and not seen(some)]:
            said.append(", ".join(out) + (f" ({title})" if title else ""))
    return [f"Outside the axis: {'; '.join(said)}."] if said and limits else []


def _manner(spec: Spec, n: int) -> tuple[str, str]:
    """Centre and band of n replicas: as the artefact asks, else no band for few and quartiles for many."""
    band = spec.band or ("none" if n <= FEW else "quantiles")
    return spec.centre or ("mean" if band == "range" else "median"), band


def _explained(spec: Spec, cut: Cut, drawn: Sequence[Drawn]) -> list[str]:
    """One note on what line, band and cross are."""
    counts = [count for group in cut.groups.values() for count in group.counts.values()]
    manners = dict.fromkeys(_manner(spec, n) for n, _ in counts if n > 1)
    several = [[line.updates[-1:] for line in some] for panel in drawn for some in panel.values()]
    going_on = " that go on, at least half" * any(len({*map(tuple, ends)}) > 1 for ends in several)
    said = []
    if manners:
        centres, bands = map(dict.fromkeys, zip(*manners, strict=True))
        said = [f"bold: {' or '.join(centres)} of the seeds{going_on}", " or ".join(map(BANDS.get, bands))]
    said += [f"running mean over {spec.measure.width:g} updates"] if spec.measure.width > 1 else []
    said += ["cross: a failed seed's last finite value"] if any(failed for _, failed in counts) else []
    return ["; ".join(said).capitalize() + "."] if said else []


def lines(
    data: ArtefactData, rows: pd.DataFrame, width: int, pace: Mapping[tuple, float] | None = None
) -> list[Line]:
    """One line for each of the series `rows`, in the order of point and seed.

    `width` counts updates; with `pace`, the updates of a unit by replica, the line is in those units.
    """
    result = []
    for *key, updates, values in rows.sort_values(list(KEY))[[*KEY, "update", "value"]].itertuples(
        index=False, name=None
    ):
        finite, replica = np.isfinite(values), tuple(key)
        updates, values = updates[finite].astype(float), values[finite]
        if width > 1 and len(updates):
            updates, values = running_series(updates, values, width)
        result.append(Line(updates / pace[replica] if pace else updates, values, data.runs[replica].failed))
    return result


def epoch_lengths(data: ArtefactData, rows: pd.DataFrame) -> dict[tuple, float] | None:
    """Updates of an epoch of each replica of `rows`; None where one ran less than an epoch.

    With `evaluate.every: epoch` the first validation ends the first epoch; else the updates done are divided
    by the epochs granted, which a failed run has not had.
    """
    valid = data.curves[data.curves["split"] == "valid"]
    first = {tuple(key): updates[0] for *key, updates in valid[[*KEY, "update"]].itertuples(False, None)}
    lengths = {}
    for key in rows[list(KEY)].drop_duplicates().itertuples(index=False, name=None):
        run = data.runs[key]
        training = run.settings.get("training") or {}
        if (training.get("evaluate") or {}).get("every") == "epoch" and key in first:
            lengths[key] = float(first[key])
        elif training.get("epochs") and run.status == "done":
            lengths[key] = run.updates / training["epochs"]
        else:
            return None
    return lengths


def second_lengths(data: ArtefactData, rows: pd.DataFrame) -> dict[tuple, float] | None:
    """Updates of a second of each replica of `rows`, the median of all of its line, so that they share an
    axis; None where one was not timed."""
    replicas = rows[list(KEY)].drop_duplicates()
    keys = list(replicas.itertuples(index=False, name=None))
    seconds = [data.runs[key].seconds_per_update for key in keys]
    if not all(seconds):
        return None
    lines_of = replicas.assign(seconds=seconds).groupby([name for name in KEY if name != "seed"])
    return dict(zip(keys, 1 / lines_of["seconds"].transform("median"), strict=True))


UNITS = {"epoch": epoch_lengths, "second": second_lengths}


def summary(group_lines: Sequence[Line], centre: str, band: str) -> tuple[np.ndarray, ...]:
    """(updates, centre, low, high) where at least half of the lines have values, about POINTS of them: mean
    or median, quartiles or range."""
    updates = np.unique(np.concatenate([line.updates for line in group_lines]))
    table = np.full((len(group_lines), len(updates)), np.nan)
    for row, line in zip(table, group_lines, strict=True):
        row[np.searchsorted(updates, line.updates)] = line.values
    enough = np.isfinite(table).sum(0) * 2 >= len(group_lines)
    updates, *rows = thinned(updates[enough], *table[:, enough])
    table = np.array(rows)
    middle = (np.nanmean if centre == "mean" else np.nanmedian)(table, axis=0)
    low, high = np.nanquantile(table, (0.25, 0.75) if band == "quantiles" else (0.0, 1.0), axis=0)
    return updates, middle, low, high


def thinned(*arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    """Every k-th entry of arrays of equal length, first and last kept, so that about POINTS are left."""
    length = len(arrays[0])
    if length <= POINTS:
        return arrays
    keep = np.unique(np.linspace(0, length - 1, POINTS).round().astype(int))
    return tuple(array[keep] for array in arrays)
