"""One number per replica, and what a group of them has in common: mean, interval, failed seeds."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from tensor_rnns.analysis.intervals import CUT, MEAN, RANGE, of_mean
from tensor_rnns.analysis.measures import OF_FAILED, is_share, measured
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import counted
from tensor_rnns.drawing.spec import RunsSpec
from tensor_rnns.drawing.tables import shown
from tensor_rnns.experiments.records import KEY


@dataclass(frozen=True)
class Total:
    """The mean of the replicas with a finite number or the median of all, its interval by name, and counts.

    `never` counts replicas whose number is infinite: they did not get where the measure asks. Without an
    interval its ends are NaN and its name is empty.
    """

    mean: float
    low: float
    high: float
    interval: str
    values: tuple[float, ...]
    failed: int
    never: int

    @property
    def n(self) -> int:
        """All replicas with an answer."""
        return len(self.values) + self.never

    @property
    def is_drawn(self) -> bool:
        """Whether a figure shows the interval: that of two numbers would squeeze all others, and one of the
        seeds that got there is not one of all seeds."""
        return bool(self.interval) and len(self.values) > 2 and not self.never

    @property
    def counts(self) -> str:
        """How many replicas there are, failed and never got there."""
        return counted(self.n, self.failed) + (f", {self.never} never" if self.never else "")

    @property
    def text(self) -> str:
        """The numbers in words."""
        spread = f" [{self.low:.4g}, {self.high:.4g}]" if self.interval and not self.never else ""
        return f"{self.mean:.4g}{spread} ({self.counts})" if self.values else f"no number ({self.counts})"

    @property
    def cell(self) -> str:
        """The number as a table shows it: with its interval, or how many got there where not all did."""
        if self.never:
            mean = shown(self.mean) if self.values else "never"
            return f"{mean} ({len(self.values)} of {self.n})"
        if self.interval in ("", MEAN):
            return shown(self.mean, (self.high - self.low) / 2 if self.interval else None)
        return f"{shown(self.mean)} [{shown(self.low)}, {shown(self.high)}]"


def what_of(measure: Mapping[str, Any]) -> str:
    """What an axis of the measure is called."""
    return str(measure.get("of") or measure["name"])


def numbers(
    data: ArtefactData, spec: RunsSpec, measure: Mapping[str, Any], keys: Sequence[str]
) -> pd.DataFrame:
    """The chosen replicas with the columns `keys`, `value` (the measure) and `failed`.

    Replicas that did not record the measure are left out; ValueError where none did or none was chosen.
    """
    pairs = measured(data.replicas(spec.where)["run"], measure)
    if not pairs:
        what, where = " ".join(map(str, measure.values())), spec.where or "the main protocol"
        raise ValueError(f"no replica chosen by {where} has the measure {what}")
    rows = [dict(run.key) | {"value": value, "failed": run.failed} for run, value in pairs]
    return data.with_settings(pd.DataFrame(rows, columns=[*KEY, "value", "failed"]), keys)


def total(values: Iterable[float], failed: Iterable[bool], measure: Mapping[str, Any]) -> Total:
    """The numbers of several replicas put together; `failed` says which failed."""
    values = [float(value) for value in values]
    finite = [value for value in values if math.isfinite(value)]
    mean = float(np.mean(finite)) if finite else math.nan
    low, high, interval = math.nan, math.nan, ""
    indicator = measure["name"] in OF_FAILED
    # Equal seeds are no certainty, so that t says nothing of them.
    if len(finite) > 1 and (indicator or len(set(finite)) > 1):
        low, high, interval = of_mean(finite, is_share(measure), indicator)
    return Total(mean, low, high, interval, tuple(finite), int(sum(failed)), len(values) - len(finite))


def middle(losses: Sequence[float], failed: Iterable[bool]) -> Total:
    """The median of several replicas, those with an infinite loss among them, and both ends of all."""
    interval = RANGE if len(losses) > 1 else ""
    centre = float(np.median(losses))
    return Total(centre, min(losses), max(losses), interval, tuple(losses), int(sum(failed)), 0)


def marks_of(rows: pd.DataFrame, totals: Sequence[Total]) -> list[str]:
    """One note on what dots, lines and crosses are, and how many replicas are not drawn."""
    names = sorted({total.interval for total in totals if total.is_drawn})
    # An interval that is cut where it leaves 0 to 1 need not be named twice.
    names = [name for name in names if name + CUT not in names]
    line = " or ".join(names) or "an interval, from three seeds on"
    said = [f"Dots: seeds; thick line: {line}."] if any(total.interval for total in totals) else []
    said += ["Cross: a failed seed's last finite value."] if rows["failed"].any() else []
    never = int((~np.isfinite(rows["value"])).sum())
    of_others = "are not drawn, nor is an interval beside them: means are of those that did"
    said += [f"{never} of {len(rows)} replicas never got there and {of_others}."] if never else []
    return [" ".join(said)] if said else []


def draw_seeds(
    axis: Axes, x: Sequence[float], y: Sequence[float], failed: Sequence[bool], colour: str
) -> None:
    """A hollow dot for each seed and a cross for a failed one."""
    for shape, size, chosen in (("o", 2.2, ~np.asarray(failed)), ("x", 3.5, np.asarray(failed))):
        axis.plot(np.asarray(x, dtype=float)[chosen], np.asarray(y, dtype=float)[chosen], shape, zorder=5,
                  color=colour, markersize=size, markerfacecolor="white", markeredgewidth=0.7)  # fmt: skip
