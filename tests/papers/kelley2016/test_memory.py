"""Proves, by the largest memory of child processes, that the 100 million bytes of enwik8 are streamed: from
the file of the mirror to the prepared data, and from there into batches."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.real_data

MOST = 300
PREPARE = """
from pathlib import Path
from tensor_rnns.datasets import download, prepare
download("enwik8", Path("raw"), [mirror])
prepare("enwik8_96", Path("raw"), Path("ready"))
"""
READ = """
from tensor_rnns import datasets, tasks
data = datasets.load("ready", "enwik8_96")
block = {"name": "bytes", "bptt": 100, "reset_every": 100}
task = tasks.build({"task": block, "training": {"batch": 1}}, data)
assert task.updates_per_epoch == 959_999
assert 5.0 < task.baseline / 0.6931471805599453 < 5.2
assert sum(int(task.batch(0, update).inputs[0, 0]) for update in range(0, 959_999, 7)) > 0
assert sum(batch.inputs.size for batch in task.evaluation("test")) == 3_999_900
"""
PRINT = """
# Not ru_maxrss, which begins with the memory of the process that forked.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) // 1024)
"""


def megabytes(code, folder):
    """The largest resident memory of a process that runs `code`, the interpreter's own included."""
    code = f"mirror = {os.environ['TENSOR_RNNS_MIRROR']!r}\n{code}{PRINT}"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout.split()[-1])


def test_a_hundred_million_bytes_are_streamed(tmp_path, capsys):
    """Every seventh chunk of an epoch is read, and the whole test part; torch alone takes some 220 MB."""
    taken = [megabytes(code, tmp_path) for code in (PREPARE, READ)]
    with capsys.disabled():
        print(f" {taken[0]} MB to prepare, {taken[1]} MB to read ", end="")
    assert max(taken) <= MOST
