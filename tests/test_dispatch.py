"""Operations are counted as torch counts them, and without its compiler."""

import subprocess
import sys

import torch
from torch.utils.flop_counter import FlopCounterMode

from tensor_rnns import cells
from tensor_rnns.dispatch import Flops

TRACE = """
import sys
from tensor_rnns import cells
from tensor_rnns.dispatch import Flops
from tensor_rnns.engine.ir.trace import trace
with Flops():
    trace(cells.build({"name": "tgu", "hidden": 5, "rank": 4}, 3))
print("torch._dynamo" in sys.modules)
"""


def test_flops_are_those_of_torchs_own_counter():
    """Products of matrices, of batches of them, and their gradients."""
    cell = cells.build({"name": "tlstm", "hidden": 6}, 4)
    counts = []
    for mode in (Flops(), FlopCounterMode(display=False)):
        params = {name: torch.ones(shape, requires_grad=True) for name, shape in cell.shapes().items()}
        with mode:
            out, *_ = cell.step(params, torch.ones(2, 4), cell.initial_state(2))
            out.sum().backward()
        counts.append(mode.count if isinstance(mode, Flops) else mode.get_total_flops())
    assert counts[0] == counts[1] > 1000


def test_a_step_is_traced_without_importing_torchs_compiler():
    """Its import would take longer than the training of a short job."""
    line = [sys.executable, "-c", TRACE]
    found = subprocess.run(line, capture_output=True, text=True, check=True, timeout=300)
    assert found.stdout.split() == ["False"]
