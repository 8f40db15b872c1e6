"""A warm process runs a command as the command itself would: folder, environment, streams, signals, code."""

import errno
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tensor_rnns.cli import warm as warm_process
from tensor_rnns.cli.asking import ADDRESS, in_a_warm_process
from tests.workflow.conftest import await_that

ROOT = Path(__file__).parents[2]
COMMAND = """
import atexit, sys
from tensor_rnns.cli import main
atexit.register(lambda: print("by itself" if "click" in sys.modules else "by another"))
main()
"""
TRAIN = [
    "train", "--scale", "paper", "--data", "real", "--paper", "mathews2016", "--experiment", "addition",
    "--condition", "T750", "--variant", "tgu", "--option", "authors-rates", "--engine", "eager",
    "--device", "cpu", "--checkpoint-seconds", "0.05", "--state", "state", "--out", "out",
]  # fmt: skip
"""Minutes of training."""


def start_warm(address: Path, source: Path = ROOT / "src") -> subprocess.Popen:
    """A warm process that runs the package below `source`, ready to be asked."""
    started = subprocess.Popen(
        [sys.executable, "-m", "tensor_rnns.cli.warm", str(address)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(source), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
    )
    await_that(address.exists)
    return started


@pytest.fixture(scope="module")
def warm(tmp_path_factory) -> Iterator[Path]:
    """The socket of a warm process."""
    address = tmp_path_factory.mktemp("warm") / "socket"
    process = start_warm(address)
    yield address
    process.stdin.close()
    assert process.wait(timeout=300) == 0
    assert not address.exists()


def asking(warm: Path, *arguments: str, cwd: Path = ROOT, **variables: str) -> subprocess.Popen:
    """A command that knows of the warm process, started."""
    given = {"TENSOR_RNNS_WARM": str(warm), "PYTHONPATH": str(ROOT / "src"), **variables}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        cwd=cwd,
        env=os.environ | given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_command_says_what_it_says_by_itself(warm):
    ours = asking(warm, "target", "fig-5.1").communicate(timeout=300)
    theirs = asking(warm.with_name("none"), "target", "fig-5.1").communicate(timeout=300)
    files = [f"results/laptop/figures/mathews2016/fig-5.1.{end}" for end in ("pdf", "svg")]
    assert ours == ("\n".join([*files, "by another", ""]), "")
    assert theirs == ("\n".join([*files, "by itself", ""]), "")


def test_a_refusal_comes_with_its_code_from_the_folder_of_the_command(warm, tmp_path):
    refused = asking(warm, "target", "fig-5.1", cwd=tmp_path)
    said, why = refused.communicate(timeout=300)
    assert said == "by another\n"
    assert why.startswith("tensor-rnns: no papers below workflow/papers")
    assert refused.returncode == 2


@pytest.mark.parametrize("accepts", [True, False])
def test_a_socket_that_never_answers_is_left_and_the_command_runs_by_itself(accepts, tmp_path, monkeypatch):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen(5)
        silent = asking(tmp_path / "socket", "target", "fig-5.1")
        line = listener.accept()[0] if accepts else None
        said, why = silent.communicate(timeout=300)
        assert line is None or (line.recv(8), line.close()) == (b"", None)
        monkeypatch.setenv(ADDRESS, str(tmp_path / "socket"))
        began = time.monotonic()
        in_a_warm_process()
        # The answer is awaited for two seconds; the rest is room for a machine under load.
        assert 2 <= time.monotonic() - began < 60
    assert said.endswith("fig-5.1.svg\nby itself\n")
    assert why == f"tensor-rnns: no answer from {tmp_path / 'socket'} in 2 s; not waited for\n"
    assert silent.returncode == 0


def test_a_command_that_gave_up_is_not_run_by_the_warm_process_too(warm, tmp_path):
    """What it asked for waits in the socket when the warm process wakes up, and nobody is there any more."""
    process = next(
        int(path.parent.name)
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if str(warm) in path.read_bytes().decode(errors="replace").split("\0")
    )
    os.kill(process, signal.SIGSTOP)
    try:
        said, why = asking(warm, "target", "fig-5.1").communicate(timeout=300)
    finally:
        os.kill(process, signal.SIGCONT)
    assert said.endswith("by itself\n")
    assert "no answer from" in why
    again = asking(warm, "target", "fig-5.1").communicate(timeout=300)
    assert again[0].endswith("by another\n")
    assert again[1] == ""


class Full(io.StringIO):
    """A stream to a full disk."""

    def write(self, text):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def flush(self):
        self.write("")


@pytest.mark.parametrize("ends", [lambda **_: None, lambda **_: 1 / 0], ids=["well", "with an error"])
def test_a_command_on_a_full_disk_answers_and_ends(monkeypatch, ends):
    """It can say nothing, not even why; else its process would go on as the warm one, and end that."""
    monkeypatch.setattr(warm_process, "become", lambda line: None)
    monkeypatch.setattr(warm_process.commands, "main", ends)
    monkeypatch.setattr(warm_process.os, "_exit", lambda code: pytest.fail(f"ended with {code}"))
    monkeypatch.setattr(sys, "stdout", Full())
    monkeypatch.setattr(sys, "stderr", Full())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        with pytest.raises(pytest.fail.Exception, match="ended with 1"):
            warm_process.work(theirs)
        assert ours.recv(2) == b"\1"


def test_the_environment_is_that_of_the_command(warm, tmp_path):
    """Without a compiler in its PATH the command plans for the eager loop."""
    said, _ = asking(warm, "plan", "--scale", "smoke", PATH=str(tmp_path)).communicate(timeout=300)
    assert "engine eager" in said
    assert "engine compiled" not in said


def worker(folder: Path) -> int:
    """The process that trains in `folder`, by its lock, once it has written a checkpoint."""
    await_that(lambda: list(folder.glob("state/cohorts/*/checkpoint-?")))
    (lock,) = folder.glob("state/locks/*")
    return json.loads(lock.read_text())["pid"]


def ended(process: int) -> bool:
    """Whether a process has ended; one that nobody has asked about yet is a zombie."""
    status = Path(f"/proc/{process}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_sigterm_reaches_the_training(warm, tmp_path):
    shutil.copytree(ROOT / "workflow" / "papers", tmp_path / "workflow" / "papers")
    train = asking(warm, *TRAIN, cwd=tmp_path)
    at_work = worker(tmp_path)
    assert at_work != train.pid
    train.send_signal(signal.SIGTERM)
    _, said = train.communicate(timeout=300)
    assert train.returncode == 143
    assert "the checkpoint is written" in said


def test_the_training_stops_with_a_command_that_is_killed(warm, tmp_path):
    shutil.copytree(ROOT / "workflow" / "papers", tmp_path / "workflow" / "papers")
    train = asking(warm, *TRAIN, cwd=tmp_path)
    at_work = worker(tmp_path)
    assert not ended(at_work)
    train.kill()
    train.communicate(timeout=300)
    await_that(lambda: ended(at_work))


def test_a_killed_training_is_a_killed_command(warm, tmp_path):
    shutil.copytree(ROOT / "workflow" / "papers", tmp_path / "workflow" / "papers")
    train = asking(warm, *TRAIN, cwd=tmp_path)
    at_work = worker(tmp_path)
    os.kill(at_work, signal.SIGKILL)
    _, said = train.communicate(timeout=300)
    assert train.returncode == 137
    assert f"process {at_work}, which ran this command, was killed" in said


def test_changed_code_is_not_run_by_a_process_that_imported_it_before(tmp_path):
    ours = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "tensor_rnns", tmp_path / "src" / "tensor_rnns", ignore=ours)
    process = start_warm(tmp_path / "socket", tmp_path / "src")
    before, _ = asking(tmp_path / "socket", "target", "fig-5.1").communicate(timeout=300)
    assert before.endswith("by another\n")
    (tmp_path / "src" / "tensor_rnns" / "engine" / "compiled" / "vectors.h").touch()
    after, said = asking(tmp_path / "socket", "target", "fig-5.1").communicate(timeout=300)
    assert after.endswith("by itself\n")
    assert said == ""
    process.stdin.close()
    assert process.wait(timeout=300) == 0
