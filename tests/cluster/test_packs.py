"""A pack of short jobs is one job of Slurm; what goes wrong with one of them, or with the whole pack, takes
nothing with it that is done."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACK = 'lambda wildcards: prepare_groups() or workflow.parent_groupids.setdefault("few", "pack") and "few"'
WORKFLOW = f"""
config = {{"gpus": 0, "longest_job": 0}}
include: {str(ROOT / "workflow" / "rules" / "packing.smk")!r}
rule all:
    input: expand("out/{{i}}", i=range(5)), "out/after-0", "out/after-3"
rule one:
    output: "out/{{i}}"
    wildcard_constraints: i="[0-9]"
    group: {PACK}
    shell: "echo $SLURM_JOB_ID >> started-{{wildcards.i}}; test {{wildcards.i}} != 3 && touch {{output}}"
rule after:
    input: "out/{{i}}"
    output: "out/after-{{i}}"
    wildcard_constraints: i="[0-9]"
    group: {PACK}
    shell: "touch {{output}}"
"""


FAULT = f"""
config = {{"gpus": 0, "longest_job": 0}}
include: {str(ROOT / "workflow" / "rules" / "packing.smk")!r}
rule all:
    input: expand("out/{{i}}", i=range(4))
rule one:
    input: lambda wildcards: [f"out/{{int(wildcards.i) - 1}}"] * (wildcards.i > "0")
    output: "out/{{i}}"
    group: {PACK}
    resources: mem_mb=lambda wildcards, attempt: 600 * attempt
    shell: "echo $SLURM_JOB_ID >> started-{{wildcards.i}}; sh ./on-{{wildcards.i}} && touch {{output}}"
"""
HOLD = "while test -e hold; do sleep 0.2; done"
GREEDY = f"test ! -e hold || {{ rm hold; {sys.executable} -c 'x = bytearray(3 * 10**9); input()'; }}"
FAULTS = {
    "cancelled": (HOLD, ("scancel", "1")),
    "time limit": (HOLD, ("scontrol", "update", "jobid=1", "EndTime=now+1")),
    "node down": (HOLD, ("scontrol", "update", "nodename=one", "state=down", "reason=test")),
    "memory": (GREEDY, ()),
}


def command(cluster) -> list[str]:
    """Snakemake on the private Slurm, a job tried twice."""
    cluster.variables["PATH"] = (
        f"{cluster.folder}/bin:{Path(sys.executable).parent}:{cluster.variables['PATH']}"
    )
    line = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "9", "--cores", "2", "all"]
    line += ["--keep-going", "--retries", "1", "--slurm-status-command", "squeue", "--latency-wait", "5"]
    line += ["--default-resources", "mem_mb=1000", "runtime=5"]
    return [*line, "--slurm-init-seconds-before-status-checks", "1"]


def started(folder: Path) -> dict[str, list[str]]:
    """The jobs of Slurm in which each job of the workflow was started, by its name."""
    return {path.name[8:]: path.read_text().split() for path in folder.glob("started-*")}


@pytest.mark.slurm
@pytest.mark.timeout(400)
def test_a_job_that_always_fails_is_tried_alone_and_the_rest_of_its_pack_is_kept(cluster, tmp_path: Path):
    (tmp_path / "Snakefile").write_text(WORKFLOW, encoding="utf-8")
    done = cluster.run(*command(cluster), within=300, cwd=tmp_path)
    told = done.stdout + done.stderr
    assert done.returncode == 1, told
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"0", "1", "2", "4", "after-0"}, told
    # Each job that succeeds ran once, all in one job of Slurm; the other one ran once more, by itself.
    ran = started(tmp_path)
    assert ran.pop("3") == ["1", "2"]
    assert set(map(tuple, ran.values())) == {("1",)}, ran
    assert "few: 5 of 7 jobs are done" in told


@pytest.mark.slurm
@pytest.mark.timeout(300)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_pack_that_is_broken_off_goes_on_where_it_was(two_nodes, tmp_path: Path, fault: str):
    """Of four jobs in a row the third is under way when the fault comes: the first two are not run again.

    Only where Slurm itself takes the job back and starts the same command, all run again; a training then
    takes the results that it has kept.
    """
    doing, cause = FAULTS[fault]
    (tmp_path / "Snakefile").write_text(FAULT, encoding="utf-8")
    (tmp_path / "hold").touch()
    for i in range(4):
        (tmp_path / f"on-{i}").write_text(doing if i == 2 else "true", encoding="utf-8")
    line = command(two_nodes)
    with open(tmp_path / "told", "w", encoding="utf-8") as told:
        run = subprocess.Popen(
            line, cwd=tmp_path, env=os.environ | two_nodes.variables, stdout=told, stderr=told
        )
        while "2" not in started(tmp_path):
            assert run.poll() is None, (tmp_path / "told").read_text()
            time.sleep(0.1)
        if cause:
            caused = two_nodes.run(*cause, within=30)
            assert caused.returncode == 0, caused
        while run.poll() is None and len(started(tmp_path)["2"]) < 2:
            if fault == "node down":
                # Else Slurm waits two minutes before it starts a job that it has taken back, and holds one
                # that it starts while the first try is ending.
                two_nodes.run("scontrol", "update", "jobid=1", "StartTime=now", within=30)
                two_nodes.run("scontrol", "release", "1", within=30)
            time.sleep(2)
        (tmp_path / "hold").unlink(missing_ok=True)
        assert run.wait(200) == 0, (tmp_path / "told").read_text()
    ran = started(tmp_path)
    assert [ran["0"], ran["1"]] == [["1", "1"] if fault == "node down" else ["1"]] * 2, ran
    assert [len(ran["2"]), len(ran["3"])] == [2, 1], ran
