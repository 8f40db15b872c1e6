"""Jobs of the workflow with their predicted seconds, and which of them share a job of a cluster.

Starting a job of a cluster costs START seconds of a core whatever it does, so short jobs go together: as many
as fill PACK seconds, of which the start is one in a hundred. Jobs share a pack only if they wait for the same
jobs outside of it; no pack waits for what one of its members alone needs, and
packs never wait in a circle.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording.cost import Costs
from tensor_rnns.recording.units import Unit, units
from tensor_rnns.recording.work import work_of

START = 10.0
"""Seconds of a core that a job takes besides its work: Snakemake twice, and what runs the commands."""
PACK = 100 * START
"""Seconds of work that fill a pack: the start is then one in a hundred."""
MOST = 200
"""Jobs of a pack: their names stand in one argument of a command, which Linux lets have 128 KiB."""
COMMAND = {
    "train": 1.0, "select": 0.5, "probe": 4.0, "collect": 0.7, "compute": 3.0,
    "draw_figure": 2.5, "draw_table": 1.0, "draw_music": 1.0,
}  # fmt: skip
"""Seconds of a core that the command of a rule takes besides training."""
DRAWN = {"figures": "draw_figure", "tables": "draw_table", "music": "draw_music"}
"""The rule that fills a folder."""
SAFETY = 3.0
"""A job may take so many times its prediction: other processors, and what the cost model is wrong by."""
MEMORY_SAFETY = 1.5
"""The same for memory."""
PROCESSES = 800
"""Megabytes of a job besides its training: Snakemake, twice, and the process that runs the commands."""

Key = tuple[str, ...]
"""(rule, paper, experiment) and what else names a job: condition, variant, option, stage and chunk of train,
condition, variant and option of select, the name of a probe or of an artefact."""


@dataclass(frozen=True)
class Job:
    """A job of the workflow: core-seconds and megabytes predicted, jobs it waits for, data sets it reads."""

    key: Key
    seconds: float
    megabytes: float = 0.0
    after: Collection[Key] = ()
    data: Collection[str] = ()

    def minutes(self, attempt: int) -> int:
        """The time limit that it asks for when it is tried for the `attempt`-th time."""
        return max(2, math.ceil(SAFETY * self.seconds / 60)) * attempt

    def memory(self, attempt: int) -> int:
        """The megabytes that it asks for."""
        return round(PROCESSES + MEMORY_SAFETY * self.megabytes) * attempt


def jobs_of(
    catalogue: Catalogue, scale: str, data: str, size: int, engine: str, costs: Costs, device: str = "cpu"
) -> Iterator[Job]:
    """Every job of a report but those that run beside the controller, each after those that it waits for;
    ValueError as of `work_of` and `Costs.seconds`."""
    for key, experiment in catalogue.experiments.items():
        if experiment.kind == "compute":
            used = tuple(experiment.counted_on(data).values())
            own = experiment.content.get("seconds") if scale == "paper" else None
            tables = [Job(("compute", *key), own or COMMAND["compute"], data=used)]
        else:
            own = units([experiment], size, scale, data)
            trained = [job for unit in own for job in of_unit(unit, engine, costs, device)]
            yield from trained
            runs = [job.key for job in trained if job.key[0] == "train"]
            tables = [Job(("collect", *key), COMMAND["collect"], after=runs)]
            tables += [Job(("probe", *key, name), COMMAND["probe"], after=runs) for name in experiment.probes]
        yield from tables
        shown = [job.key for job in tables]
        for artefact in experiment.artefacts:
            for rule in dict.fromkeys(DRAWN[file.split("/")[0]] for file in artefact.files):
                yield Job((rule, *key, artefact.id), COMMAND[rule], after=shown)


def of_unit(unit: Unit, engine: str, costs: Costs, device: str) -> Iterator[Job]:
    """The jobs of a curve: its search, the choice, its final runs."""
    home = unit.experiment.paper, unit.experiment.name, *unit.curve
    chosen = (("select", *home),) if unit.search else ()
    searched: tuple[Key, ...] = ()
    for stage, number, group in unit.jobs:
        if stage == "final" and number == 0 and chosen:
            yield Job(chosen[0], COMMAND["select"], after=searched)
        key, used = ("train", *home, stage, str(number)), group[0].settings["dataset"]
        if stage == "search":
            searched += (key,)
        work = work_of(group[0], engine, device)
        seconds = COMMAND["train"] + costs.seconds(work, len(group)) * work.updates
        after = chosen if stage == "final" else ()
        yield Job(key, seconds, costs.megabytes(work, len(group)), after, (used,) if used else ())


def packed(jobs: Iterable[Job]) -> list[list[Job]]:
    """The jobs as a cluster is given them: packs in the order of their first jobs, long ones alone."""
    open_packs: dict[frozenset, list[Job]] = {}
    packs: list[list[Job]] = []
    for item in items(jobs):
        own = {job.key for job in item}
        outside = frozenset(name for job in item for name in (*job.after, *job.data) if name not in own)
        pack = open_packs.get(outside)
        if pack is None or not fits([*pack, *item]):
            pack = open_packs[outside] = []
            packs.append(pack)
        pack += item
    return packs


def items(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """What stays together: an experiment, or where that is too long a curve, or where that is too long the
    choice and the final runs; what comes after the training of a long experiment."""
    for _, of_experiment in groupby(jobs, lambda job: job.key[1:3]):
        whole = list(of_experiment)
        if fits(whole):
            yield whole
            continue
        trained = [job for job in whole if job.key[0] in ("train", "select")]
        for _, of_curve in groupby(trained, lambda job: job.key[3:6]):
            curve = list(of_curve)
            search = [job for job in curve if "search" in job.key]
            final = [job for job in curve if job not in search]
            if fits(curve):
                yield curve
            else:
                yield from ([job] for job in search)
                together = fits(final) or [job.key[0] for job in final] == ["select", "train"]
                yield from [final] if together else ([job] for job in final)
        if tables := [job for job in whole if job not in trained]:
            yield tables


def fits(jobs: Sequence[Job]) -> bool:
    """Whether a pack may hold them."""
    return seconds_of(jobs) <= PACK and len(jobs) <= MOST


def seconds_of(jobs: Iterable[Job]) -> float:
    """Their predicted seconds of a core together."""
    return sum(job.seconds for job in jobs)
