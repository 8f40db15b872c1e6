"""Proves that text of 96 MB is read from disk chunk by chunk: no task copies it, and that of bytes does not
keep the pages of its file either.
"""

import re
import tracemalloc
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from tensor_rnns import tasks
from tensor_rnns.mapped import release

BYTES, SYMBOLS, PEAK = 96_000_000, 205, 4_000_000
PAGES = 12_000_000
"""Bytes of a mapped text that may be in memory at once."""


def built(path, name, bptt):
    """The task on a text at `path`, and its tokens, mapped as `read_npz` maps them."""
    written = np.memmap(path, np.uint8, "w+", shape=BYTES)
    written[::1000] = np.arange(BYTES // 1000) % SYMBOLS
    written.flush()
    del written
    mapped = np.asarray(np.memmap(path, np.uint8, "c"))
    arrays = {"train_tokens": mapped, "valid_tokens": mapped[:1000], "test_tokens": mapped[-4_000_000:]}
    arrays["vocabulary"] = np.arange(SYMBOLS).astype(str)
    settings = {"task": {"name": name, "bptt": bptt}, "training": {"batch": 1}}
    return tasks.build(settings, SimpleNamespace(name="made", arrays=arrays, facts={})), mapped


def resident(path):
    """Bytes of the mappings of a file that are in the memory of this process."""
    said = Path("/proc/self/smaps").read_text()
    found = re.findall(rf"{re.escape(str(path))}\n(?:(?!Rss:).*\n)*Rss:\s+(\d+) kB", said)
    assert found, "the file is not mapped"
    return 1024 * sum(map(int, found))


def test_of_mapped_bytes_few_pages_are_in_memory(tmp_path, monkeypatch):
    """Looked at before they are let go, in a whole baseline, epoch and evaluation."""
    path, held = tmp_path / "tokens", []

    def watched(content):
        held.append(resident(path))
        release(content)

    monkeypatch.setattr("tensor_rnns.tasks.bytes.release", watched)
    task, mapped = built(path, "bytes", 1000)
    assert 0 < task.baseline < 0.1
    for update in range(task.updates_per_epoch):
        assert task.batch(0, update).inputs[0, 0] == mapped[update * 1000]
    held.append(resident(path))
    assert sum(1 for _ in task.evaluation("test")) == 3999
    held.append(resident(path))
    assert len(held) > 40
    assert 0 < max(held) < PAGES


def test_a_text_of_96_mb_takes_a_few_mb_of_memory(tmp_path, capsys):
    """Baseline, training batches all over the file, and evaluation, without a copy of the tokens."""
    tracemalloc.start()
    try:
        task, mapped = built(tmp_path / "tokens", "characters", 100)
        assert task.updates_per_epoch == 959_999
        assert 0 < task.baseline < 0.1
        for update in range(0, task.updates_per_epoch, 100_003):
            batch = task.batch(0, update)
            assert batch.inputs.shape == (100, 1)
            assert batch.inputs[0, 0] == mapped[update * 100]
        chunks = sum(1 for _ in zip(task.evaluation("test"), range(1000), strict=False))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert chunks == 1000
    with capsys.disabled():
        print(f" peak {peak / 1e6:.1f} MB for {BYTES / 1e6:.0f} MB of text ", end="")
    assert peak < PEAK
