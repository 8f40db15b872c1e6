"""What drawings of many models on several tasks share: the losses of all runs, and what is said of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tensor_rnns.analysis.comparison import RESAMPLES, Comparison, loss_of
from tensor_rnns.analysis.measures import Measure
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.groups import names_of, part
from tensor_rnns.drawing.spec import RunsSpec
from tensor_rnns.drawing.tables import span
from tensor_rnns.experiments import resolve
from tensor_rnns.experiments.selector import CURVE, MAIN, Selector


@dataclass(frozen=True, kw_only=True)
class EntrantsSpec(RunsSpec):
    """An artefact of all variants on all conditions, by a measure whose lower values are better."""

    kind: ClassVar[str | None] = "train"
    measure: Measure


@dataclass(frozen=True)
class Entrants:
    """Variants as models, conditions as tasks, the (task, model) `asked` for, failed runs of each model."""

    data: ArtefactData
    comparison: Comparison
    asked: list[tuple[str, str]]
    failed: dict[str, int]
    remarks: list[str]

    @classmethod
    def of(cls, data: ArtefactData, spec: EntrantsSpec) -> "Entrants":
        """ValueError where no run has the measure."""
        rows = data.replicas(spec.where)
        rows["loss"] = [loss_of(run, spec.measure) for run in rows["run"]]
        if not np.isfinite(rows["loss"]).any():
            what, where = " ".join(map(str, spec.measure.block.values())), spec.where or "the main protocol"
            raise ValueError(f"no replica chosen by {where} has the measure {what}")
        losses: dict[str, dict[str, np.ndarray]] = {}
        for task, model in names_of(data, rows, CURVE[:2]):
            own = part(rows, CURVE[:2], (task, model))
            losses.setdefault(task, {})[model] = own["loss"].to_numpy(float)
        failed = rows[np.isinf(rows["loss"])]["variant"].value_counts().to_dict()
        every = resolve.curves(data.experiment, "")
        asked = [(task, model) for task, model, _ in (spec.where or Selector()).curves(every, MAIN)]
        return cls(data, Comparison(losses), asked, failed, data.remark_line(rows))

    def title(self, model: str) -> str:
        """How a model is called."""
        return self.data.title("variant", model)

    def tasks(self, names: list[str]) -> str:
        """Tasks in words."""
        return ", ".join(self.data.title("condition", name) for name in names) or "none"

    @property
    def notes(self) -> list[str]:
        """What counts how, and what is not there."""
        n = span(len(losses) for of_task in self.comparison.losses.values() for losses in of_task.values())
        failed = ", ".join(f"{self.title(model)} {count}" for model, count in self.failed.items()) or "none"
        few = "few seeds give too narrow intervals"
        said = f"n = {n} seeds a model and task; {RESAMPLES:,} resamples of the seeds within each; {few}."
        return [f"{said} Failed, and counted as worse than any other run: {failed}.", *self.gaps()]

    def gaps(self) -> Iterator[str]:
        """Models that a task cannot take and why; tasks that were not run; how many others were not."""
        there = {(task, model) for task, models in self.comparison.losses.items() for model in models}
        for task in self.comparison.losses:
            for model, reason in resolve.left_out(self.data.experiment, task).items():
                yield f"Not on {self.tasks([task])}: {self.title(model)}, since {reason}."
        absent = list(dict.fromkeys(task for task, _ in self.asked if task not in self.comparison.losses))
        if absent:
            yield f"Not run at all: {self.tasks(absent)}."
        if missing := len({pair for pair in self.asked if pair[0] not in absent} - there):
            yield f"{missing} pairs of a model and a task were not run; a model is compared on what it has."
