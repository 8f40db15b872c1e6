"""Measures that read the recorded series of one run; `measures` lists them with all others."""

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from tensor_rnns.analysis.runs import MissingValue, Run, series, smoothed, value_at
from tensor_rnns.declared import AtLeastZero, Natural, Positive, Share
from tensor_rnns.experiments.records import SPLITS

BETTER: dict[str, Callable[..., Any]] = {"lowest": min, "highest": max}
"""What takes the best of several values."""
Split = Literal[SPLITS]  # type: ignore[valid-type]
Best = Literal["lowest", "highest"]
Unit, Gap = Literal["one", "baseline"], Literal["difference", "ratio"]


def final(run: Run, *, of: str = "loss", split: Split = "train", width: int = 1, share: Share = 0.0) -> float:
    """The mean over the last `width` updates, or over the last `share` of them.

    With neither, the value that the run reports in metrics.csv (of the weights it keeps), else the last one
    logged.
    """
    if width == 1 and not share and np.isfinite(run.metrics.get((split, of), np.nan)):
        return float(run.metrics[split, of])
    updates, values = series(run, of, split)
    last = max(width, int(np.ceil(share * run.budget)))
    return float(values[updates > updates[-1] - last].mean())


def metric(run: Run, *, of: str = "loss", split: Split = "train") -> float:
    """A number of metrics.csv; for a failed run without one, the last finite value of that curve."""
    value = run.metrics.get((split, of))
    if value is not None and np.isfinite(value):
        return float(value)
    if run.failed:
        return float(series(run, of, split)[1][-1])
    known = sorted(" on ".join(key[::-1]) for key in run.metrics)
    raise MissingValue(f"no {of} on {split}; recorded are {known}")


def at(run: Run, *, update: int, of: str = "loss", split: Split = "train") -> float:
    """The logged value at `update`, or the last one before it."""
    return value_at(run, *series(run, of, split), update, f"{of} on {split}")


def running(
    run: Run, *, width: int, at: int | None = None, of: str = "loss", split: Split = "train"
) -> float:
    """The mean over the last `width` updates at update `at`; without `at`, at the end."""
    updates, values = smoothed(run, of, split, width)
    return float(values[-1]) if at is None else value_at(run, updates, values, at, f"running {of} on {split}")


def first_below(
    run: Run,
    *,
    threshold: float,
    width: int = 1,
    of: str = "loss",
    split: Split = "train",
    unit: Unit = "one",
) -> float:
    """The first update at which the running mean over `width` is below `threshold`; infinite if never.

    With `unit: baseline` the threshold is a share of what the task calls its baseline.
    """
    updates, values = smoothed(run, of, split, width)
    limit = threshold * (baseline(run) if unit == "baseline" else 1.0)
    return float(next(iter(updates[values < limit]), np.inf))


def first_above(
    run: Run, *, threshold: float, width: int = 1, of: str = "accuracy", split: Split = "valid"
) -> float:
    """The first update at which the running mean over `width` is above `threshold`; infinite if never."""
    updates, values = smoothed(run, of, split, width)
    return float(next(iter(updates[values > threshold]), np.inf))


def drop(
    run: Run, *, above: float, below: float, width: int = 1, of: str = "loss", split: Split = "train"
) -> float:
    """How long the fall took against the stay before it: (first below - last above) / last above.

    The last update above `above` is sought before the first below `below`. Infinite where that never comes.
    """
    updates, values = smoothed(run, of, split, width)
    low = np.flatnonzero(values < below)
    if not len(low):
        return float("inf")
    high = np.flatnonzero(values[: low[0]] > above)
    if not len(high):
        raise MissingValue(f"{of} on {split} is not above {above} before it is below {below}")
    return float((updates[low[0]] - updates[high[-1]]) / updates[high[-1]])


def minimum(
    run: Run, *, width: int = 1, until: int | None = None, of: str = "loss", split: Split = "train"
) -> float:
    """The smallest running mean over `width`, up to update `until`."""
    return float(up_to(run, until, width, of, split).min())


def maximum(
    run: Run, *, width: int = 1, until: int | None = None, of: str = "accuracy", split: Split = "valid"
) -> float:
    """The largest running mean over `width`, up to update `until`."""
    return float(up_to(run, until, width, of, split).max())


def best_valid(run: Run, *, of: str = "loss", best: Best = "lowest", split: Split = "valid") -> float:
    """The best validation value over all evaluations."""
    return float(BETTER[best](series(run, of, split)[1]))


def when_lowest(run: Run, *, width: int = 1, of: str = "loss", split: Split = "valid") -> float:
    """The first update at which the running mean over `width` is as small as it ever gets."""
    updates, values = smoothed(run, of, split, width)
    return float(updates[values.argmin()])


def rise(run: Run, *, of: str = "loss", split: Split = "valid") -> float:
    """The last validation value minus the smallest: how far the run overfits."""
    values = series(run, of, split)[1]
    return float(values[-1] - values.min())


def gap(
    run: Run, *, of: str = "loss", split: Split = "valid", against: Split = "train", kind: Gap = "difference"
) -> float:
    """The metric on `split` minus, or with kind: ratio divided by, the one on `against`."""
    first, second = metric(run, of=of, split=split), metric(run, of=of, split=against)
    if kind == "ratio" and not second:
        raise MissingValue(f"a ratio to {of} on {against}, which is 0")
    return first - second if kind == "difference" else first / second


def spread(run: Run, *, update: int, of: str = "loss", split: Split = "train") -> float:
    """The distance of the value at `update` from the median over all final replicas of the same curve."""
    peers = [at(peer, update=update, of=of, split=split) for peer in run.load_peers()]
    return abs(at(run, update=update, of=of, split=split) - float(np.median(peers)))


def reached(run: Run, *, threshold: float, width: int = 1, of: str = "loss", split: Split = "train") -> float:
    """1 for a run whose running mean ends below `threshold`, 0 for another or a failed one."""
    return float(not run.failed and smoothed(run, of, split, width)[1][-1] < threshold)


def short(run: Run, *, threshold: float, of: str = "accuracy", split: Split = "test") -> float:
    """1 for a failed run, or one whose metric is below `threshold`; 0 for another."""
    return float(run.failed or metric(run, of=of, split=split) < threshold)


def roughness(run: Run, *, start: Natural = 0, of: str = "accuracy", split: Split = "valid") -> float:
    """The mean distance of consecutive logged values from update `start` on."""
    return float(np.abs(np.diff(since(run, of, split, start))).mean())


def largest_fall(run: Run, *, start: Natural = 0, of: str = "accuracy", split: Split = "valid") -> float:
    """The largest decrease between consecutive logged values from update `start` on; 0 if there is none."""
    return float(max(-np.diff(since(run, of, split, start)).min(), 0.0))


def spikes(
    run: Run,
    *,
    factor: Positive = 2.0,
    above: AtLeastZero = 0.0,
    start: Natural = 0,
    of: str = "loss",
    split: Split = "valid",
) -> float:
    """How many logged values from update `start` on exceed both `above` and `factor` times the lowest before
    them."""
    updates, values = series(run, of, split)
    limits = np.maximum(factor * np.minimum.accumulate(values)[:-1], above)
    return float((values[1:] > limits)[updates[1:] >= start].sum())


def baseline(run: Run) -> float:
    """The loss that the task calls its baseline: of the best constant answer unless it says otherwise."""
    return metric(run, of="baseline", split="none")


def since(run: Run, of: str, split: str, start: int) -> np.ndarray:
    """The logged values from update `start` on; MissingValue for fewer than two."""
    updates, values = series(run, of, split)
    values = values[updates >= start]
    if len(values) < 2:
        raise MissingValue(f"fewer than 2 values of {of} on {split} from update {start} to the end")
    return values


def up_to(run: Run, until: int | None, width: int, of: str, split: str) -> np.ndarray:
    """The running mean over `width` up to update `until`, or to the end."""
    updates, values = smoothed(run, of, split, width)
    kept = values if until is None else values[updates <= until]
    if not len(kept):
        raise MissingValue(f"no running {of} on {split} up to update {until}")
    return kept
