"""Proves that LSTM and GRU (reset after the product) are torch's own, with its weights copied across."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine

INPUTS, HIDDEN, BATCH, STEPS = 3, 5, 4, 7


def copied(module, gates):
    """Our parameters from torch's rows of gates; torch's two biases add up."""
    params = {}
    for index, gate in enumerate(gates):
        rows = slice(index * HIDDEN, (index + 1) * HIDDEN)
        params[f"W_{gate}"] = module.weight_ih_l0.detach()[rows].T
        params[f"U_{gate}"] = module.weight_hh_l0.detach()[rows].T
        params[f"b_{gate}"] = (module.bias_ih_l0 + module.bias_hh_l0).detach()[rows][None]
    return params


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_lstm(dtype, tolerance):
    torch.manual_seed(2)
    module = torch.nn.LSTM(INPUTS, HIDDEN, dtype=dtype)
    cell = cells.build({"name": "lstm", "hidden": HIDDEN, "forget_bias": 0.0}, INPUTS)
    x = torch.randn(STEPS, BATCH, INPUTS, dtype=dtype)
    h, c = torch.randn(2, BATCH, HIDDEN, dtype=dtype)
    outputs, state = engine.find("eager").run(cell, copied(module, "ifgo"), x, (h, c))
    expected, (h, c) = module(x, (h[None], c[None]))
    for ours, theirs in ((outputs, expected), (state[0], h[0]), (state[1], c[0])):
        torch.testing.assert_close(ours, theirs.detach(), rtol=0, atol=tolerance)


def test_the_forget_bias_is_added_to_that_gate_alone():
    torch.manual_seed(3)
    module = torch.nn.LSTM(INPUTS, HIDDEN, dtype=torch.float64)
    cell = cells.build({"name": "lstm", "hidden": HIDDEN}, INPUTS)
    params = copied(module, "ifgo")
    x = torch.randn(BATCH, INPUTS, dtype=torch.float64)
    h, c = torch.randn(2, BATCH, HIDDEN, dtype=torch.float64)
    with torch.no_grad():
        module.bias_ih_l0[HIDDEN : 2 * HIDDEN] += 1.0
    _, (expected, _) = module(x[None], (h[None], c[None]))
    ours, _ = cell.step(params, x, (h, c))
    torch.testing.assert_close(ours, expected[0].detach(), rtol=0, atol=1e-12)


def test_without_an_input_gate_it_is_open():
    """Torch's gate is 1 to the last bit for a bias of 1000."""
    torch.manual_seed(6)
    module = torch.nn.LSTM(INPUTS, HIDDEN, dtype=torch.float64)
    cell = cells.build({"name": "lstm", "hidden": HIDDEN, "forget_bias": 0.0, "input_gate": False}, INPUTS)
    params = copied(module, "ifgo")
    x = torch.randn(STEPS, BATCH, INPUTS, dtype=torch.float64)
    h, c = torch.randn(2, BATCH, HIDDEN, dtype=torch.float64)
    with torch.no_grad():
        module.bias_ih_l0[:HIDDEN] += 1000.0
    expected, _ = module(x, (h[None], c[None]))
    kept = {name: params[name] for name in cell.shapes()}
    assert not any(name.endswith("_i") for name in kept)
    ours, _ = engine.find("eager").run(cell, kept, x, (h, c))
    torch.testing.assert_close(ours, expected.detach(), rtol=0, atol=1e-12)
    assert cell.parameter_count() == 3 * (INPUTS * HIDDEN + HIDDEN * HIDDEN + HIDDEN)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 1e-6)])
def test_gru_with_reset_after(dtype, tolerance):
    torch.manual_seed(4)
    module = torch.nn.GRU(INPUTS, HIDDEN, dtype=dtype)
    with torch.no_grad():
        module.bias_hh_l0[2 * HIDDEN :] = 0  # torch's bias inside the reset, which this cell does not have
    cell = cells.build({"name": "gru", "hidden": HIDDEN, "reset": "after"}, INPUTS)
    x, h = torch.randn(STEPS, BATCH, INPUTS, dtype=dtype), torch.randn(BATCH, HIDDEN, dtype=dtype)
    outputs, (last,) = engine.find("eager").run(cell, copied(module, "rfz"), x, (h,))
    expected, final = module(x, h[None])
    torch.testing.assert_close(outputs, expected.detach(), rtol=0, atol=tolerance)
    torch.testing.assert_close(last, final[0].detach(), rtol=0, atol=tolerance)


def test_gru_reset_before_differs_from_after():
    torch.manual_seed(5)
    module = torch.nn.GRU(INPUTS, HIDDEN, dtype=torch.float64)
    x, h = torch.randn(BATCH, INPUTS).double(), torch.randn(BATCH, HIDDEN).double()
    blocks = [{"name": "gru", "hidden": HIDDEN, "reset": reset} for reset in ("before", "after")]
    before, after = (cells.build(block, INPUTS).step(copied(module, "rfz"), x, (h,))[0] for block in blocks)
    assert (before - after).abs().max() > 1e-3


@pytest.mark.parametrize("candidate", ["tanh", "relu"])
def test_the_candidate_of_lstm_and_gru_is_the_one_asked_for(candidate):
    """Each against its equations, one row and unit at a time in numpy."""
    draw = np.random.default_rng(8)
    act = {"tanh": np.tanh, "relu": lambda z: np.maximum(z, 0)}[candidate]

    def sigma(z):
        return 1 / (1 + np.exp(-z))

    for name in ("lstm", "gru"):
        cell = cells.build({"name": name, "hidden": HIDDEN, "candidate": candidate}, INPUTS)
        p = {key: draw.normal(size=shape) for key, shape in cell.shapes().items()}
        x, (h, c) = draw.normal(size=(BATCH, INPUTS)), draw.normal(size=(2, BATCH, HIDDEN))

        def sums(gate, state, p=p, x=x):
            return x @ p[f"W_{gate}"] + state @ p[f"U_{gate}"] + p[f"b_{gate}"]

        if name == "lstm":
            memory = sigma(sums("f", h) + cell.forget_bias) * c + sigma(sums("i", h)) * act(sums("g", h))
            expected = [sigma(sums("o", h)) * np.tanh(memory), memory]
        else:
            f, r = sigma(sums("f", h)), sigma(sums("r", h))
            expected = [f * h + (1 - f) * act(sums("z", r * h))]
        given = {key: torch.from_numpy(value) for key, value in p.items()}
        state = [torch.from_numpy(part) for part in (h, c)][: len(cell.states)]
        ours = cell.step(given, torch.from_numpy(x), tuple(state))
        for part, wanted in zip(ours, expected, strict=True):
            np.testing.assert_allclose(part, wanted, rtol=1e-12)
