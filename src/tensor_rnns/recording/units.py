"""What is recorded at once: one curve, from its search to its probes; and what that will cost."""

import difflib
import fnmatch
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tensor_rnns.experiments import Experiment, Replica, Selector, cohorts
from tensor_rnns.experiments.selector import CURVE, Curve
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.work import work_of

POINT_BYTES = 150
"""Bytes of a point of a curve in the run folder, in the state folder and in the collected table together."""
WEIGHT_BYTES = 8
"""Bytes of a parameter of a replica in the run folder and in the state folder."""


@dataclass(frozen=True)
class Unit:
    """One curve at a scale: the jobs of its search, if it has one, and of its final runs."""

    experiment: Experiment
    scale: str
    data: str
    curve: Curve
    search: Sequence[Sequence[Replica]]
    final: Sequence[Sequence[Replica]]

    @property
    def name(self) -> str:
        """paper/experiment/condition/variant/option, as in the paths of its files."""
        return "/".join((self.experiment.paper, self.experiment.name, *self.curve))

    @property
    def jobs(self) -> list[tuple[str, int, Sequence[Replica]]]:
        """(stage, chunk, replicas) of every train job, in the order in which they can run."""
        stages = (("search", self.search), ("final", self.final))
        return [(stage, n, group) for stage, groups in stages for n, group in enumerate(groups)]

    @property
    def seeds(self) -> int:
        """How many final runs there are."""
        return sum(map(len, self.final))

    @property
    def probes(self) -> dict[str, Mapping[str, Any]]:
        """The probes that look at this curve."""
        main = self.experiment.main_option(self.scale)
        key = dict(zip(CURVE, self.curve, strict=True)) | {"stage": "final"}
        probes = self.experiment.probes.items()
        return {name: it for name, it in probes if Selector.of(it.get("where")).at(main).takes(key)}

    def finals(self, chosen: Mapping[str, Any] | None, seeds: int = 0) -> list[Replica]:
        """The final replicas with the values that the search chose; at least `seeds` of them."""
        values = {self.curve: chosen} if chosen else None
        most = max(seeds, self.seeds)
        return self.experiment.replicas(self.scale, self.data, "final", values, most, self.curve)

    def folder(self, results: Path, scale: str = "") -> Path:
        """The folder of its runs below the results of its scale, or of another one."""
        return results / (scale or self.scale) / "runs" / self.name


def units(
    experiments: Iterable[Experiment], size: int, scale: str = "paper", data: str = "real", seeds: int = 0
) -> Iterator[Unit]:
    """Every curve of the experiments, cut into jobs as the rules cut it; at least `seeds` final seeds."""
    for experiment in experiments:
        curves: dict[Curve, dict[str, list[Replica]]] = {}
        for stage in ("search", "final"):
            for replica in experiment.replicas(scale, data, stage, None, seeds):
                curves.setdefault(replica.curve_key[2:], {}).setdefault(stage, []).append(replica)
        width = experiment.cohort_size(size)
        for curve, by_stage in curves.items():
            stages = (cohorts(by_stage.get(stage, ()), width) for stage in ("search", "final"))
            yield Unit(experiment, scale, data, curve, *stages)


def chosen(candidates: Sequence[Unit], patterns: Sequence[str]) -> list[Unit]:
    """Those of `candidates` that any of the `patterns` takes, or all; ValueError for one that takes none."""
    names = [unit.name for unit in candidates]
    for pattern in patterns:
        if not fnmatch.filter(names, pattern):
            near = difflib.get_close_matches(pattern, names, 1, 0) or ["none"]
            raise ValueError(f"--curves {pattern!r} matches no curve; allowed are such as {near[0]!r}")
    alike = {name for pattern in patterns or ["*"] for name in fnmatch.filter(names, pattern)}
    return [unit for unit in candidates if unit.name in alike]


class Estimate(NamedTuple):
    """Core-hours, megabytes on disk and in memory of the largest job, hours of the longest chain of jobs."""

    hours: float
    disk: float
    memory: float
    chain: float


def estimate(unit: Unit, costs: Costs, engine: str = "auto", device: str = "cpu") -> Estimate:
    """What a unit costs; ValueError as of `work_of` and `Costs.seconds`."""
    hours: dict[str, list[float]] = {"search": [0.0], "final": [0.0]}
    disk = memory = 0.0
    for stage, _, group in unit.jobs:
        work = work_of(group[0], engine, device)
        hours[stage].append(costs.seconds(work, len(group)) * work.updates / 3600)
        disk += len(group) * (work.logged * POINT_BYTES + work.parameters * WEIGHT_BYTES) / 1e6
        memory = max(memory, costs.megabytes(work, len(group)))
    return Estimate(sum(map(sum, hours.values())), disk, memory, sum(map(max, hours.values())))


def hours_of_seeds(unit: Unit, more: int, costs: Costs) -> float:
    """The core-hours of so many more final seeds of a unit; none where `more` is negative."""
    return estimate(replace(unit, search=()), costs).hours / unit.seeds * max(more, 0)
