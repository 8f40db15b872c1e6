"""A cluster of so many workers, simulated: when a catalogue is done, and how busy the workers are."""

import heapq
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from matplotlib.figure import Figure

from tensor_rnns import files
from tensor_rnns.drawing import style
from tensor_rnns.recording.packing import START, Job, packed, seconds_of

FIRST_POLL, LONGEST_POLL = 5.0, 180.0
"""Seconds between two questions for the state of jobs: the first interval of the profile, and the longest."""


class Outcome(NamedTuple):
    """Hours until the last job is seen to end, the share of them that the workers are at work, core-hours of
    starts and of the work, and how many jobs the cluster is given."""

    finish: float
    utilisation: float
    starts: float
    work: float
    jobs: int

    @property
    def overhead(self) -> float:
        """Starts as a share of all core-hours."""
        return self.starts / max(self.starts + self.work, 1e-9)


def poll_wait(seconds: float) -> float:
    """How long after the end of a job of so many seconds the controller sees it, on average: half an
    interval, which is a tenth of the age of the job."""
    return min(LONGEST_POLL, max(FIRST_POLL, seconds / 10)) / 2


def cluster(jobs: Iterable[Job], workers: int) -> Outcome:
    """Run the packs of `jobs` on `workers`: whenever one is free it takes the longest pack that is ready."""
    packs = packed(jobs)
    home = {job.key: number for number, pack in enumerate(packs) for job in pack}
    waits = [{home[key] for job in pack for key in job.after} - {n} for n, pack in enumerate(packs)]
    heirs: dict[int, list[int]] = {}
    for number, before in enumerate(waits):
        for other in before:
            heirs.setdefault(other, []).append(number)
    length = [START + seconds_of(pack) for pack in packs]
    ready = [(-length[n], n) for n, before in enumerate(waits) if not before]
    heapq.heapify(ready)
    # (time, pack, what happens: a worker is free, or the controller has seen the end)
    events: list[tuple[float, int, bool]] = []
    now, free, busy = 0.0, workers, 0.0
    while ready or events:
        while ready and free:
            _, number = heapq.heappop(ready)
            free, busy, end = free - 1, busy + length[number], now + length[number]
            heapq.heappush(events, (end, number, False))
            heapq.heappush(events, (end + poll_wait(length[number]), number, True))
        now, number, seen = heapq.heappop(events)
        free += not seen
        for heir in heirs.get(number, ()) if seen else ():
            waits[heir].discard(number)
            if not waits[heir]:
                heapq.heappush(ready, (-length[heir], heir))
    starts = START * len(packs)
    share = busy / max(now * workers, 1e-9)
    return Outcome(now / 3600, share, starts / 3600, (busy - starts) / 3600, len(packs))


def sentence(outcome: Outcome, jobs: int) -> str:
    """How many jobs of a cluster do `jobs` of the workflow, and what that costs, in words."""
    return (
        f"packs: {outcome.jobs} jobs of a cluster for {jobs} of the workflow; starting them takes "
        f"{outcome.starts:.2g} core-hours, {outcome.overhead:.2%} of all"
    )


def table(outcomes: Mapping[tuple[int, int], Outcome]) -> Iterator[str]:
    """A line for each number of workers and each cohort size."""
    yield f"{'workers':>8}{'cohort size':>13}{'jobs':>8}{'finish h':>11}{'busy':>7}{'starts':>8}"
    for (workers, size), outcome in sorted(outcomes.items()):
        shares = f"{outcome.utilisation:>7.0%}{outcome.overhead:>8.2%}"
        yield f"{workers:>8}{size:>13}{outcome.jobs:>8}{outcome.finish:>11.2f}{shares}"


def draw(outcomes: Mapping[tuple[int, int], Outcome], path: Path) -> None:
    """Finish time and utilisation against cohort size, a line for each number of workers, as an SVG file."""
    sizes, numbers = (sorted({key[index] for key in outcomes}) for index in (1, 0))
    with style.styled():
        figure = Figure(figsize=(7.0, 2.8), layout="constrained")
        panels = figure.subplots(1, 2)
        titles = {"finish": "hours", "utilisation": "share of time at work"}
        for panel, (name, title) in zip(panels, titles.items(), strict=True):
            for rank, workers in enumerate(numbers):
                values = [getattr(outcomes[workers, size], name) for size in sizes]
                panel.plot(sizes, values, label=f"{workers} workers", **style.ramp(rank, len(numbers)))
            panel.set(
                xscale="log", xlabel="cohort size", ylabel=title, xticks=sizes, xticklabels=map(str, sizes)
            )
            panel.minorticks_off()
        panels[0].set_yscale("log")
        panels[1].set_ylim(0, 1.02)
        panels[0].legend()
        with files.writing(path, "wb") as stream:
            style.save(figure, stream, "svg")
