"""`snakemake --profile slurm all` takes the smoke scale from a fresh clone to its report, with a GPU.

Some experiments are chosen, with each rule, cohorts, searches, probes and computed tables: short jobs, which
go to Slurm in packs.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording import packing
from tensor_rnns.recording.cost import Costs

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1000
EXPERIMENTS = ("addition", "polyphony", "theory", "counts", "sizes", "windows")
PART = "papers=" + ",".join(f"mathews2016/{name}" for name in EXPERIMENTS)
# The first look comes early.
EARLY = ("--slurm-init-seconds-before-status-checks", "1")


def predicted_packs() -> dict[str, tuple[int, float]]:
    """{pack: (its jobs, what they and its start are predicted to take)} as the plan has them."""
    catalogue = Catalogue.load("workflow/papers", [f"mathews2016/{name}" for name in EXPERIMENTS])
    packs = packing.packed(packing.jobs_of(catalogue, "smoke", "embedded", 5, "auto", Costs.read()))
    return {
        f"pack-{number}": (len(pack), packing.START + packing.seconds_of(pack))
        for number, pack in enumerate(packs)
    }


@pytest.mark.slurm
@pytest.mark.timeout(LIMIT + 60)
def test_smoke_scale_runs_through_slurm_to_the_report(cluster, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    programs = f"{cluster.folder}/bin:{Path(sys.executable).parent}"
    cluster.variables["PATH"] = f"{programs}:{cluster.variables['PATH']}"
    cluster.variables["PYTHONPATH"] = str(clone / "src")
    chosen = ["scale=smoke", "data=embedded", "gpus=1", PART]
    command = ["snakemake", "--profile", "slurm", "all", "--config", *chosen]
    done = cluster.run(*command, *EARLY, within=LIMIT, cwd=clone)
    listing = cluster.run("squeue", "--states=all", "--noheader", "--format=%i %T %j %M %k", within=30).stdout
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
    print("pack  jobs  predicted core s  measured s on 2 processors")
    for line in sorted(listing.splitlines()):
        *_, elapsed, comment = line.split(maxsplit=4)
        name = re.match(r"rule_(pack-\d+)_", comment)[1]
        minutes, seconds = map(int, elapsed.split(":"))
        jobs, expected = predicted[name]
        print(f"{name} {jobs:>4} {expected:>12.0f} {60 * minutes + seconds:>12}")
    assert len(listing.splitlines()) == len(predicted), listing
    assert runs
    assert len(listing.splitlines()) < len(runs) / 3
    assert {"0", "1"} & set(given)
