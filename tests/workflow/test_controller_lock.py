"""One controller a folder: a second one waits and says for whom; a killed one leaves nothing to clear."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workflow.conftest import await_that

SCRIPT = Path(__file__).resolve().parents[2] / "workflow" / "scripts" / "snakemake_locked.py"
SNAKEFILE = """
rule slow:
    output: "{name}.txt"
    shell: "echo $$ >> starts; sleep 3; while [ -e hold ]; do sleep 0.1; done; echo done > {output}"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the script where it belongs and a workflow of one slow rule."""
    (tmp_path / "workflow" / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, tmp_path / "workflow" / "scripts")
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    return tmp_path


def start(folder: Path, *command: str) -> subprocess.Popen:
    """Start a controller that makes a.txt: by the script, or by the command given."""
    command = command or (sys.executable, "workflow/scripts/snakemake_locked.py")
    return subprocess.Popen(
        [*command, "--cores", "1", "--quiet", "all", "--", "a.txt"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.parametrize("by_hand", [False, True])
def test_second_controller_waits_and_finds_the_work_done(folder: Path, by_hand: bool) -> None:
    (folder / "hold").touch()  # the first does not end before the second has said what it waits for
    first = start(folder, sys.executable, "-m", "snakemake") if by_hand else start(folder)
    await_that((folder / "starts").exists)
    second = start(folder)
    said = second.stdout.readline()
    (folder / "hold").unlink()
    second.communicate(timeout=90)
    first.communicate(timeout=90)
    assert said.startswith(
        f"waiting for a Snakemake started by hand: process {first.pid}"
        if by_hand
        else f"waiting for the Snakemake that works here: process {first.pid} on {os.uname().nodename}"
    )
    assert first.returncode == 0
    assert second.returncode == 0
    assert len((folder / "starts").read_text(encoding="utf-8").split()) == 1


def test_killed_controller_is_followed_without_help(folder: Path) -> None:
    first = start(folder)
    await_that((folder / "starts").exists)
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    assert list((folder / ".snakemake" / "locks").iterdir())
    second = start(folder)
    output = second.communicate(timeout=90)[0]
    assert second.returncode == 0, output
    assert "removing the lock of a Snakemake that was killed" in output
    assert "waiting" not in output
    assert (folder / "a.txt").read_text(encoding="utf-8") == "done\n"


def test_the_lock_of_another_machines_controller_is_left_alone(folder: Path) -> None:
    """Whether that one still works cannot be seen from here; what it holds is neither unlocked nor made."""
    locks = folder / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    (locks / "0.output.lock").write_text("a.txt\n")
    note = folder / ".snakemake" / "controller.lock"
    for node, ends, said in (
        ("elsewhere", 1, "the last controller was process 7 on elsewhere since noon. If it works no longer"),
        (os.uname().nodename, 0, "removing the lock of a Snakemake that was killed"),
    ):
        note.write_text(f"process 7 on {node} since noon\n")
        run = start(folder)
        output = run.communicate(timeout=90)[0]
        assert (run.returncode, said in output) == (ends, True), output
        assert (folder / "a.txt").exists() == (ends == 0)
        assert locks.exists() == (ends == 1)
