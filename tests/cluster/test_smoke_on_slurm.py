"""`snakemake --profile slurm all` takes the smoke scale from a fresh clone to its report, with a GPU.

Some experiments are chosen, with each rule, cohorts, searches, probes and computed tables: short jobs, which
go to Slurm in packs.
"""

import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording import packing
from tensor_rnns.recording.cost import Costs
from tests.workflow.conftest import keep_what_was_read

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1000
EXPERIMENTS = ("addition", "polyphony", "theory", "counts", "sizes", "windows")
RECORDED = ("!/results/recorded/runs/", "/results/recorded/runs/mathews2016/polyphony/jsb/tgu/")
PART = "papers=" + ",".join(f"mathews2016/{name}" for name in EXPERIMENTS)
# The first look comes early.
EARLY = ("--slurm-init-seconds-before-status-checks", "1")


AT_ONCE = 2
"""Jobs of a pack that run at once: `cores` of the profile."""


def predicted_packs() -> dict[str, tuple[int, float, float]]:
    """{pack: (its jobs, seconds and megabytes that they and its start are predicted to take)} as planned."""
    catalogue = Catalogue.load("workflow/papers", [f"mathews2016/{name}" for name in EXPERIMENTS])
    packs = packing.packed(packing.jobs_of(catalogue, "smoke", "embedded", 5, "auto", Costs.read()))
    return {f"pack-{number}": (len(pack), *seconds_and_megabytes(pack)) for number, pack in enumerate(packs)}


def seconds_and_megabytes(pack: list[packing.Job]) -> tuple[float, float]:
    """What a pack is predicted to take, with its start and the largest jobs that can run at once."""
    largest = sorted(job.megabytes for job in pack)[-AT_ONCE:]
    return packing.START + packing.seconds_of(pack), packing.PROCESSES + sum(largest)


@contextmanager
def memory_by_job(cluster) -> Iterator[dict[str, float]]:
    """{job: the most megabytes of its steps so far} as Slurm measures them, each second of the block."""
    most: dict[str, float] = {}
    over = Event()

    def watch() -> None:
        while not over.wait(1.0):
            jobs = cluster.run("squeue", "--states=running", "--noheader", "--format=%i", within=30).stdout
            line = ("sstat", "--allsteps", "--noheader", "--parsable2", "--format=JobID,MaxRSS")
            for job in jobs.split():
                told = cluster.run(*line, f"--jobs={job}", within=30).stdout
                sizes = [float(size) for size in re.findall(r"\|(\d+)K?$", told, re.MULTILINE)]
                most[job] = max(most.get(job, 0.0), sum(sizes) / 1024)

    thread = Thread(target=watch)
    thread.start()
    try:
        yield most
    finally:
        over.set()
        thread.join()


@pytest.mark.slurm
@pytest.mark.timeout(LIMIT + 60)
def test_smoke_scale_runs_through_slurm_to_the_report(cluster, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    # With the recorded runs of one curve: all of them would be joined and drawn.
    subprocess.run(["git", "clone", "--quiet", "--sparse", str(ROOT), str(clone)], check=True)
    sparse = ["git", "sparse-checkout", "set", "--no-cone", "/*", *RECORDED]
    subprocess.run(sparse, cwd=clone, check=True)
    keep_what_was_read(clone)
    programs = f"{cluster.folder}/bin:{Path(sys.executable).parent}"
    cluster.variables["PATH"] = f"{programs}:{cluster.variables['PATH']}"
    cluster.variables["PYTHONPATH"] = str(clone / "src")
    chosen = ["scale=smoke", "data=embedded", "gpus=1", PART]
    command = ["snakemake", "--profile", "slurm", "all", "--config", *chosen]
    with memory_by_job(cluster) as used:
        began = time.monotonic()
        done = cluster.run(*command, *EARLY, within=LIMIT, cwd=clone)
        took = time.monotonic() - began
    listing = cluster.run(
        "squeue", "--states=all", "--noheader", "--format=%i %T %j %m %M %k", within=30
    ).stdout
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:] + listing
    assert (clone / "results" / "smoke" / "report" / "index.html").stat().st_size > 1000

    assert {line.split()[1] for line in listing.splitlines()} == {"COMPLETED"}, listing
    assert all("tensor-rnns" in line for line in listing.splitlines()), listing
    given = re.findall(r"step=\d+ gpus=(.*)", (cluster.folder / "steps.log").read_text(encoding="utf-8"))
    runs = list((clone / "results" / "smoke" / "runs").rglob("record.json"))
    print(f"{len(listing.splitlines())} jobs, {len(runs)} of training, steps by GPU given: {Counter(given)}")
    print(listing)
    # Packs by what they wait for: nothing, and each data set. Those that train share a GPU.
    predicted = predicted_packs()
    print(f"{took:.0f} s in all; predicted core s, measured s on 2 processors, MB predicted, asked, used:")
    for line in sorted(listing.splitlines()):
        job, _, _, asked, elapsed, comment = line.split(maxsplit=5)
        name = re.match(r"rule_(pack-\d+)_", comment)[1]
        minutes, seconds = map(int, elapsed.split(":"))
        jobs, expected, megabytes = predicted[name]
        limit = float(asked[:-1]) * {"M": 1, "G": 1024}[asked[-1]]
        print(f"{name} {jobs:>4} jobs {expected:>6.0f} {60 * minutes + seconds:>6}", end=" ")
        print(f"{megabytes:>7.0f} {limit:>7.0f} {used[job]:>7.0f}")
        assert 0 < used[job] <= limit, (name, asked, used)
    assert len(listing.splitlines()) == len(predicted), listing
    assert runs
    assert len(listing.splitlines()) < len(runs) / 3
    assert {"0", "1"} & set(given)
