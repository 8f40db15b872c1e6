"""Proves that what a killed process left beside a file goes at its next write, nothing of a living one."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tensor_rnns import asides, files, npz_files

UNPACKS = """
import os, signal, sys
from pathlib import Path
import numpy as np
from tensor_rnns import files, npz_files
with files.writing(Path(sys.argv[1]), "wb") as stream:
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    signal.pause()
"""


def begin(path: Path) -> subprocess.Popen:
    """A process that is in the middle of writing `path`."""
    process = subprocess.Popen([sys.executable, "-c", UNPACKS, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "writing\n"
    return process


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_aside_of_a_killed_process_goes_and_that_of_a_living_one_stays(tmp_path):
    path = tmp_path / "musedata [1].npz"
    with begin(path) as killed, begin(path) as alive:
        try:
            assert len(names(tmp_path)) == 2
            killed.kill()
            killed.wait()
            npz_files.write_npz(path, {}, "musedata")
            left = names(tmp_path)
            assert len(left) == 2
            assert left[0].startswith(f".{path.name}.{socket.gethostname()}.{alive.pid}.")
            assert left[1] == path.name
        finally:
            alive.kill()
            alive.wait()
    npz_files.write_npz(path, {}, "musedata")
    assert names(tmp_path) == [path.name]


def test_asides_of_other_files_and_other_hosts_stay(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = socket.gethostname()
    stays = [
        f".a.npz.elsewhere.{gone.pid}.x.aside",
        f".b.npz.{here}.{gone.pid}.x.aside",
        f".a.npz.{here}.x.aside",
        f".a.npz.{here}.{os.getpid()}.x.aside",
    ]
    goes = [f".a.npz.{here}.{gone.pid}.x.aside", f".a.npz.{here}.{'9' * 30}.x.aside"]
    for name in stays + goes:
        (tmp_path / name).touch()
    npz_files.write_npz(tmp_path / "a.npz", {}, "a")
    assert names(tmp_path) == sorted([*stays, "a.npz"])


def test_two_writers_of_one_file_do_not_disturb_each_other(tmp_path):
    path = tmp_path / "a.csv"
    with files.writing(path) as slow:
        slow.write("slow\n")
        time.sleep(0.01)
        with files.writing(path) as quick:
            quick.write("quick\n")
        assert path.read_text() == "quick\n"
    assert path.read_text() == "slow\n"
    assert names(tmp_path) == ["a.csv"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_what_is_written_is_on_the_disk_before_it_has_its_name(name, tmp_path, monkeypatch):
    """All of it: what a machine that dies may leave is the old file or the new one."""
    path, done = tmp_path / name, []
    sync, rename = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append(("on the disk", os.fstat(handle).st_size))
        sync(handle)

    def renamed(aside: str, to: Path) -> None:
        done.append(("renamed", os.stat(aside).st_size))
        rename(aside, to)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    with files.writing(path) as stream:
        stream.write("12345\n")
    size = path.stat().st_size
    assert size > 5
    assert done == [("on the disk", size), ("renamed", size)]


def test_a_process_of_another_user_is_alive(monkeypatch):
    def refused(process: int, signal: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", refused)
    assert asides.is_alive(77)
