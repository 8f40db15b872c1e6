"""A pack of short jobs is one job of Slurm; one of them that always fails takes no other with it."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = f"""
config = {{"gpus": 0}}
include: {str(ROOT / "workflow" / "rules" / "packing.smk")!r}
rule all:
    input: expand("out/{{i}}", i=range(5)), "out/after-0", "out/after-3"
rule one:
    output: "out/{{i}}"
    wildcard_constraints: i="[0-9]"
    group: lambda wildcards: prepare_groups() or workflow.parent_groupids.setdefault("few", "pack") and "few"
    shell: "echo $SLURM_JOB_ID >> started-{{wildcards.i}}; test {{wildcards.i}} != 3 && touch {{output}}"
rule after:
    input: "out/{{i}}"
    output: "out/after-{{i}}"
    wildcard_constraints: i="[0-9]"
    group: lambda wildcards: prepare_groups() or workflow.parent_groupids.setdefault("few", "pack") and "few"
    shell: "touch {{output}}"
"""


@pytest.mark.slurm
@pytest.mark.timeout(400)
def test_a_job_that_always_fails_is_tried_alone_and_the_rest_of_its_pack_is_kept(cluster, tmp_path: Path):
    (tmp_path / "Snakefile").write_text(WORKFLOW, encoding="utf-8")
    cluster.variables["PATH"] = (
        f"{cluster.folder}/bin:{Path(sys.executable).parent}:{cluster.variables['PATH']}"
    )
    line = [sys.executable, "-m", "snakemake", "--executor", "slurm", "--jobs", "9", "--cores", "2", "all"]
    line += ["--keep-going", "--retries", "1", "--slurm-status-command", "squeue", "--latency-wait", "5"]
    line += ["--default-resources", "mem_mb=1000", "runtime=5"]
    done = cluster.run(*line, "--slurm-init-seconds-before-status-checks", "1", within=300, cwd=tmp_path)
    told = done.stdout + done.stderr
    started = {path.name: path.read_text().split() for path in tmp_path.glob("started-*")}
    assert done.returncode == 1, told
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"0", "1", "2", "4", "after-0"}, told
    # Each job that succeeds ran once, all in one job of Slurm; the other one ran once more, by itself.
    assert {tuple(ran) for name, ran in started.items() if name != "started-3"} == {("1",)}, started
    assert started["started-3"] == ["1", "2"]
    assert "few: 5 of 7 jobs are done" in told
