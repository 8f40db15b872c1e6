"""How much an engine may differ in its trial, and which errors are findings on a cell."""

import re
from functools import partial

import numpy as np
import pytest
import torch
from torch.utils._pytree import tree_map

from tensor_rnns import cells, engine
from tensor_rnns.engine import trial

CPU = torch.device("cpu")
ROUNDING = torch.finfo(torch.float32).eps


@pytest.mark.parametrize(
    "words",
    [
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED",
        "Triton Error [CUDA]: out of memory",
        "Triton Error [CUDA]: an illegal memory access was encountered",
    ],
)
def test_what_befalls_a_gpu_for_a_moment_says_nothing_of_a_cell(words):
    """It is no finding that is kept, and the next trial finds the cell sound. A memory access may be that of
    another process, which ends the work of all that share a GPU."""
    cell = cells.build({"name": "gru", "hidden": 5, "reset": "after"}, 2)

    def full(*_):
        raise RuntimeError(words)

    with pytest.raises(torch.OutOfMemoryError, match=re.escape(words)):
        trial.failure(full, cell, torch.float64, CPU)
    assert trial.failure(lambda *given: trial.LOOP(cell, *given), cell, torch.float64, CPU) is None


def test_a_trial_that_cannot_be_compared_is_a_finding(monkeypatch):
    """In place of an error that ends the job."""

    def rows(*_):
        raise RuntimeError("The size of tensor a (130) must match the size of tensor b (64)")

    monkeypatch.setattr(trial, "alone_or_among_many", rows)
    cell = cells.build({"name": "gru", "hidden": 5, "reset": "after"}, 2)
    found = trial.failure(lambda *given: trial.LOOP(cell, *given), cell, torch.float64, CPU)
    assert "The size of tensor a (130) must match" in found


@pytest.mark.parametrize(
    ("dtype", "off", "runs"),
    [
        (torch.float32, 5e-5, False),
        (torch.float32, 1e-6, True),
        (torch.float64, 1e-8, False),
        (torch.float64, 1e-10, True),
    ],
)
def test_the_bound_is_that_of_the_page(monkeypatch, dtype, off, runs):
    """Gradients are off by several times as much as the outputs."""
    assert {torch.float32: 2e-5, torch.float64: 1e-9} == trial.BOUND

    def run(cell, p, x, h):
        outputs, final = engine.find("eager").run(cell, p, x, h)
        return outputs * (1 + off), final

    monkeypatch.setattr(engine.find("torch_nn"), "run", run)
    cell = cells.build({"name": "gru", "hidden": 3, "reset": "after"}, 2)
    assert (engine.resolve("torch_nn", cell, dtype, CPU) == "torch_nn") == runs


@pytest.mark.parametrize(("off", "sound"), [(0, True), (1e-3, False)])
def test_what_roundings_alone_explain_is_no_finding(monkeypatch, off, sound):
    """The products of this cell lose many digits over 35 steps; its loop here loses none but the last. All is
    done in float64, so that no machine's own order of sums decides."""
    monkeypatch.setattr(trial, "drawn", partial(trial.drawn, steps=trial.MANY))
    cell, loop = cells.build({"name": "gmr_c", "hidden": 9, "rank": 4}, 2), trial.LOOP

    def lucky(cell, p, x, state):
        p, state = tree_map(torch.Tensor.double, (p, state))
        outputs, final = loop(cell, p, x.double(), state)
        return outputs.to(x), tuple(part.to(x) for part in final)

    def rounded(p, x, state):
        rng = np.random.default_rng(7)
        moved = {
            name: value.double() * (1 + ROUNDING * torch.from_numpy(rng.choice((-1, 1), value.shape)))
            for name, value in p.items()
        }
        outputs, final = lucky(cell, moved, x, state)
        return outputs * (1 + off), final

    monkeypatch.setattr(trial, "LOOP", lucky)
    given = trial.drawn(cell, torch.float32, CPU, False)
    exact = trial.outcome(cell, given, torch.float64)
    ours = trial.outcome(cell, given, torch.float32, rounded)
    assert trial.beyond(ours, exact, 3 * trial.BOUND[torch.float32])
    assert (trial.failure(rounded, cell, torch.float32, CPU) is None) == sound


@pytest.mark.parametrize(
    ("precision", "tf32", "of_cudnn", "of_others"),
    [("highest", False, 2e-5, 2e-5), ("highest", True, 3e-2, 2e-5), ("high", False, 3e-2, 3e-2)],
)
def test_tensor_cores_widen_the_bound_where_products_run_on_them(precision, tf32, of_cudnn, of_others):
    """torch allows cuDNN to use them unless it is told not to; that says nothing of other products."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(precision)
    try:
        with torch.backends.cudnn.flags(enabled=True, allow_tf32=tf32):
            bounds = [
                trial.allowed(torch.float32, torch.device("cuda"), engine.find(name).cudnn)
                for name in ("torch_nn", "triton", "graphed", "eager")
            ]
            assert trial.allowed(torch.float64, torch.device("cuda"), True) == 1e-9
            assert trial.allowed(torch.float32, CPU, True) == 2e-5
    finally:
        torch.set_float32_matmul_precision(before)
    assert bounds == [of_cudnn, of_others, of_others, of_others]
