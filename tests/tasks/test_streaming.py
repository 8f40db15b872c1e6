"""Proves that text of 96 MB is read from disk chunk by chunk: the peak of memory stays small."""

import tracemalloc
from types import SimpleNamespace

import numpy as np

from tensor_rnns import tasks

BYTES, SYMBOLS, PEAK = 96_000_000, 205, 4_000_000


def test_a_text_of_96_mb_takes_a_few_mb_of_memory(tmp_path, capsys):
    """Baseline, training batches all over the file, and evaluation, without a copy of the tokens."""
    mapped = np.memmap(tmp_path / "tokens", np.uint8, "w+", shape=BYTES)
    mapped[::1000] = np.arange(BYTES // 1000) % SYMBOLS
    arrays = {"train_tokens": mapped, "valid_tokens": mapped[:1000], "test_tokens": mapped[-4_000_000:]}
    arrays["vocabulary"] = np.arange(SYMBOLS).astype(str)
    settings = {"task": {"name": "characters", "bptt": 100}, "training": {"batch": 1}}
    tracemalloc.start()
    try:
        task = tasks.build(settings, SimpleNamespace(name="made", arrays=arrays, facts={}))
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
