"""What config.yaml cannot hold is refused when Snakemake starts."""

import fcntl
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tensor_rnns import yaml_files
from tensor_rnns.checking.config import config_problems, misread

ROOT = Path(__file__).parents[2]


def test_an_engine_that_there_is_not(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    words = "engine 'compild' asked for; did you mean 'compiled'. allowed are auto, compiled, eager"
    with pytest.raises(AssertionError, match=words):
        snakemake(folder, "--dry-run", config=("engine=compild",))
    snakemake(folder, "--dry-run", "--quiet", config=("engine=torch_nn",))
    assert not (folder / "results").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("graphed", "engine graphed on cpu asked for; allowed are auto, compiled, torch_nn, eager"),
        (
            "torch_nn",
            "engine torch_nn asked for with the cell tgu: torch.nn has no such cell; allowed is auto",
        ),
    ],
)
def test_an_engine_that_no_job_could_run_is_refused_before_any_work(
    tmp_path, monkeypatch, project, snakemake, name, words
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    folder = project(tmp_path / "project")
    with pytest.raises(AssertionError, match=f"mathews2016/addition/T250/tgu/authors-rates: {words}"):
        snakemake(folder, config=("scale=smoke", "papers=mathews2016/addition", f"engine={name}"))
    assert not (folder / "results/smoke/runs").exists()


def test_a_mirror_that_no_download_would_ask(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    with pytest.raises(AssertionError, match="config: mirror 'ftp://x' is no URL of one; allowed are file:"):
        snakemake(folder, "--dry-run", config=("mirrors=file:///there,ftp://x",))


def test_every_wrong_key_is_reported_at_once(tmp_path, project, snakemake):
    folder = project(tmp_path / "project")
    lines = (
        "config: unknown key 'scael'; did you mean 'scale'. allowed are cohort_size, data, ",
        "config: data is 'reel'; did you mean 'real'. allowed are embedded, real",
        "config: papers is 'a b'; allowed are papers, or experiments as paper/experiment",
        "config: gpus is -1; allowed are whole numbers from 0 to 64",
    )
    with pytest.raises(AssertionError, match=r"[^\n]*\n *".join(lines)):
        snakemake(folder, "--dry-run", config=("scael=smoke", "data=reel", "papers=a b", "gpus=-1"))


def test_a_wrong_key_is_reported_while_another_controller_works(tmp_path, project):
    folder = project(tmp_path / "project")
    (folder / ".snakemake").mkdir(exist_ok=True)
    with open(folder / ".snakemake/controller.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        script = folder / "workflow/scripts/snakemake_locked.py"
        command = [sys.executable, script, "--cores", "1", "--config", "scale=lapto", "--", "all"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    said = "config: scale is 'lapto'; did you mean 'laptop'? allowed are laptop, paper, smoke\n"
    assert (done.returncode, done.stderr) == (1, said)


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("longest_job: 12:00:00", ": longest_job is '12:00:00', which Snakemake reads as 43200; "),
        ("threads: 010", ": threads is 10, which Snakemake reads as 8; "),
        ("data: real\nthreads: 1", ":[0-9]+: not YAML: the key .data. stands twice"),
    ],
)
def test_what_snakemake_would_read_otherwise_is_refused(tmp_path, project, snakemake, written, words):
    """Snakemake reads YAML 1.1: minutes of base 60, octal numbers, and the last of two values of a key."""
    folder = project(tmp_path / "project")
    text = (folder / "config.yaml").read_text()
    key = written.rpartition("\n")[2].partition(":")[0]
    (folder / "config.yaml").write_text(re.sub(f"^{key}:.*", written, text, flags=re.M))
    with pytest.raises(AssertionError, match=f"config.yaml{words}"):
        snakemake(folder, "--dry-run")
    script = folder / "workflow/scripts/snakemake_locked.py"
    command = [sys.executable, script, "--cores", "1", "--dry-run", "--config", "scale=smoke", "--", "all"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert re.search(f"config.yaml{words}", done.stderr)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("scale:\tlaptop\n", "config.yaml: not what Snakemake can read: while scanning "),
        ("engine: <<\n", "config.yaml: not what Snakemake can read: could not determine a constructor "),
        ("# nothing\n", "config.yaml: None given; allowed is `key: value`, one in a line"),
        ("- scale\n", "config.yaml: ['scale'] given; allowed is "),
        ("scale\n", "config.yaml: 'scale' given; allowed is "),
    ],
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path, text, said):
    (tmp_path / "config.yaml").write_text(text)
    (problem,) = misread(tmp_path / "config.yaml")
    assert problem.startswith(said)
    assert "\n" not in problem


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("state", "results/smoke-partial/x"),
        ("state", "x/../results/laptop"),
        ("threads", 100_000),
        ("cohort_size", 10**20),
    ],
)
def test_a_state_that_clean_removes_and_huge_numbers_are_refused(key, value):
    config = yaml_files.read(ROOT / "config.yaml").content
    (problem,) = config_problems(config | {key: value}, ROOT)
    assert problem.startswith(f"config: {key} is {value!r}; allowed are ")


@pytest.mark.parametrize("key", ["cohort_size", "threads", "gpus", "longest_job"])
@pytest.mark.parametrize("value", [5.0, True, "5"])
def test_a_whole_number_has_no_point(key, value):
    """Not 5.0 either, which JSON Schema counts as one."""
    config = yaml_files.read(ROOT / "config.yaml").content
    assert config_problems(config | {key: 5}, ROOT) == []
    (problem,) = config_problems(config | {key: value}, ROOT)
    assert problem.startswith(f"config: {key} is {value!r}; allowed are whole numbers ")
