"""Proves that each model computes its formula for stacked replicas, from parameters drawn as options say."""

import numpy as np
import pytest
import torch

from tensor_rnns import models

INPUTS, OUTPUTS, HIDDEN, RANK, STEPS, REPLICAS, BATCH = 3, 2, 5, 4, 6, 7, 8
SETTINGS = {
    "last_output": {"model": {"name": "last_output"}, "cell": {"name": "lstm", "hidden": HIDDEN}},
    "every_step": {"model": {"name": "every_step"}, "cell": {"name": "tgu_c", "hidden": 9, "rank": RANK}},
    "perceptron": {"model": {"name": "perceptron"}, "cell": None},
    "mlp": {"model": {"name": "mlp", "hidden": HIDDEN}, "cell": None},
    "tensor_layer": {"model": {"name": "tensor_layer", "rank": RANK, "output_bias": True}, "cell": None},
}


def stacked(model):
    """Parameters of all replicas, float64."""
    drawn = [model.initialise(np.random.default_rng(seed)) for seed in range(REPLICAS)]
    return {name: torch.from_numpy(np.stack([one[name] for one in drawn])) for name in drawn[0]}


def given(name):
    """Inputs of all replicas, with time for the models that have it."""
    lead = (STEPS, REPLICAS, BATCH) if name in ("last_output", "every_step") else (REPLICAS, BATCH)
    return torch.from_numpy(np.random.default_rng(99).standard_normal((*lead, INPUTS)))


@pytest.fixture(params=sorted(SETTINGS))
def name(request):
    return request.param


def test_shapes_count_and_values_agree(name):
    model = models.build(SETTINGS[name], INPUTS, OUTPUTS)
    values = model.initialise(np.random.default_rng(1))
    assert {name: value.shape for name, value in values.items()} == model.shapes()
    assert model.parameter_count() == sum(value.size for value in values.values())
    assert all(value.dtype == np.float64 for value in values.values())


def test_stacked_equals_one_by_one(name):
    model = models.build(SETTINGS[name], INPUTS, OUTPUTS)
    params, inputs = stacked(model), given(name)
    outputs, state = model.forward(params, inputs)
    for s in range(REPLICAS):
        alone = {name: value[s : s + 1] for name, value in params.items()}
        one, one_state = model.forward(alone, inputs[..., s : s + 1, :, :])
        torch.testing.assert_close(outputs[..., s, :, :], one[..., 0, :, :], rtol=0, atol=1e-12)
        for many, single in zip(state or (), one_state or (), strict=True):
            torch.testing.assert_close(many[s], single[0], rtol=0, atol=1e-12)


def test_last_output_reads_the_last_state():
    model = models.build(SETTINGS["last_output"], INPUTS, OUTPUTS)
    params, inputs = stacked(model), given("last_output")
    outputs, (h, c) = model.forward(params, inputs)
    assert outputs.shape == (REPLICAS, BATCH, OUTPUTS)
    assert c.shape == (REPLICAS, BATCH, HIDDEN)
    expected = torch.einsum("sbh,sho->sbo", h, params["read_out/W"]) + params["read_out/b"]
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-12)


def test_every_step_ends_where_last_output_does():
    settings = SETTINGS["every_step"]
    params, inputs = stacked(models.build(settings, INPUTS, OUTPUTS)), given("every_step")
    outputs, _ = models.build(settings, INPUTS, OUTPUTS).forward(params, inputs)
    at_the_end = models.build(settings | {"model": {"name": "last_output"}}, INPUTS, OUTPUTS)
    last, _ = at_the_end.forward(params, inputs)
    assert outputs.shape == (STEPS, REPLICAS, BATCH, OUTPUTS)
    torch.testing.assert_close(outputs[-1], last, rtol=0, atol=1e-12)
    shorter, _ = models.build(settings, INPUTS, OUTPUTS).forward(params, inputs[:4])
    torch.testing.assert_close(outputs[:4], shorter, rtol=0, atol=1e-12)


def test_the_state_can_be_carried():
    model = models.build(SETTINGS["every_step"], INPUTS, OUTPUTS)
    params, inputs = stacked(model), given("every_step")
    outputs, _ = model.forward(params, inputs)
    _, state = model.forward(params, inputs[:2])
    rest, _ = model.forward(params, inputs[2:], state)
    torch.testing.assert_close(rest, outputs[2:], rtol=0, atol=1e-12)
    fresh, _ = model.forward(params, inputs[2:])
    assert (fresh - rest).abs().max() > 1e-3


def test_perceptron_and_mlp():
    model = models.build(SETTINGS["perceptron"], INPUTS, OUTPUTS)
    p, x = stacked(model), given("perceptron")
    outputs, state = model.forward(p, x)
    assert state == ()
    expected = torch.einsum("sbi,sio->sbo", x, p["read_out/W"]) + p["read_out/b"]
    torch.testing.assert_close(outputs, expected, rtol=0, atol=1e-12)
    model = models.build(SETTINGS["mlp"], INPUTS, OUTPUTS)
    p = stacked(model)
    hidden = 1 / (1 + torch.exp(-torch.einsum("sbi,sih->sbh", x, p["hidden/W"]) - p["hidden/b"]))
    expected = torch.einsum("sbh,sho->sbo", hidden, p["read_out/W"]) + p["read_out/b"]
    torch.testing.assert_close(model.forward(p, x)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("append_one", [True, False])
@pytest.mark.parametrize("output_bias", [True, False])
def test_tensor_layer(append_one, output_bias):
    block = {"name": "tensor_layer", "rank": RANK, "append_one": append_one, "output_bias": output_bias}
    model = models.build({"model": block, "cell": None}, INPUTS, OUTPUTS)
    p, x = stacked(model), given("tensor_layer")
    tilde = torch.cat([x, torch.ones(REPLICAS, BATCH, 1, dtype=x.dtype)], -1) if append_one else x
    factors = [p[f"tensor/{name}"] for name in "ABC"]
    expected = torch.einsum("sri,srj,srk,sbi,sbk->sbj", *factors, tilde, tilde)
    expected = expected + p["output/b"] if output_bias else expected
    torch.testing.assert_close(model.forward(p, x)[0], expected, rtol=0, atol=1e-12)
    assert ("output/b" in model.shapes()) == output_bias


@pytest.mark.parametrize("form", [{"form": "tensor_train", "rank": RANK}, {"form": "full"}])
@pytest.mark.parametrize("append_one", [True, False])
def test_a_tensor_layer_in_another_form(form, append_one):
    model = models.build(
        {"model": {"name": "tensor_layer", "append_one": append_one, **form}, "cell": None}, INPUTS, OUTPUTS
    )
    p, x = stacked(model), given("tensor_layer")
    tilde = torch.cat([x, torch.ones(REPLICAS, BATCH, 1, dtype=x.dtype)], -1) if append_one else x
    train = [p[f"tensor/{name}"] for name in "ABC"] if "tensor/A" in p else None
    whole = torch.einsum("sip,spjq,sqk->sijk", *train) if train else p["tensor/W"]
    assert whole.shape == (REPLICAS, tilde.shape[-1], OUTPUTS, tilde.shape[-1])
    expected = torch.einsum("sijk,sbi,sbk->sbj", whole, tilde, tilde)
    torch.testing.assert_close(model.forward(p, x)[0], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({}, r"model tensor_layer: the form cp needs the key 'rank' \(a whole number"),
        ({"form": "full", "rank": 2}, "model tensor_layer: rank is 2; a full tensor has none"),
    ],
)
def test_a_rank_that_the_form_of_a_tensor_layer_cannot_have(form, message):
    with pytest.raises(ValueError, match=message):
        models.build({"model": {"name": "tensor_layer", **form}, "cell": None}, INPUTS, OUTPUTS)


def test_a_tensor_layer_without_bias_is_zero_at_zero():
    block = {"name": "tensor_layer", "rank": RANK, "append_one": False}
    model = models.build({"model": block, "cell": None}, INPUTS, OUTPUTS)
    outputs, _ = model.forward(stacked(model), torch.zeros(REPLICAS, BATCH, INPUTS, dtype=torch.float64))
    assert not outputs.any()


def test_a_rank_one_layer_with_a_one_solves_exclusive_or():
    model = models.build({"model": {"name": "tensor_layer", "rank": 1}, "cell": None}, 2, 1)
    factors = {"A": [[[1.0, 1.0, -0.5]]], "B": [[[-1.0]]], "C": [[[1.0, 1.0, -1.5]]]}
    params = {f"tensor/{name}": torch.tensor(values) for name, values in factors.items()}
    outputs, _ = model.forward(params, torch.tensor([[[0.0, 0], [0, 1], [1, 0], [1, 1]]]))
    assert (outputs[0, :, 0] > 0).tolist() == [False, True, True, False]


def test_initialisers_reach_their_parameters():
    read_out = {"weight": {"constant": 2}, "bias": "constant(3)"}
    settings = SETTINGS["last_output"] | {"model": {"name": "last_output", "read_out": read_out}}
    values = models.build(settings, INPUTS, OUTPUTS).initialise(np.random.default_rng(1))
    assert (values["read_out/W"] == 2).all()
    assert (values["read_out/b"] == 3).all()
    for name in ("perceptron", "mlp", "tensor_layer"):
        settings = {"model": SETTINGS[name]["model"] | {"initialiser": "constant(4)"}, "cell": None}
        values = models.build(settings, INPUTS, OUTPUTS).initialise(np.random.default_rng(1))
        assert all((value == 4).all() for value in values.values())


def test_the_default_read_out_has_the_authors_ranges():
    settings = {"model": {"name": "last_output"}, "cell": {"name": "gru", "hidden": 12}}
    values = models.build(settings, INPUTS, 2000).initialise(np.random.default_rng(1))
    assert 0.49 < np.abs(values["read_out/W"]).max() <= 0.5
    assert 1.70 < np.abs(values["read_out/b"]).max() <= np.sqrt(3)


GRU = {"name": "gru", "hidden": HIDDEN}


@pytest.mark.parametrize(
    ("block", "cell", "message"),
    [
        (
            {"name": "cathedral"},
            None,
            "unknown model 'cathedral'; allowed are .*every_step, .*highway, .*last_output",
        ),
        ({"name": "last_output"}, None, "last_output: no cell given; allowed: .*tgu"),
        (
            {"name": "last_output"},
            {"name": "gru"},
            r"cell gru: needs the key 'hidden' \(a whole number from 1 to a billion\)",
        ),
        ({"name": "mlp", "hidden": 2}, GRU, "cell 'gru' given; allowed: none"),
        ({"name": "mlp"}, None, r"model mlp: needs the key 'hidden' \(a whole number from 1 to a billion\)"),
        (
            {"name": "mlp", "hidden": 0},
            None,
            "model mlp: hidden is 0; allowed is a whole number from 1 to a billion",
        ),
        (
            {"name": "mlp", "hidden": 2, "activation": "step"},
            None,
            "model mlp: activation is 'step'; allowed are relu, sigmoid, tanh",
        ),
        (
            {"name": "perceptron", "rank": 2},
            None,
            "model perceptron: has no key 'rank'; allowed are initialiser",
        ),
        (
            {"name": "tensor_layer", "rank": 0},
            None,
            "model tensor_layer: rank is 0; allowed is a whole number from 1",
        ),
        (
            {"name": "tensor_layer", "rank": 1, "append_one": 1},
            None,
            "model tensor_layer: append_one is 1; allowed is true, false",
        ),
        (
            {"name": "every_step", "read_out": {"gain": 2}},
            GRU,
            r"model every_step: read_out is \{'gain': 2\}; allowed is initialisers",
        ),
        (
            {"name": "every_step", "read_out": {"bias": "none"}},
            GRU,
            "model every_step: read_out: unknown initialiser 'none'; allowed are",
        ),
    ],
)
def test_wrong_settings_are_refused(block, cell, message):
    with pytest.raises(ValueError, match=message):
        models.build({"model": block, "cell": cell}, INPUTS, OUTPUTS)
