"""Variants in turn, round after round, in one process; and how busy the machine was meanwhile."""

import os
import time
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch

from benchmarks.variants import Update
from tensor_rnns.training.job import no_garbage

LEAST_SECONDS = 0.1
BUSY_LOAD = 0.5
BUSY_CORES = 0.1


@dataclass(frozen=True)
class Variant:
    """What is timed, and with how many threads of torch."""

    update: Update
    threads: int


def rounds(
    variants: Mapping[Hashable, Variant], count: int, device: torch.device
) -> dict[Hashable, list[float]]:
    """Milliseconds an update of each variant in each of `count` rounds.

    A variant has its own number of threads; the caller's is put back. Each turn begins with as many updates
    that are not timed: they find the memory that other variants gave up, and until threads have run for some
    hundredths of a second, the system may keep two of them on one core. A training has both behind it, and,
    as here, Python looks for no garbage in what was there before.

    Fast updates are repeated for LEAST_SECONDS.
    """
    before = torch.get_num_threads()
    seconds: dict[Hashable, list[float]] = {name: [] for name in variants}

    def taken(update: Update, repeats: int) -> float:
        synchronise(device)
        began = time.perf_counter()
        for _ in range(repeats):
            update()
        synchronise(device)
        return (time.perf_counter() - began) / repeats

    repeats = {}
    try:
        for name, variant in variants.items():
            torch.set_num_threads(variant.threads)
            taken(variant.update, 1)
            repeats[name] = max(1, round(LEAST_SECONDS / taken(variant.update, 1)))
        with no_garbage():
            for _ in range(count):
                for name, variant in variants.items():
                    torch.set_num_threads(variant.threads)
                    taken(variant.update, repeats[name])
                    seconds[name].append(taken(variant.update, repeats[name]))
    finally:
        torch.set_num_threads(before)
    return {name: [1e3 * value for value in values] for name, values in seconds.items()}


def by_cell(
    variants: Mapping[tuple[str, str], Variant], count: int, device: torch.device
) -> dict[str, dict[str, list[float]]]:
    """`rounds` of variants called (cell, kind) as they are written down, by cell and kind."""
    found: dict[str, dict[str, list[float]]] = {}
    for (name, kind), values in rounds(variants, count, device).items():
        found.setdefault(name, {})[kind] = [round(value, 5) for value in values]
    return found


def synchronise(device: torch.device) -> None:
    """Wait for what a GPU still has to do."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def failure(update: Update, device: torch.device) -> str | None:
    """Why an update cannot be made, in a line; None where it can.

    One variant that fails, for want of memory or of room on a chip, must not cost the tables of the others.
    """
    try:
        update()
        synchronise(device)
    except Exception as error:
        torch.cuda.empty_cache()
        return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    return None


@dataclass
class Watch:
    """Load averages before and after, and how many cores other processes used meanwhile (None: unknown)."""

    load: list[float] = field(default_factory=list)
    others: float | None = None

    @property
    def busy(self) -> bool:
        """Whether figures of that time should not be quoted. Where the work of others is not known, the load
        before says it: the one after is our own."""
        return self.load[0] > BUSY_LOAD if self.others is None else self.others > BUSY_CORES

    def record(self) -> dict:
        """As JSON."""
        return {"load_average": self.load, "cores_of_others": self.others, "busy": self.busy}


def busy_seconds() -> float | None:
    """Seconds of all cores that were not idle since the machine started; None where the system does not say.

    Linux counts user, nice, system, idle, waiting, interrupts of two kinds, and stolen.
    """
    counters = Path("/proc/stat")
    if not counters.exists():
        return None
    ticks = [int(part) for part in counters.read_text().splitlines()[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


@contextmanager
def watched() -> Iterator[Watch]:
    """What the machine did while the block ran."""
    watch = Watch([round(os.getloadavg()[0], 2)])
    busy, own, began = busy_seconds(), sum(os.times()[:4]), time.perf_counter()
    yield watch
    elapsed, own = time.perf_counter() - began, sum(os.times()[:4]) - own
    after = busy_seconds()
    watch.load.append(round(os.getloadavg()[0], 2))
    if busy is not None and after is not None:
        watch.others = round(max(0.0, (after - busy - own) / elapsed), 2)
