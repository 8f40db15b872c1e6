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
    log: "logs/packed-{{i}}"
    wildcard_constraints: i="[01]"
    group: {PACK}
    resources: runtime=lambda wildcards, attempt: 5 * attempt
    shell: "sh ./train packed-{{wildcards.i}} && touch {{output}}"
"""
TRAIN = """\
made=$(cat made-$1 2> /dev/null || echo 0)
end() {
  echo "tensor-rnns: stopped at update $made of 9; the checkpoint is written; another try may pass" >> logs/$1
  exit 143
}
trap "end $1" TERM
case $1 in
  further) made=$((made + 3)) ;;
  stuck) made=3 ;;
  packed-0) made=$((made + 5)) ;;
  packed-1) made=9 ;;
esac
echo $made > made-$1
squeue --noheader --format=%l --jobs=$SLURM_JOB_ID >> limits-$1
echo $SLURM_JOB_ID >> started-$1
while test $made -lt 9; do sleep 0.2; done
"""


@pytest.mark.slurm
@pytest.mark.timeout(400)
def test_a_training_goes_on_past_its_time_limit_as_long_as_it_gets_further(two_nodes, tmp_path: Path) -> None:
    """No retry is granted. One training gets three updates further in each job, of nine; another never gets
    past the third and is given up after the second job. One in a pack needs two jobs; another waits."""
    (tmp_path / "Snakefile").write_text(WORKFLOW, encoding="utf-8")
    (tmp_path / "train").write_text(TRAIN, encoding="utf-8")
    line = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "9", "--cores", "2", "all"]
    line += ["--keep-going", "--retries", "0", "--slurm-status-command", "squeue", "--latency-wait", "5"]
    line += ["--default-resources", "mem_mb=1000", "--slurm-init-seconds-before-status-checks", "1"]
    two_nodes.variables["PATH"] = f"{Path(sys.executable).parent}:{two_nodes.variables['PATH']}"
    ended: set[str] = set()

    def lines(name: str) -> list[str]:
        path = tmp_path / name
        return path.read_text().split() if path.exists() else []

    with open(tmp_path / "told", "w", encoding="utf-8") as told:
        run = subprocess.Popen(
            line, cwd=tmp_path, env=os.environ | two_nodes.variables, stdout=told, stderr=told
        )
        while run.poll() is None:
            started = {*lines("started-further")[:2], *lines("started-stuck"), *lines("started-packed-0")[:1]}
            for job in started - ended:
                two_nodes.run("scontrol", "update", f"jobid={job}", "EndTime=now+1", within=30)
                ended.add(job)
            time.sleep(0.5)
    said = (tmp_path / "told").read_text()
    assert run.returncode == 1, said
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"further", "packed-0", "packed-1"}, said
    limits = {name: lines(f"limits-{name}") for name in ("further", "stuck", "packed-0", "packed-1")}
    # A pack of two jobs of five minutes, one after the other, may take seven too; alone each asks for five.
    assert limits == {
        "further": ["7:00"] * 3,
        "stuck": ["7:00"] * 2,
        "packed-0": ["7:00", "5:00"],
        "packed-1": ["5:00"],
    }
    reached = [
        line.partition(" failed: ")[2]
        for line in said.splitlines()
        if line.startswith("train further failed")
    ]
    assert [reason[:30] for reason in reached] == [
        "TIMEOUT; stopped at update 3 o",
        "TIMEOUT; stopped at update 6 o",
    ], said
