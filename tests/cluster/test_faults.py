"""Train jobs that meet faults on a cluster end with the bytes of runs that nobody disturbed."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster.faults import FAULTS, HERE, LIMIT, Scenes, orphan, table
from tests.workflow.conftest import copy_project

EXPERIMENT = "faults2024/chorales"
FAILING = (
    "train faults2024/chorales/failing/gru/main/final/0 failed: evaluate.criterion is 'pitch'; "
    "the task's metrics are loss, nll (not tried again)"
)
RUNS = f"results/smoke/runs/{EXPERIMENT}"
NAMES = ("metrics.csv", "curves.csv.gz", "weights.safetensors")
ON_SLURM = (
    *("--profile", "slurm", "--slurm-init-seconds-before-status-checks", "1"),
    # Short trainings would share a pack; here each meets a fault of its own.
    *("--groups", "train=alone", "--latency-wait", "10"),
    *(
        "--default-resources",
        "mem_mb=1000",
        "runtime=5",
        "--set-resources",
        "train:runtime=10",
        "train:mem_mb=1000",
    ),
)


def command(*options: str) -> list[str]:
    """The command that is typed, and typed again."""
    script = [sys.executable, "workflow/scripts/snakemake_locked.py"]
    chosen = ["scale=smoke", "data=embedded", f"paper_roots={HERE / 'papers'}", f"papers={EXPERIMENT}"]
    return [*script, *options, "--config", *chosen, "--"]


@pytest.fixture
def small_disk(tmp_path: Path):
    """A file system of 256 KB for the state of one training."""
    folder = tmp_path / "faults" / "disk"
    folder.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.slurm
@pytest.mark.timeout(600)
def test_faults_leave_the_bytes_of_undisturbed_runs(two_nodes, small_disk, tmp_path: Path) -> None:
    checkout, quiet = copy_project(tmp_path / "checkout"), copy_project(tmp_path / "quiet")
    scenes = Scenes(two_nodes, checkout)
    names = [*(fault.__name__ for fault in FAULTS), "orphan"]
    scenes.hold(*names)
    line = [*command(*ON_SLURM), "all"]
    scenes.start(line)
    try:
        with ThreadPoolExecutor(len(FAULTS)) as pool:
            met = dict(zip(names, pool.map(lambda fault: fault(scenes), FAULTS), strict=False))
        met["orphan"] = orphan(scenes, line)
        code = scenes.controller.wait(LIMIT)
    except BaseException:
        print(scenes.log.read_text(encoding="utf-8"))
        raise
    finally:
        scenes.controller.kill()
    said = scenes.log.read_text(encoding="utf-8").splitlines()
    print(*table(met, said), sep="\n")
    assert code == 1
    failing = [
        line for line in said if line.startswith("train") and "failing" in line and "(not tried" in line
    ]
    assert failing == [FAILING] * 2, "once for each time that the command was typed"
    page = next((checkout / "results/smoke-partial/report").rglob("*chorales*.html")).read_text(
        encoding="utf-8"
    )
    assert "evaluate.criterion is &#39;pitch&#39;" in page or "evaluate.criterion is 'pitch'" in page

    targets = [f"{RUNS}/{name}/gru/main/final-0/metrics.csv" for name in names]
    paths = {"PYTHONPATH": str(quiet / "src")}
    subprocess.run([*command("--cores", "2"), *targets], cwd=quiet, env=os.environ | paths, check=True)
    for name in names:
        for file in NAMES:
            ours, theirs = (home / RUNS / name / "gru/main/final-0" / file for home in (checkout, quiet))
            assert ours.read_bytes() == theirs.read_bytes(), (name, file)
