"""Proves that files of every kind that is read, damaged in any way, are read or refused by name: one of our
errors, with the file in it and of bounded length, within seconds and without much memory.

The inputs are mutations of small real files, most of them sealed again so that they pass the sum. They are
the same in each run unless FUZZ_INPUTS says how many new ones to try.
"""

import os
import random
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensor_rnns.datasets.sums import Refused
from tests.fuzz import kinds_of_data, kinds_of_results  # noqa: F401 - they fill KINDS
from tests.fuzz.kinds import CHARACTERS, KINDS, LINES
from tests.fuzz.mutation import Mutation

SECONDS, MEGABYTES = 10, 400
"""Bounds: processor time of one input, and memory that a kind takes beyond what it began with."""


class Hang(BaseException):
    """An input took longer than SECONDS."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Hang where the block takes longer, counted by the processor: a disk may be slow."""

    def ring(*_: object) -> None:
        raise Hang(f"an input took more than {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def memory(name: str) -> int:
    """Megabytes of this process: VmRSS now, or VmHWM at most since its peak was forgotten."""
    return int(re.search(rf"{name}:\s+(\d+) kB", Path("/proc/self/status").read_text())[1]) // 1024


def fault(error: Exception, folder: Path) -> str:
    """What is wrong with an error: of Python's own making, without the name of the file, or too long."""
    if type(error) is not ValueError and not type(error).__module__.startswith("tensor_rnns."):
        return f"{type(error).__name__} is not ours: {error}"
    if str(folder) not in str(error):
        return f"no file is named: {error}"
    lines = str(error).split("\n")
    return (
        f"{len(str(error)):,} characters: {error}"
        if max(map(len, lines)) > CHARACTERS or len(lines) > LINES
        else ""
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_are_read_or_refused_by_name(name, tmp_path, inputs, share):
    count, make = KINDS[name]
    trial = make(tmp_path)
    tried = refused = 0
    fresh = "FUZZ_INPUTS" in os.environ
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")

    @settings(max_examples=max(1, round(count * share)), derandomize=not fresh, database=None, deadline=None,
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(seed=st.integers(0, 2**63))
    def each(seed: int) -> None:
        nonlocal tried, refused
        tried += 1
        try:
            with within(SECONDS):
                trial(Mutation(random.Random(seed)))
        except (ValueError, Refused) as error:
            refused += 1
            told = fault(error, tmp_path)
            if told:
                pytest.fail(told)

    each()
    assert tried >= round(count * share)
    inputs(name, tried, refused)
    assert refused > tried / 4, f"{refused} of {tried} refused: the damage does not reach what it should"
    assert memory("VmHWM") - before < MEGABYTES


def test_ten_thousand_inputs_are_tried():
    assert sum(count for count, _ in KINDS.values()) >= 10_000
