"""Proves that the fixture `bounded`, under which `test_triton.py` runs, finds a kernel that reads or writes
outside of a tensor, and that batches of several tiles stay inside."""

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.engine.triton import emit
from tensor_rnns.engine.triton.kernel import Kernel
from tensor_rnns.engine.triton.memory import Chip

TRITON = engine.find("triton")
pytestmark = pytest.mark.triton
BLOCK = {"name": "gmr_c", "hidden": 9, "form": "full"}
"""A cell with products, parameters in rows, a tape, and numbers in the scratch memory."""
BREAKS = {
    "rows": ("inside = rows < batch", "inside = rows <= batch"),
    "pieces": ("mask=there[:, None] & (n < columns)", "mask=n < columns"),
    "scratch": ("tl.num_programs(1) + tile) * TILE *", "tl.num_programs(1) + tile + 1) * TILE *"),
    "sums": ("there = place < size", "there = place < COUNT"),
}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch, bounded, tmp_path):
    """Kernels run on the CPU, in Triton's interpreter; trials are made anew."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setenv("TENSOR_RNNS_KERNELS", str(tmp_path))
    monkeypatch.setattr(TRITON, "ready", {})
    monkeypatch.setattr(TRITON, "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_two_tiles_of_a_batch_stay_inside(setting, results, bounded, dtype):
    results(TRITON.run, setting(BLOCK, replicas=3, batch=19, steps=2), dtype)
    assert {"load", "store"} == bounded.keys()
    assert min(bounded.values()) > 10_000


@pytest.mark.parametrize("name", BREAKS)
def test_a_bound_that_is_broken_is_found(monkeypatch, setting, results, name):
    """In the code of a kernel, by a row, a piece, a tile, or a block of numbers too many."""
    right, wrong = BREAKS[name]

    def broken(*given):
        made = emit.emit(*given)
        assert right in made.code
        return emit.Emitted(made.code.replace(right, wrong), made.layout, made.scratch)

    monkeypatch.setattr("tensor_rnns.engine.triton.engine.emit", broken)
    with pytest.raises(pytest.fail.Exception, match="outside of a tensor"):
        results(TRITON.run, setting(BLOCK, replicas=3, batch=19, steps=2), torch.float32)


def test_a_column_too_many_is_found(monkeypatch, setting, results):
    monkeypatch.setattr(Chip, "mask", lambda self, width: "inside")
    with pytest.raises(pytest.fail.Exception, match="outside of a tensor"):
        results(TRITON.run, setting(BLOCK, replicas=3, batch=19, steps=2), torch.float32)


def test_too_little_memory_is_found(monkeypatch, setting, results):
    """A tape for one step of two."""
    scan = Kernel.scan
    monkeypatch.setattr(Kernel, "scan", lambda self, parts, last, keep: cut(scan(self, parts, last, keep)))

    def cut(found):
        return *found[:-1], found[-1][: len(found[-1]) // 2]

    with pytest.raises(pytest.fail.Exception, match="outside of a tensor"):
        results(
            TRITON.run,
            setting(BLOCK | {"form": "cp", "rank": 4}, replicas=3, batch=19, steps=2),
            torch.float32,
        )
