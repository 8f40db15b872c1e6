"""Proves that stacks of layers, both directions and learned start states have the loop's gradients in every
engine."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.engine import graphed

STEPS, REPLICAS, BATCH, INPUTS, HIDDEN = 8, 2, 5, 3, 9
LSTM, TGU = {"name": "lstm", "hidden": HIDDEN}, {"name": "tgu", "hidden": HIDDEN, "rank": 4}
CASES = [
    ("eager", TGU),
    ("compiled", LSTM),
    ("compiled", TGU),
    ("torch_nn", LSTM),
    ("triton", TGU),
    ("graphed", TGU),
]


def gradients(kind, run, block, layers, both, dtype):
    """The gradient of every parameter, start row and input of a stack, for a loss of all its outputs."""
    rng = np.random.default_rng(3)
    leaves = {}

    def leaf(name, *shape):
        value = torch.from_numpy(0.5 * rng.standard_normal(shape)).to(dtype).requires_grad_()
        leaves[name] = value
        return value

    hidden = leaf("inputs", STEPS, REPLICAS, BATCH, INPUTS)
    ones = torch.ones(REPLICAS, BATCH, 1, dtype=dtype)
    for layer in range(layers):
        outputs = []
        for direction in range(2 if both else 1):
            cell = cells.build(block, hidden.shape[-1])
            where = f"layer {layer}, direction {direction}"
            params = {
                name: leaf(f"{where}: {name}", REPLICAS, *shape) for name, shape in cell.shapes().items()
            }
            start = [leaf(f"{where}: start {name}", REPLICAS, 1, HIDDEN) for name in cell.states]
            rows = tuple(engine.values(kind.linear(ones, row, None)) for row in start)
            entering = hidden.flip(0) if direction else hidden
            found, _ = run(cell, params, entering, rows)
            outputs.append(found.flip(0) if direction else found)
        hidden = torch.cat(outputs, -1)
    weights = torch.from_numpy(rng.standard_normal(tuple(hidden.shape))).to(dtype)
    (hidden * weights).sum().backward()
    return {name: value.grad for name, value in leaves.items()}


@pytest.mark.triton
@pytest.mark.parametrize(("layers", "both"), [(2, False), (3, False), (4, False), (2, True)])
@pytest.mark.parametrize(
    ("name", "block"), CASES, ids=lambda part: part if isinstance(part, str) else part["name"]
)
def test_gradients_of_a_stack_equal_the_loop_in_float64(monkeypatch, name, block, layers, both):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(graphed, "recorded", lambda function: function)
    kind, loop = engine.find(name), engine.find("eager")
    if hasattr(kind, "warn"):
        monkeypatch.setattr(kind, "warn", lambda cell, reason: pytest.fail(f"{cell}: {reason}"))
    expected = gradients(loop, loop.run, block, layers, both, torch.float64)
    for key, value in gradients(kind, kind.run, block, layers, both, torch.float32).items():
        error = (value.double() - expected[key]).abs().max() / expected[key].abs().max()
        assert error <= 1e-5, f"{key}: {error:.1e}"


def test_the_gradient_of_a_learned_start_does_not_depend_on_the_cohort():
    """Its sum over the batch has an order of its own; that of an expanded row in torch need not."""
    kind = engine.find("compiled")
    rng = np.random.default_rng(4)
    start = torch.from_numpy(rng.standard_normal((3, 1, 130))).float()
    weights = torch.from_numpy(rng.standard_normal((3, 1001, 130))).float()

    def gradient(chosen):
        row = start[chosen].clone().requires_grad_()
        rows = engine.values(kind.linear(torch.ones(len(row), 1001, 1), row, None))
        assert torch.equal(rows, row.expand_as(rows))
        (rows * weights[chosen]).sum().backward()
        return row.grad

    whole = gradient(slice(None))
    for replica in range(3):
        assert torch.equal(gradient(slice(replica, replica + 1))[0], whole[replica])
