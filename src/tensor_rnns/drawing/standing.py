"""A table of how each model stands over all tasks: against one model, and against all others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tensor_rnns.analysis.comparison import BOOTSTRAP, Comparison
from tensor_rnns.declared import suggestion
from tensor_rnns.drawing.data import ArtefactData
from tensor_rnns.drawing.entrants import Entrants, EntrantsSpec
from tensor_rnns.drawing.tables import NONE, TITLE, Table, shown


@dataclass(frozen=True, kw_only=True)
class Spec(EntrantsSpec):
    """The probability of each variant to beat the variant `against`, and to beat any other."""

    against: str


def draw(data: ArtefactData, spec: Spec) -> Table:
    """The table, a row for each model."""
    entrants = Entrants.of(data, spec)
    comparison = entrants.comparison
    if spec.against not in comparison.models:
        raise ValueError(f"against is {spec.against!r}; {suggestion(spec.against, comparison.models)}")
    beats = f"P(beats {entrants.title(spec.against)})"
    rivals = {beats: [spec.against], "P(beats another model)": comparison.models}
    remark = " ".join([*(f"{line}." for line in entrants.remarks), *entrants.notes])
    records = []
    for model in comparison.models:
        tasks = comparison.met(model)
        key = NONE | _counts(comparison, model, tasks) | {"paper": None, "remark": remark}
        key |= {"variant": model, "variant" + TITLE: entrants.title(model)}
        records.append(key | {"column": "tasks", "ours": len(tasks), "shown": str(len(tasks))})
        for column, others in rivals.items():
            p, low, high = comparison.improvement(model, others)
            of_met = _counts(comparison, model, comparison.met(model, others))
            ends = {"low": low, "high": high, "interval": BOOTSTRAP} if comparison.certain else {}
            text = f"{shown(p)} [{shown(low)}, {shown(high)}]" if ends else shown(p)
            ours = ends | {"ours": p, "shown": text} if np.isfinite(p) else {}
            records.append(key | of_met | {"column": column} | ours)
    return Table(["variant"], records)


def _counts(comparison: Comparison, model: str, tasks: Sequence[str]) -> dict[str, int]:
    """How many runs of a model there are on `tasks`, and how many of them failed."""
    own = [comparison.losses[task][model] for task in tasks]
    return {"n": sum(map(len, own)), "failed": int(sum(np.isinf(losses).sum() for losses in own))}
