"""A replica as measures see it: its key, its metrics, and its curves on demand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class MissingValue(LookupError):
    """The run did not record what the measure asks for."""


@dataclass
class Run:
    """What one replica recorded; for a computed experiment the one pseudo-run that carries its table.

    `metrics` maps (split, name) to a value; `load_curves()` maps (split, name) to (updates, values), two
    arrays in rising order of updates; `load_computed()` maps (item, name) to an array ordered by index;
    `load_probe(probe)` the same for a probe of this replica. `load_facts()` are the counted facts of its
    data set, `load_peers()` the final replicas of its curve. `budget` is the number of updates that the
    settings grant.
    """

    key: Mapping[str, Any]
    status: str = "done"
    updates: int = 0
    parameters: int | None = None
    seconds_per_update: float | None = None
    protocol: str = ""
    searched: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[tuple[str, str], float] = field(default_factory=dict)
    load_facts: Callable[[], Mapping[str, Any]] = dict
    load_peers: Callable[[], Sequence["Run"]] = list
    load_curves: Callable[[], Mapping[tuple[str, str], tuple[np.ndarray, np.ndarray]]] = dict
    load_computed: Callable[[], Mapping[tuple[str, str], np.ndarray]] = dict
    load_probe: Callable[[str], Mapping[tuple[str, str], np.ndarray]] = lambda probe: {}

    @property
    def failed(self) -> bool:
        """Whether the replica diverged."""
        return self.status == "failed"

    @property
    def budget(self) -> int:
        """The updates granted by the settings; what was done where the settings do not say."""
        granted = (self.settings.get("training") or {}).get("updates")
        return granted if isinstance(granted, int) else self.updates


def series(run: Run, of: str, split: str) -> tuple[np.ndarray, np.ndarray]:
    """The finite part of a recorded curve as (updates, values); MissingValue where there is none."""
    curves = run.load_curves()
    if (split, of) not in curves:
        known = sorted(" on ".join(key[::-1]) for key in curves)
        raise MissingValue(f"no curve of {of} on {split}; recorded are {known}")
    updates, values = curves[split, of]
    finite = np.isfinite(values)
    if not finite.any():
        raise MissingValue(f"no finite value of {of} on {split}")
    return updates[finite], values[finite]


def running_series(updates: np.ndarray, values: np.ndarray, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The mean over the window (u - width, u] at every logged update u whose window is full.

    A curve shorter than `width` gives one point, the mean of all of it.
    """
    spacing = updates[1] - updates[0] if len(updates) > 1 else width
    full = updates - width >= updates[0] - spacing
    if not full.any():
        return updates[-1:], values.mean(keepdims=True)
    first = np.searchsorted(updates, updates[full] - width, side="right")
    bounds = np.stack([first, np.flatnonzero(full) + 1], axis=1).ravel()
    sums = np.add.reduceat(np.append(values, 0.0), bounds)[::2]
    return updates[full], sums / (bounds[1::2] - bounds[::2])


def smoothed(run: Run, of: str, split: str, width: int) -> tuple[np.ndarray, np.ndarray]:
    """The recorded curve, as a running mean where `width` exceeds 1."""
    updates, values = series(run, of, split)
    return running_series(updates, values, width) if width > 1 else (updates, values)


def value_at(run: Run, updates: np.ndarray, values: np.ndarray, update: int, what: str) -> float:
    """The last point at or before `update`; MissingValue for a run that was not granted so many updates."""
    if update > run.budget or not (updates <= update).any():
        logged = f"the run logged updates {updates[0]} to {updates[-1]}"
        raise MissingValue(f"no {what} at update {update}: {logged}")
    return float(values[updates <= update][-1])
