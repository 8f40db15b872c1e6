"""A dry run of ten thousand replicas takes seconds, and still says in full what it is asked to say."""

import resource
import shutil
import subprocess
import sys

from tests.workflow.conftest import ROOT, environment

PAPER = ROOT / "tests" / "papers" / "made_up" / "made2024"
REPLICAS, COHORT = 10_000, 5
CPU_SECONDS = 36.0
"""A quiet core takes 9; the rest is room for slower ones that share their caches."""


def timed(*arguments, folder=ROOT):
    """What Snakemake prints in a folder, and the seconds of a core that it takes."""
    line = [sys.executable, "-m", "snakemake", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        line, cwd=folder, env=environment(ROOT), capture_output=True, text=True, check=False
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stderr[-3000:]
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout + done.stderr, seconds


def dry_run(*arguments, roots):
    """The same of a dry run of the paper's scale below a root."""
    config = ("--config", "scale=paper", "papers=made2024", f"paper_roots={roots}", "--", "all")
    return timed("--dry-run", "--nolock", "--cores", "2", *arguments, *config)


def test_ten_thousand_replicas(tmp_path):
    paper = shutil.copytree(PAPER, tmp_path / "made2024")
    text = (paper / "addition.yaml").read_text(encoding="utf-8")
    assert text.count("paper: {seeds: 5}") == 1
    seeds = REPLICAS // 2
    (paper / "addition.yaml").write_text(text.replace("paper: {seeds: 5}", f"paper: {{seeds: {seeds}}}"))
    said, seconds = dry_run("--quiet", "rules", roots=tmp_path)
    print(f"{REPLICAS} replicas: {seconds:.1f} s of a core")
    assert f"train {REPLICAS // COHORT}" in " ".join(said.split())
    assert "tensor-rnns" not in said
    assert seconds < CPU_SECONDS


def test_jobs_are_described_where_they_are_asked_for():
    said, _ = dry_run("--printshellcmds", roots=PAPER.parent)
    assert said.count("rule train:") == 2
    assert "--experiment addition --condition only --variant tgu --option main" in said
    inputs = said.partition("rule judge:")[2].partition("output:")[0]
    assert "results/recorded/stopping.csv" in inputs
