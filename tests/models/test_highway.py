"""Proves the highway net of barone2016 A.1 against numpy, its gradients, its running means, its initial
values."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import models

INPUTS, HIDDEN, RANK, LAYERS, OUTPUTS, REPLICAS, BATCH = 4, 7, 3, 2, 5, 2, 6
MAPS = {
    "full": {"map": "full"},
    "low_rank": {"map": "low_rank", "rank": RANK},
    "low_rank_diagonal": {"map": "low_rank_diagonal", "rank": RANK},
}
SHARES = {"input_dropout": 0.2, "dropout": 0.3, "output_dropout": 0.5}


def built(**keys):
    block = {"name": "highway", "hidden": HIDDEN, "layers": LAYERS, **MAPS["low_rank_diagonal"], **keys}
    return models.build({"model": block}, INPUTS, OUTPUTS)


def stacked(model, seed=1):
    """Random parameters and buffers of all replicas, float64; deviations are above 0."""
    rng = np.random.default_rng(seed)
    shapes = {name: np.shape(value) for name, value in model.initialise(rng).items()}
    values = {name: rng.standard_normal((REPLICAS, *shape)) for name, shape in shapes.items()}
    return {
        name: torch.tensor(np.abs(value) + 0.5 if name.endswith("deviation") else value)
        for name, value in values.items()
    }


def batch_of(seed=2):
    rng = np.random.default_rng(seed)
    inputs = torch.tensor(rng.standard_normal((REPLICAS, BATCH, INPUTS)))
    return SimpleNamespace(inputs=inputs, targets=torch.zeros(REPLICAS, BATCH, dtype=torch.int64))


def masks(model, seed=3):
    """The masks of all replicas."""
    item = SimpleNamespace(targets=np.zeros(BATCH))
    drawn = [model.draws(np.random.default_rng(seed + s), item, 0) for s in range(REPLICAS)]
    return {name: torch.tensor(np.stack([one[name] for one in drawn])) for name in drawn[0]}


def by_hand(model, values, x, drawn):
    """One replica, one image after another where nothing is averaged over the batch."""
    p = {name: value.numpy() for name, value in values.items()}
    after = {}

    def drop(name, v, share):
        if drawn is None:
            return (1 - share) * v
        return np.where(drawn[name], v, 0) if name in drawn else v

    def normal(name, v):
        mean, deviation = p[f"{name}/mean"][0], p[f"{name}/deviation"][0]
        if drawn is not None:
            now = v.mean(0), np.sqrt(((v - v.mean(0)) ** 2).mean(0))
            after[f"{name}/mean"] = 0.9 * mean + 0.1 * now[0]
            after[f"{name}/deviation"] = 0.9 * deviation + 0.1 * now[1]
            mean, deviation = now
        return (v - mean) / (deviation + 1e-4)

    def scaled(name, v):
        return normal(name, v) * p[f"{name}/g"][0] + p[f"{name}/b"][0]

    x = np.maximum(scaled("input", drop("input", x, model.input_dropout) @ p["input/W"]), 0)
    for layer in range(1, LAYERS + 1):
        found = {}
        for name in "ht":
            seen = drop(f"layer{layer}/before", x, model.dropout)
            if model.map == "full":
                q = seen @ p[f"layer{layer}/W_{name}"]
            else:
                inner = normal(f"layer{layer}/R_{name}", seen @ p[f"layer{layer}/R_{name}"])
                q = drop(f"layer{layer}/between", inner, model.dropout) @ p[f"layer{layer}/L_{name}"]
                if model.map == "low_rank_diagonal":
                    q = q + seen * p[f"layer{layer}/D_{name}"]
            found[name] = scaled(f"layer{layer}/{name}", q)
        gate = 1 / (1 + np.exp(-found["t"]))
        x = np.maximum(found["h"], 0) * gate + x * (1 - gate)
    x = drop("output", x, model.output_dropout)
    return x @ p["read_out/W"] + p["read_out/b"][0], after


@pytest.mark.parametrize("kind", MAPS)
@pytest.mark.parametrize("training", [True, False])
def test_a_pass_is_its_equations(kind, training):
    model = built(**{"rank": None} | MAPS[kind], **SHARES)
    values, batch = stacked(model), batch_of()
    drawn = masks(model) if training else None
    result = model.apply(values, batch, draws=drawn)
    for s in range(REPLICAS):
        own = {name: value[s] for name, value in values.items()}
        mine = {name: value[s].numpy() for name, value in drawn.items()} if training else None
        wanted, after = by_hand(model, own, batch.inputs[s].numpy(), mine)
        np.testing.assert_allclose(result.outputs[s].numpy(), wanted, rtol=0, atol=1e-11)
        assert result.buffers.keys() == after.keys()
        for name, value in after.items():
            np.testing.assert_allclose(result.buffers[name][s, 0].numpy(), value, rtol=0, atol=1e-12)
    assert bool(result.buffers) == training


@pytest.mark.parametrize("kind", MAPS)
def test_gradients_are_those_of_differences(kind):
    """Through the means and deviations of the batch too, with the same masks."""
    model = built(**{"rank": None} | MAPS[kind], **SHARES)
    values, batch, drawn = stacked(model), batch_of(), masks(model)
    names = list(model.shapes())

    def outputs(*parameters):
        return model.apply(values | dict(zip(names, parameters, strict=True)), batch, draws=drawn).outputs

    given = [values[name].clone().requires_grad_() for name in names]
    assert torch.autograd.gradcheck(outputs, given, fast_mode=True, eps=1e-7, atol=1e-5)


def test_without_dropout_training_still_normalises_by_the_batch():
    model = built()
    values, batch = stacked(model), batch_of()
    assert model.draws(np.random.default_rng(1), SimpleNamespace(targets=np.zeros(BATCH)), 0) == {}
    trained, evaluated = model.apply(values, batch, draws={}), model.apply(values, batch)
    assert trained.buffers
    assert not evaluated.buffers
    assert (trained.outputs - evaluated.outputs).abs().max() > 0.01


def test_masks_have_the_shares_that_stay_and_both_maps_see_the_same():
    model = built(hidden=200, **SHARES)
    drawn = model.draws(np.random.default_rng(5), SimpleNamespace(targets=np.zeros(300)), 0)
    assert {name: value.shape[1] for name, value in drawn.items()} == {
        "input": INPUTS, "output": 200, "layer1/before": 200, "layer1/between": RANK, "layer2/before": 200,
        "layer2/between": RANK,
    }  # fmt: skip
    assert drawn["output"].mean() == pytest.approx(0.5, abs=0.01)
    assert drawn["layer2/before"].mean() == pytest.approx(0.7, abs=0.01)
    assert (drawn["layer1/before"] != drawn["layer2/before"]).any()


@pytest.mark.parametrize("form", ["squared", "mean_norm"])
def test_the_last_matrix_costs(form):
    model = built(weight_penalty=0.3, penalty_form=form)
    values = stacked(model)
    found = model.penalty(values, None, None)
    for s, last in enumerate(values["read_out/W"].numpy()):
        squares = (last**2).sum()
        wanted = squares if form == "squared" else np.sqrt(squares) / (HIDDEN * OUTPUTS)
        assert float(found[s]) == pytest.approx(0.3 * wanted, rel=1e-12)
    assert model.has_penalty
    assert not built().has_penalty


def test_initial_values():
    model = built(hidden=60, rank=20)
    first = model.initialise(np.random.default_rng(3))
    assert 0.97 < np.abs(first["layer1/R_h"]).max() / np.sqrt(6 / 80) <= 1
    assert (first["layer1/D_t"] == 0.01).all()
    assert {name: value.mean() for name, value in first.items() if name.startswith("layer2/t/")} == {
        "layer2/t/g": 1.0, "layer2/t/b": -1.0, "layer2/t/mean": 0.0, "layer2/t/deviation": 1.0,
    }  # fmt: skip
    assert (first["layer2/h/b"] == 0).all()
    # What the transform gates let through at first.
    assert 1 / (1 + np.exp(1)) == pytest.approx(0.269, abs=5e-4)


def test_a_truncated_start_does_to_one_vector_what_an_orthogonal_matrix_does():
    """R and L are parts of orthogonal matrices over the share that stays."""
    model = built(hidden=12, rank=4, start="truncated", dropout=0.3)
    rng = np.random.default_rng(8)
    values = model.truncated(rng)
    for name in "ht":
        r, left = values[f"R_{name}"] * 0.7, values[f"L_{name}"] * 0.7
        np.testing.assert_allclose(r.T @ r, np.eye(4), rtol=0, atol=1e-12)
        np.testing.assert_allclose(left @ left.T, np.eye(4), rtol=0, atol=1e-12)
    again = np.random.default_rng(8)
    a, b = (np.linalg.qr(again.standard_normal((12, 12))) for _ in range(2))
    a, b = (q * np.sign(np.diag(upper)) for q, upper in (a, b))
    test = again.standard_normal(12)
    made = (test @ values["R_h"] @ values["L_h"]) * 0.49 + test * values["D_h"][0] * 0.7
    np.testing.assert_allclose(made, test @ a @ b, rtol=0, atol=0.02)


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({"map": "low_rank", "start": "truncated"}, "start = 'truncated' given; allowed: drawn, or a map"),
        ({"map": "full"}, "rank is 3; allowed is a number for low rank, none for full"),
        ({"dropout": 1.0}, "dropout is 1.0; allowed is at least 0 and below 1"),
    ],
)
def test_what_cannot_be_is_refused(keys, told):
    with pytest.raises(ValueError, match=told):
        built(**keys)
