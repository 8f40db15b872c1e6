"""What config.yaml cannot hold is refused when Snakemake starts."""

import fcntl
import subprocess
import sys

import pytest


def test_an_engine_that_there_is_not(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    words = "engine 'compild' asked for; did you mean 'compiled'. allowed are auto, compiled, eager"
    with pytest.raises(AssertionError, match=words):
        snakemake(folder, "--dry-run", config=("engine=compild",))
    snakemake(folder, "--dry-run", "--quiet", config=("engine=torch_nn",))
    assert not (folder / "results").exists()


def test_every_wrong_key_is_reported_at_once(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    lines = (
        "config: unknown key 'scael'; did you mean 'scale'. allowed are cohort_size, data, ",
        "config: data is 'reel'; did you mean 'real'. allowed are embedded, real",
        "config: papers is 'a b'; allowed are papers, or experiments as paper/experiment",
        "config: gpus is -1; allowed are whole numbers from 0 on",
    )
    with pytest.raises(AssertionError, match=r"[^\n]*\n *".join(lines)):
        snakemake(folder, "--dry-run", config=("scael=smoke", "data=reel", "papers=a b", "gpus=-1"))


def test_a_wrong_key_is_reported_while_another_controller_works(tmp_path, project):
    folder = project(tmp_path / "project")
    (folder / ".snakemake").mkdir()
    with open(folder / ".snakemake/controller.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        script = folder / "workflow/scripts/snakemake_locked.py"
        command = [sys.executable, script, "--cores", "1", "--config", "scale=lapto", "--", "all"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    said = "config: scale is 'lapto'; did you mean 'laptop'? allowed are laptop, paper, smoke\n"
    assert (done.returncode, done.stderr) == (1, said)
