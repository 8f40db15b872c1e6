"""Rows cut into panels, and groups of replicas that share a colour: titles, looks, how many there are."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
from matplotlib.lines import Line2D

from tensor_rnns.declared import is_number
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.spec import GroupsSpec, RunsSpec, listed
from tensor_rnns.drawing.style import look, plain, ramp
from tensor_rnns.drawing.tables import span
from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.records import KEY, RECORDED
from tensor_rnns.experiments.selector import ALL, CURVE, MAIN, Selector

Name = tuple[Hashable, ...]
"""The values of several columns."""


def counted(n: int | str, failed: int | str) -> str:
    """`5 seeds, 1 failed`."""
    seeds = "seed" if n in (1, "1") else "seeds"
    return f"{n} {seeds}" + (f", {failed} failed" if failed not in (0, "0") else "")


@dataclass
class Group:
    """The replicas of one colour: their title, their look, and (n, failed) in each panel."""

    title: str
    look: dict[str, Any]
    counts: dict[Any, tuple[int, int]] = field(default_factory=dict)

    @property
    def handle(self) -> Line2D:
        """The entry of the legend: the title with n and failed, the smallest and largest of all panels."""
        n, failed = map(span, zip(*self.counts.values(), strict=True))
        return Line2D([], [], label=f"{self.title} ({counted(n, failed)})", **self.look)


class Cut:
    """The rows of a figure cut into panels and into groups of one colour, in the order of the file.

    `values` are those of the panels in the column `spec.panels`, a single None without one.
    """

    def __init__(self, data: ArtefactData, spec: GroupsSpec, rows: pd.DataFrame):
        self.data, self.spec, self.rows = data, spec, rows
        key = spec.panels
        self.values = data.ordered(key, rows[key].unique().tolist()) if key else [None]
        self.titles = [data.title(key, value) for value in self.values] if key else [""]
        self.groups = groups_of(data, rows, listed(spec.colour))
        self.ordered = in_order(listed(spec.colour), list(self.groups))

    def panel(self, value: Any, rows: pd.DataFrame | None = None) -> pd.DataFrame:
        """Those of `rows`, or of all, that stand in the panel of `value`."""
        rows = self.rows if rows is None else rows
        return rows if self.spec.panels is None else rows[rows[self.spec.panels] == value]

    def part(self, value: Any, name: Name, rows: pd.DataFrame | None = None) -> pd.DataFrame:
        """Those of one group in the panel of `value`."""
        return part(self.panel(value, rows), listed(self.spec.colour), name)

    def baseline(self, value: Any) -> float | None:
        """The task's baseline, as the first replica of a panel that has one recorded it."""
        rows = self.data.with_settings(self.data.replicas(self.spec.where), listed(self.spec.panels))
        baselines = [run.metrics.get(("none", "baseline")) for run in self.panel(value, rows)["run"]]
        return next((level for level in baselines if level is not None), None)


def names_of(data: ArtefactData, rows: pd.DataFrame, keys: Sequence[str]) -> list[Name]:
    """The values that `rows` have in the columns `keys`, in the order of the experiment file."""
    return data.ordered_names(keys, rows[list(keys)].drop_duplicates().itertuples(index=False, name=None))


def part(rows: pd.DataFrame, keys: Sequence[str], name: Sequence[Any]) -> pd.DataFrame:
    """The `rows` whose columns `keys` hold `name`."""
    return rows[(rows[list(keys)] == list(name)).all(axis=1)]


def title_of(data: ArtefactData, keys: Sequence[str], name: Sequence[Any]) -> str:
    """How the values `name` of the columns `keys` are called together."""
    return ", ".join(map(data.title, keys, name))


def in_order(colour: Sequence[str], names: Sequence[Name]) -> bool:
    """Whether the groups are the values of one setting, all of them numbers."""
    return len(colour) == 1 and "." in colour[0] and all(is_number(name[0]) for name in names)


def groups_of(data: ArtefactData, rows: pd.DataFrame, colour: Sequence[str]) -> dict[Name, Group]:
    """The groups of one colour in the order of the file, without counts.

    Values of one setting that are all numbers run from light to dark; else a group has the look of its cell,
    or a plain one where groups hold several cells, or all of them the same, so that its hue tells nothing.
    """
    names = names_of(data, rows, colour)
    if in_order(colour, names):
        looks = [ramp(number, len(names)) for number in range(len(names))]
    else:
        held = [{data.cell(str(v)) for v in part(rows, colour, name)["variant"].unique()} for name in names]
        cells = ["" if len(some) > 1 else some.pop() for some in held]
        looks = [
            plain(number)
            if "" in cells or 1 < len(cells) == cells.count(cell)
            else look(cell, cells[:number].count(cell), cells.count(cell))
            for number, cell in enumerate(cells)
        ]
    return {name: Group(title_of(data, colour, name), own) for name, own in zip(names, looks, strict=True)}


def rowless(data: ArtefactData, rows: pd.DataFrame, spec: RunsSpec) -> pd.DataFrame:
    """The replicas that the artefact asks for and that were run, but are not among its `rows`."""
    ran, has = data.replicas(spec.where), set(rows[list(KEY)].itertuples(index=False, name=None))
    lost = ran[[key not in has for key in ran[list(KEY)].itertuples(index=False, name=None)]]
    return lost.assign(failed=[run.failed for run in lost["run"]])


def numberless(data: ArtefactData, rows: pd.DataFrame, spec: RunsSpec) -> list[str]:
    """Notes on the replicas without a row, as they have no number: those that failed before they had one,
    then others."""
    ran, lost = data.replicas(spec.where), rowless(data, rows, spec)
    keys = ["variant"] if set(ran["option"]) == {MAIN} else ["variant", "option"]
    notes = []
    for failed, said in ((True, "Failed without a number"), (False, "Run, but without this number")):
        some = lost[lost["failed"] == failed]
        names = [
            f"{title_of(data, keys, name)} ({len(part(some, keys, name))} of {len(part(ran, keys, name))})"
            for name in names_of(data, some, keys)
        ]
        notes += [f"{said}: {'; '.join(names)}."] if names else []
    return notes


def absent(
    data: ArtefactData, rows: pd.DataFrame, spec: RunsSpec, within: Mapping[str, Any] | None = None
) -> list[str]:
    """Notes that name the conditions, variants and named options that the artefact asks for, `within` the
    `where` of its probe, and that were not run; then, by option, variants that were not run on all of its
    conditions."""
    where = spec.where or Selector()
    every = resolve.curves(data.experiment, "")
    known = Selector.of({"option": ALL} if within is None else within).curves(every, MAIN)
    asked = where.curves(known, MAIN)
    keys = CURVE if where.option else CURVE[:2]
    ran = {key: set(rows[key]) for key in CURVE}
    names = {key: dict.fromkeys(curve[place] for curve in asked) for place, key in enumerate(keys)}
    missing = [data.title(key, name) for key in keys for name in names[key] if name not in ran[key]]
    here = "yet" if data.scale == RECORDED else "at this scale"
    notes = [f"Not run {here}: {'; '.join(missing)}."] if missing else []
    there = set(rows[list(keys)].itertuples(index=False, name=None))
    gaps: dict[str, list[str]] = {}
    options, conditions = list(names.get("option", [""])), names["condition"]
    for option, variant in ((o, v) for o in options for v in names["variant"]):
        own = [curve for curve in asked if curve[1] == variant and option in ("", curve[2])]
        known = [curve for curve in own if all(curve[CURVE.index(key)] in ran[key] for key in keys)]
        if lost := [curve for curve in known if curve[: len(keys)] not in there]:
            at = " and ".join(data.title("condition", name) for name in dict.fromkeys(at for at, *_ in lost))
            place = [at] * (len(conditions) > 1 or len(options) == 1)
            place += [data.title("option", option)] * (len(options) > 1)
            gaps.setdefault(", ".join(place), []).append(data.title("variant", variant))
    return notes + [f"Not run at {at}: {'; '.join(some)}." for at, some in gaps.items()]
