"""Two writers never write at once: the second waits, says for whom, and a dead holder frees the lock."""

import errno
import fcntl
import itertools
import logging
import subprocess
import sys
import threading
import time
from contextlib import nullcontext

import pytest

from tensor_rnns.training import lock

HOLD = """
import sys, time
from pathlib import Path
import pytest

from tensor_rnns.training import lock
lock.BEAT_SECONDS = 0.2
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


def test_no_heart_is_called_silent_at_the_first_look(tmp_path, caplog):
    """A holder that has not said yet who it is may have the lock since a moment ago."""
    with open(tmp_path / "lock", "a") as stream:
        assert lock.taken(stream)
        threading.Timer(0.5, fcntl.flock, (stream, fcntl.LOCK_UN)).start()
        with caplog.at_level(logging.WARNING), lock.held(tmp_path / "lock", "cohort 7") as waited:
            assert waited
    assert "cohort 7 is being written by another process; waiting for it" in caplog.text


def test_a_killed_holder_frees_the_lock(tmp_path):
    """After kill -9 of the holder the next writer has the lock at once."""
    process = holder(tmp_path / "lock", 60)
    process.kill()
    process.wait()
    process.stdout.close()
    began = time.monotonic()
    with lock.held(tmp_path / "lock", "cohort 7"):
        assert time.monotonic() - began < 5


def test_a_silent_holder_is_named_every_half_minute(tmp_path, monkeypatch, caplog):
    """The second time its beat is what it was."""
    path, clock = tmp_path / "lock", itertools.count(step=31)
    path.write_text('{"pid": 7, "host": "a", "beat": 3}')
    monkeypatch.setattr(lock.time, "monotonic", lambda: float(next(clock)))
    with open(path, "r+") as stream:
        assert lock.taken(stream)
        threading.Timer(0.7, fcntl.flock, (stream, fcntl.LOCK_UN)).start()
        with caplog.at_level(logging.WARNING), lock.held(path, "x"):
            pass
    said = [record.getMessage() for record in caplog.records]
    silent = ("", " (no heartbeat for 30 s)")
    assert said[:2] == [f"x is being written by process 7 on a{words}; waiting for it" for words in silent]


def test_a_full_disk_ends_no_job_through_its_lock(tmp_path, monkeypatch):
    """Neither while the lock is held nor as its file is closed."""

    def full(*_):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(lock.os, "pwrite", full)
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.01)
    with lock.held(tmp_path / "lock", "the test"):
        time.sleep(0.05)
    assert (tmp_path / "lock").read_bytes() == b""


def test_a_free_lock_is_not_waited_for(tmp_path):
    """Nobody is told to wait for nobody."""
    with lock.held(tmp_path / "lock", "cohort 7") as waited:
        assert not waited


def no_locks(*_):
    """flock of a file system without locks."""
    raise OSError(errno.ENOLCK, "No locks available")


def test_a_file_system_without_locks_is_refused(tmp_path, monkeypatch):
    """Neither the check at the start nor a writer goes on, and both say what to do."""
    lock.check(tmp_path)
    monkeypatch.setattr(lock.fcntl, "flock", no_locks)
    with pytest.raises(ValueError, match=r"flock fails \(No locks available\).*--config state="):
        lock.check(tmp_path)
    with pytest.raises(ValueError, match="two jobs could write one training"), lock.held(tmp_path / "x", "x"):
        pytest.fail("two writers could be here")


def test_a_lock_that_lets_two_in_is_refused(tmp_path, monkeypatch):
    """A file system that grants every lock is found out by one process."""
    monkeypatch.setattr(lock.fcntl, "flock", lambda *_: None)
    with pytest.raises(ValueError, match="flock lets two writers in"):
        lock.check(tmp_path / "made")
    assert list((tmp_path / "made").iterdir()) == []


@pytest.mark.parametrize("alive", [True, False])
@pytest.mark.parametrize("reaches", [True, False])
def test_a_job_on_another_machine_sees_whether_locks_reach_it(tmp_path, monkeypatch, alive, reaches):
    """It is refused only where a live controller's lock is free here: a dead one's is free everywhere."""
    monkeypatch.setattr(lock, "BEAT_SECONDS", 0.3)
    monkeypatch.setenv(lock.BEACON, str(tmp_path / "lock"))
    lock.check_reach()
    with holder(tmp_path / "lock", 60) as process:
        lock.check_reach()
        monkeypatch.setattr(lock.socket, "gethostname", lambda: "elsewhere")
        if not reaches:
            monkeypatch.setattr(lock.fcntl, "flock", lambda *_: None)
        if not alive:
            process.kill()
            process.wait()
        expected = pytest.raises(ValueError, match=rf"from process {process.pid} on .* to elsewhere")
        with nullcontext() if reaches or not alive else expected:
            lock.check_reach()
        process.kill()
