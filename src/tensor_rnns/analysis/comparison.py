"""Many models on several tasks: normalised scores, performance profiles, and how probably one model beats
another; Agarwal et al. 2021, "Deep reinforcement learning at the edge of the statistical precipice".

A loss is lower for a better run; that of a run that failed is infinite, the worst there is. Tasks count
alike. Intervals are percentiles of the stratified bootstrap: in each resample the seeds of each model on each
task are drawn anew, with replacement.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tensor_rnns.analysis.intervals import FEWEST, LEVEL
from tensor_rnns.analysis.measures import AnyMeasure, measure_of
from tensor_rnns.analysis.runs import MissingValue, Run

RESAMPLES, SEED = 2000, 2021
BOOTSTRAP = "95 % stratified bootstrap interval"
FEW = f"Fewer than {FEWEST} seeds: no intervals."
"""What stands where there are too few seeds for one."""

Losses = Mapping[str, Mapping[str, np.ndarray]]
"""{task: {model: a loss for each seed}}."""


def loss_of(run: Run, measure: AnyMeasure) -> float:
    """The measure of a run; infinite where it failed, or has no number."""
    try:
        value = np.nan if run.failed else measure_of(measure, run)
    except MissingValue:
        value = np.nan
    return np.inf if np.isnan(value) else value


def wins(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The share of pairs of losses of which the first is lower, equal ones counted half: U / (n m) of Mann
    and Whitney; seeds are the last axis."""
    x, y = x[..., :, None], y[..., None, :]
    return ((x < y) + 0.5 * (x == y)).mean((-2, -1))


def interval(values: np.ndarray) -> np.ndarray:
    """[low, high] of the 95 % of resamples in the middle; resamples are the first axis."""
    return np.quantile(values, ((1 - LEVEL) / 2, (1 + LEVEL) / 2), axis=0)


@dataclass
class Comparison:
    """The losses of all models on all tasks, and their resamples; a model may lack a task."""

    losses: Losses

    @property
    def models(self) -> list[str]:
        """Every model that has a task, in the order of the tasks."""
        return list(dict.fromkeys(model for of_task in self.losses.values() for model in of_task))

    def shared(self, *models: str) -> list[str]:
        """The tasks that all of `models` have."""
        return [task for task, of_task in self.losses.items() if all(model in of_task for model in models)]

    def met(self, model: str, rivals: Iterable[str] | None = None) -> list[str]:
        """The tasks that `model` and at least one of `rivals`, or any other model, have."""
        others = {*(self.models if rivals is None else rivals)} - {model}
        return [task for task in self.shared(model) if others & self.losses[task].keys()]

    @property
    def certain(self) -> bool:
        """Whether each model has `FEWEST` seeds on each of its tasks; of fewer a bootstrap is too sure."""
        return all(len(sample) >= FEWEST for of_task in self.losses.values() for sample in of_task.values())

    @cached_property
    def resamples(self) -> Losses:
        """The losses of each resample [RESAMPLES, n]."""
        rng = np.random.default_rng(SEED)
        return {
            task: {x: loss[rng.integers(0, len(loss), (RESAMPLES, len(loss)))] for x, loss in of_task.items()}
            for task, of_task in self.losses.items()
        }

    def ahead(self, task: str, model: str, rival: str) -> bool:
        """Whether the median of `model` is lower, by more than the seeds scatter: in 97.5 % of resamples."""
        losses = self.resamples[task]
        lower = np.median(losses[model], axis=1) < np.median(losses[rival], axis=1)
        return bool(lower.mean() >= (1 + LEVEL) / 2)

    def scored(self, zero: str) -> dict[str, tuple[float, float]]:
        """By task the losses that have the scores 0 and 1: the median of the model `zero`, and the lowest
        median of any model. A task has a score only where that model is ahead of `zero`: else a score would
        divide by noise."""
        ends = {}
        for task, of_task in self.losses.items():
            medians = {model: float(np.median(loss)) for model, loss in of_task.items()}
            best = min(medians, key=medians.__getitem__)
            if zero in medians and medians[zero] < np.inf and self.ahead(task, best, zero):
                ends[task] = medians[zero], medians[best]
        return ends

    def profile(self, model: str, zero: str, levels: Sequence[float]) -> tuple[np.ndarray, ...] | None:
        """(share, low, high) for each of the `levels`: the share of runs of `model` whose score is at or
        above it, the mean over tasks. None where it has no task with a score."""
        ends = {task: pair for task, pair in self.scored(zero).items() if model in self.losses[task]}

        def shares(losses: Losses) -> np.ndarray:
            parts = []
            for task, (worst, best) in ends.items():
                score = (worst - losses[task][model]) / (worst - best)
                parts.append((score[..., None] >= np.asarray(levels)).mean(-2))
            return np.mean(parts, axis=0)

        return (shares(self.losses), *interval(shares(self.resamples))) if ends else None

    def improvement(self, model: str, rivals: Iterable[str]) -> tuple[float, float, float]:
        """(probability, low, high) that a run of `model` beats one of a rival on a task that both have: the
        mean over these tasks, then over rivals; not a number where there are none."""
        pairs = [(rival, self.shared(model, rival)) for rival in rivals if rival != model]
        pairs = [(rival, tasks) for rival, tasks in pairs if tasks]
        if not pairs:
            return np.nan, np.nan, np.nan

        def probability(losses: Losses) -> np.ndarray:
            by_rival = [
                np.mean([wins(losses[task][model], losses[task][rival]) for task in tasks], axis=0)
                for rival, tasks in pairs
            ]
            return np.mean(by_rival, axis=0)

        low, high = interval(probability(self.resamples))
        return float(probability(self.losses)), float(low), float(high)
