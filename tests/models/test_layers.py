"""Proves several layers and both directions against torch.nn with copied weights, on every engine."""

import numpy as np
import pytest
import torch
from torch import nn

from tensor_rnns import models
from tensor_rnns.models import Inputs

INPUTS, OUTPUTS, HIDDEN, STEPS, REPLICAS, BATCH = 3, 2, 5, 6, 2, 4
CELLS = {"lstm": {"name": "lstm", "forget_bias": 0.0}, "gru": {"name": "gru", "reset": "after"}}
GATES = {"lstm": "ifgo", "gru": "rfz"}
LENGTHS = torch.tensor([[6, 1, 4, 3], [2, 6, 5, 6]])


def built(cell, layers, both, name="every_step", engine_name="eager", **block):
    block = {"name": name, "layers": layers, "bidirectional": both} | block
    return models.build({"model": block, "cell": cell | {"hidden": HIDDEN}}, INPUTS, OUTPUTS, engine_name)


def drawn(model, dtype=torch.float64):
    """Parameters of all replicas."""
    values = [model.initialise(np.random.default_rng(seed)) for seed in range(REPLICAS)]
    return {
        name: torch.from_numpy(np.stack([one[name] for one in values])).to(dtype) for name in model.shapes()
    }


def theirs(kind, model, params, replica):
    """The module of torch.nn with the weights of one replica."""
    module = {"lstm": nn.LSTM, "gru": nn.GRU}[kind](
        INPUTS, HIDDEN, model.layers, bidirectional=model.bidirectional, dtype=torch.float64
    )
    for name in model.cells:
        own = {key: params[f"{name}/{key}"][replica] for key in model.cells[name].shapes()}
        layer = int(name.removeprefix("reverse").removeprefix("cell") or 1) - 1
        suffix = f"_l{layer}" + ("_reverse" if name.startswith("reverse") else "")
        with torch.no_grad():
            for ending, kinds in (("weight_ih", "W"), ("weight_hh", "U"), ("bias_ih", "b")):
                parts = [
                    own[f"{kinds}_{gate}"].mT if kinds != "b" else own[f"b_{gate}"][0] for gate in GATES[kind]
                ]
                getattr(module, ending + suffix).copy_(torch.cat(parts))
            getattr(module, "bias_hh" + suffix).zero_()
    return module


@pytest.fixture
def inputs():
    return torch.from_numpy(np.random.default_rng(4).standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("kind", CELLS)
@pytest.mark.parametrize("lengths", [None, LENGTHS], ids=["whole", "padded"])
def test_layers_and_directions_equal_torch(kind, layers, both, lengths, inputs):
    """Every output that is no padding, and the outputs at both ends, for each replica."""
    model = built(CELLS[kind], layers, both)
    params = drawn(model)
    states = model.apply(params, Inputs(inputs, lengths)).states[-1]
    last = built(CELLS[kind], layers, both, "last_output").apply(params, Inputs(inputs, lengths)).states[-1]
    for s in range(REPLICAS):
        x = inputs[:, s]
        if lengths is not None:
            x = nn.utils.rnn.pack_padded_sequence(x, lengths[s], enforce_sorted=False)
        expected, ends = theirs(kind, model, params, s)(x)
        if lengths is not None:
            expected, _ = nn.utils.rnn.pad_packed_sequence(expected, total_length=STEPS)
            found = states[:, s] * (torch.arange(STEPS)[:, None] < lengths[s])[..., None]
        else:
            found = states[:, s]
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        top = (ends[0] if kind == "lstm" else ends)[-2 if both else -1 :]
        torch.testing.assert_close(last[s], torch.cat(list(top), -1), rtol=0, atol=1e-12)


@pytest.mark.parametrize("layers", [2, 4])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("name", ["compiled", "torch_nn"])
def test_gradients_of_stacks_on_an_engine_are_those_of_the_loop(name, both, layers, inputs):
    """In float32 within 1e-5 of the largest, against the eager loop in float64."""

    def gradients(engine_name, dtype):
        model = built(CELLS["gru"], layers, both, engine_name=engine_name)
        params = {key: value.requires_grad_() for key, value in drawn(model, dtype).items()}
        outputs, _ = model.forward(params, inputs.to(dtype))
        return torch.autograd.grad(outputs.sin().sum(), list(params.values()))

    for ours, wanted in zip(gradients(name, torch.float32), gradients("eager", torch.float64), strict=True):
        assert (ours - wanted).abs().max() <= 1e-5 * wanted.abs().max()


def test_parameters_of_both_directions_have_names_of_their_own():
    names = list(built(CELLS["gru"], 2, True).shapes())
    assert [name.split("/")[0] for name in names][::9] == ["cell", "reverse", "cell2", "reverse2", "read_out"]
    assert built(CELLS["gru"], 2, True).shapes()["cell2/W_f"] == (2 * HIDDEN, HIDDEN)


@pytest.mark.parametrize("pattern", ["cell/*", "cell/U_*"])
@pytest.mark.parametrize("name", ["eager", "compiled"])
def test_what_is_fixed_is_drawn_as_before_and_is_no_parameter(pattern, name, inputs):
    """The same numbers come out; only the others have shapes."""
    free, held = (
        built(CELLS["gru"], 1, False, engine_name=name),
        built(CELLS["gru"], 1, False, engine_name=name, fixed=pattern),
    )
    values = {
        key: torch.from_numpy(value)[None] for key, value in free.initialise(np.random.default_rng(1)).items()
    }
    again = held.initialise(np.random.default_rng(1))
    assert all((again[key] == value.numpy()[0]).all() for key, value in values.items())
    assert values.keys() - held.shapes().keys() == {key for key in values if key.startswith(pattern[:-1])}
    x = inputs[:, :1]
    torch.testing.assert_close(held.forward(values, x)[0], free.forward(values, x)[0], rtol=0, atol=0)
    with pytest.raises(ValueError, match=r"fixed = 'gate/\*' given; allowed: a pattern of cell/W_f, "):
        built(CELLS["gru"], 1, False, fixed="gate/*")


def test_columns_are_scaled_down_to_the_largest_norm():
    """The weights into one unit keep their direction; smaller ones, biases and the read-out stay."""
    model = built(CELLS["gru"], 2, False, max_norm=0.5)
    params = drawn(model)
    before = {name: value.clone() for name, value in params.items()}
    model.constrain(params)
    assert model.has_constraint
    assert not built(CELLS["gru"], 2, False).has_constraint
    for name, value in params.items():
        if name.startswith("read_out") or value.shape[1] == 1:
            assert torch.equal(value, before[name])
            continue
        norms = before[name].norm(dim=1, keepdim=True)
        assert (norms > 0.5).any()
        torch.testing.assert_close(value, before[name] * (0.5 / norms).clamp(max=1), rtol=0, atol=1e-15)
    with pytest.raises(ValueError, match=r"max_norm is 0\.0; allowed is a number above 0"):
        built(CELLS["gru"], 1, False, max_norm=0.0)


class Given:
    """A batch of zeros of some steps and items."""

    inputs = np.zeros((50, 40, INPUTS), np.float32)


@pytest.mark.parametrize("dropout", ["step", "sequence"])
@pytest.mark.parametrize("name", ["every_step", "last_output"])
def test_masks_hold_for_a_step_or_for_a_sequence_at_either_place(dropout, name):
    model = built(CELLS["gru"], 1, True, name, dropout=dropout, input_dropout=0.25, output_dropout=0.5)
    enters, leaves = model.draws(np.random.default_rng(1), Given, 0).values()
    steps = 50 if dropout == "step" else 1
    assert enters.shape == (steps, 40, INPUTS)
    assert leaves.shape == ((40, 2 * HIDDEN) if name == "last_output" else (steps, 40, 2 * HIDDEN))
    assert abs(leaves.mean() - 0.5) < 0.1
    params = drawn(model)
    x = torch.randn(50, REPLICAS, 40, INPUTS, generator=torch.Generator().manual_seed(1)).double()
    draws = {key: torch.from_numpy(mask).unsqueeze(-3).expand(*mask.shape[:-2], REPLICAS, *mask.shape[-2:])
             for key, mask in (("input_dropout", enters), ("output_dropout", leaves))}  # fmt: skip
    found = model.apply(params, Inputs(x), (), draws).outputs
    plain = model.apply(params, Inputs(x * draws["input_dropout"] / 0.75))
    read = plain.states[-1] * draws["output_dropout"] / 0.5
    wanted = read @ params["read_out/W"] + params["read_out/b"]
    torch.testing.assert_close(found, wanted, rtol=0, atol=1e-12)
