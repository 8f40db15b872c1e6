"""When a job fails, the report of what is there is written aside, and the next run still knows what to do."""

import subprocess

import pytest


def test_a_failed_job_leaves_a_partial_report_and_the_work_undone(tmp_path, project, snakemake):
    """A crash fails the training; the partial report is no target; mended, the run goes on to the end."""
    folder = project(tmp_path / "project")
    loop = folder / "src" / "tensor_rnns" / "training" / "loop.py"
    text = loop.read_text()
    results = folder / "results"
    loop.write_text(text + "\n1 / 0\n")
    with pytest.raises(AssertionError, match="division by zero"):
        snakemake(folder, "--keep-going")
    assert (results / "smoke-partial" / "report" / "index.html").stat().st_size > 1000
    for target in ("report/index.html", "claims.csv", "figures/mathews2016/fig-5.1.svg"):
        assert not (results / "smoke" / target).exists()
    loop.write_text(text)
    done = snakemake(folder, "--keep-going")
    assert isinstance(done, subprocess.CompletedProcess)
    assert "mathews2016: addition, sizes (" in (results / "smoke" / "report" / "index.html").read_text()
    assert (
        results / "smoke" / "runs/mathews2016/addition/T250/lstm/authors-rates/final-0/metrics.csv"
    ).exists()
