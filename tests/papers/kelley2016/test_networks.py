"""Proves the cells of kelley2016 against loops over the text's slices, and the look-up of symbols."""

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine
from tensor_rnns.models.symbols import OneHot

INPUTS, HIDDEN, BATCH, STEPS, REPLICAS = 7, 5, 3, 6, 2


def by_slices(w: np.ndarray, h: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(h^T W^[i] x)_i for w [I, H, H] as it is stored: slice W^[i]_ab = w[b, i, a]."""
    units = range(len(h))
    return np.array([sum(h[a] * w[b, i, a] * x[b] for a in units for b in range(len(x))) for i in units])


def logistic(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


def rtn(p, x, h, c, options):
    squash = np.tanh if options.get("activation", "tanh") == "tanh" else logistic
    return (squash(by_slices(p["W"], h, x) + p["b"][0]),)


def grtn(p, x, h, c, options):
    q = {gate: by_slices(p[f"{gate}_W"], h, x) + p[f"{gate}_b"][0] for gate in "ifoc"}
    kept = h if options.get("cell_from") == "h" else c
    c = logistic(q["f"]) * kept + logistic(q["i"]) * np.tanh(q["c"])
    h = logistic(q["o"]) * np.tanh(c)
    return (h, c) if options.get("cell_from") != "h" else (h,)


@pytest.mark.parametrize(
    ("name", "step", "options"),
    [
        ("rtn", rtn, {}),
        ("rtn", rtn, {"activation": "sigmoid"}),
        ("grtn", grtn, {}),
        ("grtn", grtn, {"cell_from": "h"}),
        ("rtn", rtn, {"form": "cp", "rank": 4}),
        ("grtn", grtn, {"form": "tensor_train", "rank": 3}),
    ],
)
def test_a_cell_is_its_equations(name, step, options):
    rng = np.random.default_rng(3)
    cell = cells.build({"name": name, "hidden": HIDDEN, **options}, INPUTS)
    p = {key: rng.standard_normal(shape) for key, shape in cell.shapes().items()}
    h, c, x = (rng.standard_normal(size) for size in (HIDDEN, HIDDEN, INPUTS))
    given = [torch.tensor(value)[None] for value in (h, c)][: len(cell.states)]
    ours = cell.step(
        {key: torch.tensor(value) for key, value in p.items()}, torch.tensor(x)[None], tuple(given)
    )
    given = {key: torch.tensor(value) for key, value in p.items()}
    p |= {form.prefix + "W": form.reconstruct(given).numpy() for form in cell.forms}
    wanted = step(p, x, h, c, options)
    for found, value in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(found[0].numpy(), value, rtol=0, atol=1e-13)


def test_initial_values_are_small_and_biases_zero():
    cell = cells.build({"name": "grtn", "hidden": 64}, 205)
    first = cell.initialise(np.random.default_rng(5))
    assert sum(value.size for value in first.values()) == 4 * 64 * 64 * 205 + 4 * 64
    for name, value in first.items():
        if name.endswith("_b"):
            assert not value.any()
        else:
            assert 0.0099 < value.std() < 0.0101
            assert abs(value.mean()) < 1e-4


@pytest.mark.parametrize("name", ["rtn", "grtn"])
@pytest.mark.parametrize("engine_name", ["eager", "compiled"])
def test_looked_up_symbols_are_one_hot_vectors(name, engine_name):
    """The look-up of a matrix per symbol, and its gradients, against the dense product in float64: 1e-12."""
    rng = np.random.default_rng(11)
    cell = cells.build({"name": name, "hidden": HIDDEN}, INPUTS)
    values = {key: rng.standard_normal((REPLICAS, *shape)) for key, shape in cell.shapes().items()}
    symbols = torch.tensor(rng.integers(INPUTS - 1, size=(STEPS, REPLICAS, BATCH)))
    weight = torch.tensor(rng.standard_normal((STEPS, REPLICAS, BATCH, HIDDEN)))
    state = cell.initial_state(REPLICAS, BATCH, dtype=torch.float64)
    state = tuple(part + 0.3 for part in state)
    found = []
    dense = torch.nn.functional.one_hot(symbols, INPUTS).double()
    for runner, inputs in (("eager", dense), (engine_name, OneHot(symbols, INPUTS))):
        p = {key: torch.tensor(value, requires_grad=True) for key, value in values.items()}
        outputs, _ = engine.find(runner).run(cell, p, inputs, state)
        (outputs * weight).sum().backward()
        found.append([outputs.detach(), *(p[key].grad for key in sorted(p))])
    for ours, wanted in zip(*found, strict=True):
        assert (ours - wanted).abs().max() < 1e-12
    # The last symbol never came: its slice has the gradient zero, exactly.
    tensor = "W" if name == "rtn" else "f_W"
    assert not found[1][1 + sorted(values).index(tensor)][:, INPUTS - 1].any()
