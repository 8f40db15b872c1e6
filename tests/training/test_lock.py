"""Two writers never write at once: the second waits, says for whom, and a dead holder frees the lock."""

import logging
import subprocess
import sys
import time

from tensor_rnns.training import lock

HOLD = """
import sys, time
from pathlib import Path
from tensor_rnns.training import lock
with lock.held(Path(sys.argv[1]), "the test"):
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
    Path(sys.argv[1]).with_suffix(".left").touch()
"""


def holder(path, seconds):
    """Another process that holds the lock for `seconds`; it has it when this returns."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path), str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_writer_waits_and_says_for_whom(tmp_path, caplog):
    """The lock is taken only after the holder left, and the message names its process."""
    with holder(tmp_path / "lock", 1.5) as process:
        with caplog.at_level(logging.WARNING), lock.held(tmp_path / "lock", "cohort 7") as waited:
            assert waited
            assert (tmp_path / "lock.left").exists()
        process.wait()
    assert f"cohort 7 is being written by process {process.pid}" in caplog.text


def test_a_killed_holder_frees_the_lock(tmp_path):
    """After kill -9 of the holder the next writer has the lock at once."""
    process = holder(tmp_path / "lock", 60)
    process.kill()
    process.wait()
    process.stdout.close()
    began = time.monotonic()
    with lock.held(tmp_path / "lock", "cohort 7"):
        assert time.monotonic() - began < 5


def test_a_free_lock_is_not_waited_for(tmp_path):
    """Nobody is told to wait for nobody."""
    with lock.held(tmp_path / "lock", "cohort 7") as waited:
        assert not waited
