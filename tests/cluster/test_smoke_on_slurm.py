"""`snakemake --profile slurm all` takes the smoke scale from a fresh clone to its report, with a GPU.

A job of Slurm costs seconds whatever it does, so some experiments are chosen: each rule, cohorts,
searches, probes and computed tables occur in them.
"""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 1000
EXPERIMENTS = ("addition", "polyphony", "theory", "counts", "sizes", "windows")
PART = "papers=" + ",".join(f"mathews2016/{name}" for name in EXPERIMENTS)
# The profile suits jobs of hours. Here the first look comes early, and short jobs go to Slurm together.
GROUPS = (
    "train=train",
    "select=train",
    "collect=rest",
    "compute=rest",
    "probe=rest",
    "draw_figure=draw",
    "draw_table=draw",
    "draw_music=draw",
)
SHORT_JOBS = (
    *("--slurm-init-seconds-before-status-checks", "1"),
    *("--groups", *GROUPS),
    *("--group-components", "train=20", "rest=20", "draw=50"),
    *(
        "--set-resources",
        "train:runtime=5",
        "draw_figure:runtime=2",
        "draw_table:runtime=2",
        "draw_music:runtime=2",
    ),
    *("--default-resources", "mem_mb=1000", "runtime=5"),
    *("--resources", "gpu=2"),
)


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
    done = cluster.run(*command, *SHORT_JOBS, within=LIMIT, cwd=clone)
    listing = cluster.run("squeue", "--states=all", "--noheader", "--format=%i %T %j %M %r", within=30).stdout
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:] + listing
    assert (clone / "results" / "smoke" / "report" / "index.html").stat().st_size > 1000

    assert {line.split()[1] for line in listing.splitlines()} == {"COMPLETED"}, listing
    assert all("tensor-rnns" in line for line in listing.splitlines()), listing
    given = re.findall(r"step=\d+ gpus=(.*)", (cluster.folder / "steps.log").read_text(encoding="utf-8"))
    runs = list((clone / "results" / "smoke" / "runs").rglob("record.json"))
    print(f"{len(listing.splitlines())} jobs, {len(runs)} of training, steps by GPU given: {Counter(given)}")
    print(listing)
    assert runs
    assert sum(gpus != "" for gpus in given) >= len(runs)
    assert "" in given
