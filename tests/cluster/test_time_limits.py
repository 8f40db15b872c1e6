"""With `longest_job` no job of a cluster asks for more; a training that takes longer goes on in others."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "workflow" / "rules"
PACK = 'lambda wildcards: prepare_groups() or workflow.parent_groupids.setdefault("pair", "pack") and "pair"'
WORKFLOW = f"""
config = {{"gpus": 0, "longest_job": 7}}
include: {str(RULES / "failures.smk")!r}
include: {str(RULES / "packing.smk")!r}
rule all:
    input: "out/further", "out/stuck", "out/packed-1"
rule train:
    output: "out/{{name}}"
    log: "logs/{{name}}"
    wildcard_constraints: name="[a-z]+"
    resources: runtime=lambda wildcards, attempt: bounded(90 * attempt)
    shell: "sh ./train {{wildcards.name}} && touch {{output}}"
rule packed:
    input: lambda wildcards: ["out/packed-0"] * int(wildcards.i)
    output: "out/packed-{{i}}"
    wildcard_constraints: i="[01]"
    group: {PACK}
    resources: runtime=5
    shell: "squeue --noheader --format=%l --jobs=$SLURM_JOB_ID > limit-{{wildcards.i}} && touch {{output}}"
"""
TRAIN = """\
echo $SLURM_JOB_ID >> started-$1
made=$(cat made-$1 2> /dev/null || echo 0)
end() {
  echo "tensor-rnns: stopped at update $made of 9; the checkpoint is written; another try may pass" >> logs/$1
  exit 143
}
trap "end $1" TERM
test $1 = stuck && made=3 || made=$((made + 3))
echo $made > made-$1
while test $made != 9; do sleep 0.2; done
"""


@pytest.mark.slurm
@pytest.mark.timeout(400)
def test_a_training_goes_on_past_its_time_limit_as_long_as_it_gets_further(two_nodes, tmp_path: Path) -> None:
    """No retry is granted. One training gets three updates further in each job, of nine; the other one never
    gets past the third and is given up after the second job."""
    (tmp_path / "Snakefile").write_text(WORKFLOW, encoding="utf-8")
    (tmp_path / "train").write_text(TRAIN, encoding="utf-8")
    line = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "9", "--cores", "2", "all"]
    line += ["--keep-going", "--retries", "0", "--slurm-status-command", "squeue", "--latency-wait", "5"]
    line += ["--default-resources", "mem_mb=1000", "--slurm-init-seconds-before-status-checks", "1"]
    two_nodes.variables["PATH"] = f"{Path(sys.executable).parent}:{two_nodes.variables['PATH']}"
    limits: dict[str, str] = {}

    def started(name: str) -> list[str]:
        path = tmp_path / f"started-{name}"
        return path.read_text().split() if path.exists() else []

    with open(tmp_path / "told", "w", encoding="utf-8") as told:
        run = subprocess.Popen(
            line, cwd=tmp_path, env=os.environ | two_nodes.variables, stdout=told, stderr=told
        )
        while run.poll() is None:
            for job in {*started("further")[:2], *started("stuck")} - set(limits):
                limits[job] = two_nodes.run(
                    "squeue", "--noheader", "--format=%l", f"--jobs={job}", within=30
                ).stdout
                two_nodes.run("scontrol", "update", f"jobid={job}", "EndTime=now+1", within=30)
            time.sleep(0.5)
    said = (tmp_path / "told").read_text()
    assert run.returncode == 1, said
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"further", "packed-0", "packed-1"}, said
    assert [len(started(name)) for name in ("further", "stuck")] == [3, 2], said
    assert set(limits.values()) == {"7:00\n"}, limits
    # Of five minutes each, one after the other.
    assert {(tmp_path / f"limit-{i}").read_text() for i in range(2)} == {"7:00\n"}
    reached = [
        line.partition(" failed: ")[2]
        for line in said.splitlines()
        if line.startswith("train further failed")
    ]
    assert [reason[:30] for reason in reached] == [
        "TIMEOUT; stopped at update 3 o",
        "TIMEOUT; stopped at update 6 o",
    ], said
