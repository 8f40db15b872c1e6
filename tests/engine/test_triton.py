"""Proves that kernels of the triton engine, run by Triton's interpreter, give the eager loop's numbers."""

import pytest
import torch

from tensor_rnns import cells
from tensor_rnns.engine import eager
from tensor_rnns.engine import triton as engine

pytestmark = pytest.mark.triton
BOUND = {torch.float32: 1e-5, torch.float64: 1e-12}
NAMES = ["cp_delta", "cp_plus", "gmr", "gmr_c", "gru", "irnn", "lstm", "tgu", "tgu_c", "vanilla"]
RANKED = ["cp_delta", "cp_plus", "gmr", "gmr_c", "tgu", "tgu_c"]
SIZES = {"replicas": 3, "batch": 7, "steps": 4}


@pytest.fixture(autouse=True)
def interpreted(monkeypatch):
    """Kernels run on the CPU, in Triton's interpreter; nothing that runs eager in their place goes unseen."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(engine, "READY", {})
    monkeypatch.setattr(engine, "warn", lambda name, reason: pytest.fail(f"{name}: {reason}"))


def agree(ours, theirs, bound):
    """Each of ours differs from theirs by at most `bound` of their greatest value."""
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        error = (ours[name].double() - value).abs().max() / value.abs().max().clamp(min=1e-30)
        assert error <= bound, f"{name}: {error:.1e}"


def hold(results, s, dtype, last_only=False):
    """The engine gives the numbers of the eager loop."""
    agree(
        results(engine.run, s, dtype, last_only),
        results(eager.run, s, torch.float64, last_only),
        BOUND[dtype],
    )


def test_every_cell_is_tested(block):
    assert sorted(cells.families()) == NAMES
    assert [name for name in NAMES if "rank" in block(name)] == RANKED


@pytest.mark.parametrize("name", NAMES)
def test_outputs_and_gradients(block, setting, results, name):
    hold(results, setting(block(name), **SIZES), torch.float32)


@pytest.mark.parametrize("form", ["tensor_train", "full"])
@pytest.mark.parametrize("name", RANKED)
def test_the_other_forms(setting, results, name, form):
    block = {"name": name, "hidden": 9, "form": form} | ({"rank": 4} if form != "full" else {})
    hold(results, setting(block, **SIZES), torch.float32)


@pytest.mark.parametrize("dtype", BOUND, ids=str)
def test_every_operation(sink, setting, results, dtype):
    hold(results, setting(sink, **SIZES), dtype)
