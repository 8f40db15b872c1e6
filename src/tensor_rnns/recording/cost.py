"""Seconds of an update and megabytes of a job from the work that they do.

    seconds = factor(cell) * (c0 + c1 S + c2 T + c3 S T + c4 S T B + ... + c11 S P)

for S replicas and P parameters that are gone over, with coefficients of each engine that are not negative.
They stand in benchmarks/recorded/costs.json, fitted by `python -m benchmarks.costs` to the measured updates
in costs.csv.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tensor_rnns.files import read_json
from tensor_rnns.recording import COSTS
from tensor_rnns.recording.work import Work

REMEDY = "measure again: python -m benchmarks.costs --record"


def features(work: Work, replicas: int) -> list[float]:
    """What the seconds of an update of a job are a sum of."""
    s, narrow = replicas, max(work.state, 1)
    numbers = s * work.rows * work.inputs, s * work.rows * work.state
    products = s * work.core, s * work.head, s * work.core / narrow, s * work.head / narrow
    return [1, s, work.steps, s * work.steps, s * work.rows, *numbers, *products, s * work.touched]


def held(work: Work, replicas: int) -> list[float]:
    """What the megabytes of a job are a sum of."""
    s, narrow = replicas, max(work.state, 1)
    rows = s * work.rows, s * work.rows * work.inputs, s * work.rows * work.state
    return [1, *rows, s * work.core / narrow, s * work.head / narrow, s * work.parameters]


def family(work: Work) -> str:
    """Works whose seconds have the same coefficients: an engine, or models without a cell.

    The loop runs cells of the project where their matrices are large: the products take its time, and it is
    put with the compiled engine.
    """
    return {"eager": "compiled"}.get(work.engine, work.engine) if work.state else "without a cell"


@dataclass(frozen=True)
class Costs:
    """A fitted model: coefficients by family, factors by family and cell, megabytes, how far it is off."""

    coefficients: Mapping[str, Sequence[float]]
    factors: Mapping[str, Mapping[str, float]]
    memory: Sequence[float]
    summary: str

    @classmethod
    def read(cls, path: Path = COSTS) -> "Costs":
        """The model in a file; ValueError where there is none."""
        if not path.is_file():
            raise ValueError(f"--costs {path} given, which is no file; allowed are such as {COSTS}")
        return cls(**read_json(path, "costs", REMEDY))

    def seconds(self, work: Work, replicas: int) -> float:
        """Seconds of one update of a job; ValueError where nothing like it was measured."""
        name = family(work)
        if name not in self.coefficients:
            known = ", ".join(self.coefficients)
            raise ValueError(f"cost of engine {name} asked for; measured are {known}; {REMEDY}")
        base = dot(self.coefficients[name], features(work, replicas))
        return base * self.factors[name].get(work.cell, 1.0)

    def faster(self, times: float) -> "Costs":
        """The model of a device that trains so many times as fast."""
        divided = {name: [c / times for c in values] for name, values in self.coefficients.items()}
        return replace(self, coefficients=divided)

    def megabytes(self, work: Work, replicas: int) -> float:
        """The largest memory of a job."""
        return dot(self.memory, held(work, replicas))


def dot(left: Sequence[float], right: Sequence[float]) -> float:
    """The sum of products."""
    return sum(a * b for a, b in zip(left, right, strict=True))
