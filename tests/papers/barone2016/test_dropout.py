"""Proves the passthrough cells with masks against loops in numpy, the masks that maps share, and symbols that
are dropped whole, in every engine."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import cells, engine, models
from tensor_rnns.cells.low_rank_dropout import DroppedGRU
from tensor_rnns.models.symbols import OneHot, scales

INPUTS, HIDDEN, RANK, BATCH, STEPS, REPLICAS = 6, 5, 2, 4, 7, 3
MAPS = {
    "full": {},
    "untied": {"map": "low_rank_diagonal", "rank": RANK},
    "tied": {"map": "low_rank_diagonal", "rank": RANK, "tied": True},
}


def logistic(a):
    return 1 / (1 + np.exp(-a))


def mapped(p, gate, h):
    """The map of a gate on one state."""
    if f"W_{gate}" in p:
        return h @ p[f"W_{gate}"]
    y = h @ p["R" if "R" in p else f"R_{gate}"] @ p[f"L_{gate}"]
    return y + h * p[f"D_{gate}"][0]


def gru(p, symbol, scale, h, masks, dropout):
    """Equation 7 on a symbol times `scale`, with masks by gate."""
    entering = {}
    for gate in "rzc":
        row, bias = p[f"U_{gate}"][symbol], p[f"b_{gate}"][0]
        entering[gate] = scale * (row + bias) if dropout == "authors" else scale * row + bias
    r, z = (logistic(entering[gate] + mapped(p, gate, masks[gate] * h)) for gate in "rz")
    c = np.tanh(entering["c"] + r * mapped(p, "c", masks["c"] * h))
    return (1 - z) * c + z * h


@pytest.mark.parametrize(
    ("kind", "dropout", "groups"),
    [
        ("full", "authors", ["rz", "c"]),
        ("untied", "authors", ["r", "z", "c"]),
        ("tied", "authors", ["rzc"]),
        ("full", "clean", ["r", "z", "c"]),
        ("tied", "clean", ["r", "z", "c"]),
    ],
)
def test_the_gru_is_its_equations_with_as_many_masks_as_the_code(kind, dropout, groups):
    cell = cells.build({"name": "lr_gru_dropout", "hidden": HIDDEN, "dropout": dropout, **MAPS[kind]}, INPUTS)
    assert ["".join(group) for group in cell.shared] == groups
    assert cell.states == ("h", *(f"d_{group[0]}" for group in groups))
    rng = np.random.default_rng(5)
    p = {key: rng.standard_normal(shape) for key, shape in cell.shapes().items()}
    h, drawn = rng.standard_normal((BATCH, HIDDEN)), 2.0 * rng.integers(0, 2, (len(groups), BATCH, HIDDEN))
    symbols, scale = rng.integers(INPUTS, size=BATCH), rng.standard_normal((BATCH, 1))
    x = OneHot(torch.tensor(symbols), INPUTS, torch.tensor(scale))
    given = {key: torch.tensor(value) for key, value in p.items()}
    state = (torch.tensor(h), *map(torch.tensor, drawn))
    found = cell.step(given, x, state)
    assert all(new is old for new, old in zip(found[1:], state[1:], strict=True))
    for row in range(BATCH):
        masks = {gate: drawn[k, row] for k, group in enumerate(groups) for gate in group}
        wanted = gru(p, symbols[row], scale[row, 0], h[row], masks, dropout)
        np.testing.assert_allclose(found[0][row].numpy(), wanted, rtol=0, atol=1e-13)


def test_the_lstm_has_a_mask_for_each_map():
    cell = cells.build({"name": "lr_lstm_dropout", "hidden": HIDDEN, **MAPS["untied"]}, INPUTS)
    rng = np.random.default_rng(6)
    p = {key: rng.standard_normal(shape) for key, shape in cell.shapes().items()}
    h, c, *drawn = rng.standard_normal((6, HIDDEN))
    x = rng.standard_normal(INPUTS)
    q = {
        gate: x @ p[f"U_{gate}"] + mapped(p, gate, mask * h) + p[f"b_{gate}"][0]
        for gate, mask in zip("ofig", drawn, strict=True)
    }
    memory = logistic(q["f"]) * c + logistic(q["i"]) * np.tanh(q["g"])
    given = {key: torch.tensor(value) for key, value in p.items()}
    found = cell.step(
        given, torch.tensor(x)[None], tuple(torch.tensor(part)[None] for part in (h, c, *drawn))
    )
    np.testing.assert_allclose(found[1][0].numpy(), memory, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found[0][0].numpy(), logistic(q["o"]) * np.tanh(memory), rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", ["lr_gru_dropout", "lr_lstm_dropout"])
def test_without_masks_a_cell_is_that_without_dropout(name):
    plain = {"lr_gru_dropout": {"name": "lr_gru", "reset": "after"}, "lr_lstm_dropout": {"name": "lr_lstm"}}
    ours = cells.build({"name": name, "hidden": HIDDEN, **MAPS["tied"]}, INPUTS)
    theirs = cells.build({"hidden": HIDDEN, **plain[name], **MAPS["tied"]}, INPUTS)
    rng = np.random.default_rng(7)
    p = {key: torch.tensor(rng.standard_normal(shape)) for key, shape in ours.shapes().items()}
    assert ours.shapes() == theirs.shapes()
    x = OneHot(torch.tensor(rng.integers(INPUTS, size=BATCH)), INPUTS)
    found = [cell.step(p, x, cell.initial_state(BATCH, dtype=torch.float64))[0] for cell in (ours, theirs)]
    torch.testing.assert_close(*found, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("dropout", ["authors", "clean"])
def test_dropped_symbols_run_compiled_with_the_gradients_of_dense_vectors(kind, dropout):
    """Scaled symbols, and biases that are scaled with them, against products with whole vectors: 1e-12."""
    cell = cells.build({"name": "lr_gru_dropout", "hidden": HIDDEN, "dropout": dropout, **MAPS[kind]}, INPUTS)
    assert engine.find("compiled").prepare(cell, torch.float64, torch.device("cpu"))
    rng = np.random.default_rng(11)
    values = {key: rng.standard_normal((REPLICAS, *shape)) for key, shape in cell.shapes().items()}
    symbols = torch.tensor(rng.integers(INPUTS, size=(STEPS, REPLICAS, BATCH)))
    scale = torch.tensor(rng.integers(0, 2, (STEPS, REPLICAS, BATCH, 1)) / 0.9)
    dense = torch.nn.functional.one_hot(symbols, INPUTS).double() * scale
    weight = torch.tensor(rng.standard_normal((STEPS, REPLICAS, BATCH, HIDDEN)))
    state = cell.initial_state(REPLICAS, BATCH, dtype=torch.float64)
    state = (state[0] + 0.3, *(torch.tensor(2.0 * rng.integers(0, 2, part.shape)) for part in state[1:]))
    found = []
    for runner, inputs in (("eager", dense), ("eager", None), ("compiled", None)):
        p = {key: torch.tensor(value, requires_grad=True) for key, value in values.items()}
        given = OneHot(symbols, INPUTS, scale) if inputs is None else inputs
        outputs, _ = engine.find(runner).run(cell, p, given, state)
        (outputs * weight).sum().backward()
        found.append([outputs.detach(), *(p[key].grad for key in sorted(p))])
    for others in found[1:]:
        for ours, wanted in zip(others, found[0], strict=True):
            assert (ours - wanted).abs().max() < 1e-12


def test_a_row_keeps_a_symbol_everywhere_or_nowhere_where_types_are_dropped():
    rng = np.random.default_rng(2)
    symbols = rng.integers(9, size=(80, 50))
    by_type = scales(np.random.default_rng(3), symbols, 9, 0.3, "type")[..., 0]
    for row in range(50):
        for symbol in range(9):
            assert len(set(by_type[symbols[:, row] == symbol, row])) <= 1
    by_step = scales(np.random.default_rng(3), symbols, 9, 0.3, "step")
    assert by_step.shape == (80, 50, 1)
    for found in (by_type, by_step):
        assert set(np.unique(found)) == {0.0, 1 / 0.7}
        assert found.mean() == pytest.approx(1, abs=0.05)
    assert any(len(set(by_step[symbols[:, 0] == symbol, 0, 0])) == 2 for symbol in range(9))


@pytest.fixture
def model():
    block = {"name": "every_step", "symbol_dropout": 0.4, "state_dropout": 0.5, "dropout": "sequence"}
    cell = {"name": "lr_gru_dropout", "hidden": HIDDEN, **MAPS["tied"]}
    return models.build({"model": block, "cell": cell}, INPUTS, INPUTS, symbols=True)


def test_a_dropped_symbol_enters_as_zero_in_training_alone(model):
    """Another symbol in its place changes nothing; evaluation drops none."""
    rng = np.random.default_rng(1)
    values = {key: torch.tensor(rng.standard_normal((1, *shape))) for key, shape in model.shapes().items()}
    inputs = torch.tensor(rng.integers(INPUTS, size=(2, 1, BATCH)))
    batch = SimpleNamespace(inputs=inputs, lengths=None)
    ones = torch.ones(1, BATCH, HIDDEN, dtype=torch.bool)
    draws = {"symbol_dropout": torch.tensor([[0, 2.0, 2, 0], [2, 0, 2, 0]]).double().view(2, 1, BATCH, 1)}
    draws["cell/d_r"] = ones
    assert model.entered(values, inputs, draws).scale is draws["symbol_dropout"]
    outputs = model.apply(values, batch, draws=draws).outputs
    changed = (inputs + (draws["symbol_dropout"][..., 0] == 0)) % INPUTS
    other = SimpleNamespace(inputs=changed, lengths=None)
    assert torch.equal(outputs, model.apply(values, other, draws=draws).outputs)
    assert model.entered(values, inputs).scale is None


def test_draws_of_a_batch(model):
    item = SimpleNamespace(inputs=np.zeros((STEPS, BATCH), np.int64))
    draws = model.draws(np.random.default_rng(1), item, 0)
    assert {key: value.shape for key, value in draws.items()} == {
        "symbol_dropout": (STEPS, BATCH, 1), "cell/d_r": (BATCH, HIDDEN),
    }  # fmt: skip


def test_numbers_are_no_symbols_to_drop():
    block = {"name": "every_step", "symbol_dropout": 0.4}
    with pytest.raises(ValueError, match=r"symbol_dropout is 0\.4, and the task gives numbers; allowed is 0"):
        models.build({"model": block, "cell": {"name": "lr_gru", "hidden": 3}}, INPUTS, INPUTS)


@pytest.mark.parametrize("name", ["lr_gru_dropout", "lr_lstm_dropout"])
def test_weight_normalisation_is_refused(name):
    with pytest.raises(ValueError, match="weight_norm is True; allowed is false"):
        cells.build({"name": name, "hidden": 3, "weight_norm": True}, INPUTS)
    assert DroppedGRU.reset == "after"
