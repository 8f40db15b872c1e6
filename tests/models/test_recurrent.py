"""Proves what enters a model's cell (embedding, projection, one-hot symbols, dropout) and what layers do."""

import numpy as np
import pytest
import torch
from torch.nn.functional import one_hot

from tensor_rnns import models
from tensor_rnns.models.base import Inputs
from tensor_rnns.tasks.base import Batch, stacked

INPUTS, OUTPUTS, HIDDEN, WIDTH, STEPS, REPLICAS, BATCH = 7, 2, 5, 3, 6, 4, 8
LSTM = {"name": "lstm", "hidden": HIDDEN}


def built(cell=LSTM, name="every_step", symbols=False, engine="eager", **block):
    """A model around `cell` with the keys `block`."""
    settings = {"model": {"name": name} | block, "cell": cell}
    return models.build(settings, INPUTS, OUTPUTS, engine, symbols)


def drawn(model, replicas=REPLICAS):
    """Parameters of all replicas, float64."""
    values = [model.initialise(np.random.default_rng(seed)) for seed in range(replicas)]
    return {name: torch.from_numpy(np.stack([one[name] for one in values])) for name in model.shapes()}


@pytest.fixture
def numbers():
    return torch.from_numpy(np.random.default_rng(9).standard_normal((STEPS, REPLICAS, BATCH, INPUTS)))


@pytest.fixture
def tokens():
    return torch.from_numpy(np.random.default_rng(8).integers(0, INPUTS, (STEPS, REPLICAS, BATCH)))


def core(model):
    """The same model around the same cell with nothing before it, and its parameters among those of
    `model`."""
    return models.build({"model": {"name": model.name}, "cell": LSTM}, model.cell.inputs, OUTPUTS)


def test_an_embedding_looks_up_rows_of_its_table(tokens):
    model = built(symbols=True, embedding=WIDTH)
    params = drawn(model)
    assert next(iter(model.shapes().items())) == ("embedding/W", (INPUTS, WIDTH))
    rows = torch.stack([params["embedding/W"][s][tokens[:, s]] for s in range(REPLICAS)], 1)
    torch.testing.assert_close(
        model.forward(params, tokens)[0], core(model).forward(params, rows)[0], rtol=0, atol=1e-12
    )


def test_a_projection_multiplies_the_inputs(numbers):
    model = built(projection=WIDTH, input_weights="normal(0.3)")
    params = drawn(model)
    assert next(iter(model.shapes().items())) == ("projection/W", (INPUTS, WIDTH))
    products = torch.einsum("tsbi,sie->tsbe", numbers, params["projection/W"])
    torch.testing.assert_close(
        model.forward(params, numbers)[0], core(model).forward(params, products)[0], rtol=0, atol=1e-12
    )


@pytest.mark.parametrize(
    "cell",
    [LSTM, {"name": "tgu_c", "hidden": HIDDEN, "rank": 2}, {"name": "tgu", "hidden": HIDDEN, "rank": 2},
     {"name": "gmr", "hidden": HIDDEN, "rank": 2}],
    ids=lambda cell: cell["name"],
)  # fmt: skip
def test_symbols_without_an_embedding_are_one_hot_vectors(tokens, cell):
    """Outputs and gradients are those of the vectors themselves."""
    model, plain = built(cell, symbols=True), built(cell)
    assert model.one_hot
    assert model.shapes() == plain.shapes()
    params = {name: value.requires_grad_() for name, value in drawn(model).items()}
    ours = model.forward(params, tokens)[0]
    theirs = plain.forward(params, one_hot(tokens, INPUTS).double())[0]
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    found = torch.autograd.grad(ours.square().sum(), list(params.values()))
    expected = torch.autograd.grad(theirs.square().sum(), list(params.values()))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-11)


@pytest.mark.parametrize("block", [{}, {"embedding": WIDTH}, {"layers": 2}], ids=str)
def test_symbols_in_the_compiled_engine(tokens, block):
    """With an embedding or without one, the compiled engine gives the numbers of the eager loop."""
    eager, compiled = (built(symbols=True, engine=engine, **block) for engine in ("eager", "compiled"))
    params = drawn(eager)
    ours, state = compiled.forward(params, tokens)
    theirs, expected = eager.forward(params, tokens)
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    for one, other in zip(state, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=1e-12)


def test_dropout_drops_what_enters_in_training_alone(numbers):
    """Masks of the asked rate, fresh for each step and row; what stays is divided by its probability."""
    model = built(input_dropout=0.25)
    params = drawn(model)
    batch = Batch(np.zeros((STEPS, BATCH, INPUTS), np.float32), np.zeros(1), BATCH)
    many = Batch(np.zeros((50, 40, INPUTS), np.float32), np.zeros(1), 40)
    (mask,) = model.draws(np.random.default_rng(1), many, 0).values()
    assert mask.shape == (50, 40, INPUTS)
    assert abs(mask.mean() - 0.75) < 0.01
    assert len(np.unique(mask.reshape(50, -1), axis=0)) == 50
    assert len(np.unique(mask.swapaxes(0, 1).reshape(40, -1), axis=0)) == 40
    masks = [model.draws(np.random.default_rng(seed), batch, 0) for seed in range(REPLICAS)]
    both = {name: torch.from_numpy(stacked([one[name] for one in masks])) for name in masks[0]}
    dropped = torch.where(both["input_dropout"], numbers / 0.75, 0.0)
    in_training = model.apply(params, Inputs(numbers), (), both).outputs
    torch.testing.assert_close(in_training, core(model).forward(params, dropped)[0], rtol=0, atol=1e-12)
    in_evaluation, _ = model.forward(params, numbers)
    torch.testing.assert_close(in_evaluation, core(model).forward(params, numbers)[0], rtol=0, atol=0)
    assert built().draws(np.random.default_rng(1), batch, 0) == {}


def test_dropout_falls_on_the_embedding(tokens):
    model = built(symbols=True, embedding=WIDTH, input_dropout=0.5)
    batch = Batch(np.zeros((STEPS, BATCH), np.int64), np.zeros(1), BATCH)
    (mask,) = model.draws(np.random.default_rng(1), batch, 0).values()
    assert mask.shape == (STEPS, BATCH, WIDTH)


@pytest.mark.parametrize("name", ["last_output", "every_step"])
def test_layers_feed_one_another(numbers, name):
    """Three layers equal three cells run one after another by hand; the states are theirs in turn."""
    model = built(name=name, layers=3)
    params = drawn(model)
    assert model.shapes()["cell/W_i"] == (INPUTS, HIDDEN)
    assert model.shapes()["cell2/W_i"] == model.shapes()["cell3/W_i"] == (HIDDEN, HIDDEN)
    assert not torch.equal(params["cell2/U_i"], params["cell3/U_i"])
    state = [torch.zeros(REPLICAS, BATCH, HIDDEN, dtype=torch.float64) for _ in range(6)]
    for x in numbers:
        for layer, (part, cell) in enumerate(model.cells.items()):
            own = {key: params[f"{part}/{key}"] for key in cell.shapes()}
            state[2 * layer : 2 * layer + 2] = cell.step(own, x, tuple(state[2 * layer : 2 * layer + 2]))
            x = state[2 * layer]
    outputs, final = model.forward(params, numbers)
    assert len(final) == 6
    for ours, theirs in zip(final, state, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-12)
    last = outputs if name == "last_output" else outputs[-1]
    expected = state[4] @ params["read_out/W"] + params["read_out/b"]
    torch.testing.assert_close(last, expected, rtol=0, atol=1e-12)


def test_the_state_of_layers_can_be_carried(tokens):
    model = built(symbols=True, embedding=WIDTH, layers=2)
    params = drawn(model)
    outputs, _ = model.forward(params, tokens)
    _, state = model.forward(params, tokens[:2])
    rest, _ = model.forward(params, tokens[2:], state)
    torch.testing.assert_close(rest, outputs[2:], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("symbols", "block"),
    [(True, {"embedding": 3, "layers": 2}), (True, {}), (False, {"projection": 3, "layers": 2})],
)
def test_gradients_against_finite_differences(symbols, block):
    """Every parameter of a small model, with dropout where there is something to drop."""
    block = block | ({} if symbols and "embedding" not in block else {"input_dropout": 0.3})
    model = built({"name": "gru", "hidden": 2}, symbols=symbols, **block)
    params = {name: value.requires_grad_() for name, value in drawn(model, 2).items()}
    generator = np.random.default_rng(6)
    inputs = generator.integers(0, INPUTS, (3, 5)) if symbols else generator.standard_normal((3, 5, INPUTS))
    masks = [model.draws(np.random.default_rng(s), Batch(inputs, inputs, 5), 0) for s in range(2)]
    both = {name: torch.from_numpy(stacked([one[name] for one in masks])) for name in masks[0]}
    x = torch.from_numpy(stacked([inputs, inputs[::-1]]))

    def outputs(*values):
        return model.apply(dict(zip(params, values, strict=True)), Inputs(x), (), both).outputs

    assert torch.autograd.gradcheck(outputs, tuple(params.values()))


@pytest.mark.parametrize(
    ("block", "symbols", "message"),
    [
        ({"embedding": 3}, False, "the task gives numbers, which have no embedding; allowed is none"),
        ({"projection": 3}, True, "the task gives symbols, which have no projection; allowed is none"),
        (
            {"input_dropout": 0.5},
            True,
            r"input_dropout is 0\.5, and one\-hot symbols have no dropout; allowed is",
        ),
        (
            {"input_dropout": 1.0},
            False,
            r"model every_step: input_dropout is 1\.0; allowed is at least 0 and",
        ),
        (
            {"input_dropout": -0.1},
            False,
            r"model every_step: input_dropout is \-0\.1; allowed is at least 0 and",
        ),
        ({"embedding": 0}, True, "model every_step: embedding is 0; allowed is a whole number"),
        (
            {"projection": True},
            False,
            "model every_step: projection is True; allowed is a whole number",
        ),
        (
            {"layers": 0},
            False,
            "model every_step: layers is 0; allowed is a whole number from 1 to a billion",
        ),
        (
            {"input_weights": "unit"},
            False,
            "model every_step: input_weights: unknown initialiser 'unit'; allowed",
        ),
    ],
)
def test_what_does_not_fit_is_refused(block, symbols, message):
    with pytest.raises(ValueError, match=message):
        built(symbols=symbols, **block)


def test_a_shell_without_the_field_takes_no_symbols():
    with pytest.raises(
        ValueError,
        match=r"perceptron: the task gives symbols, .*; allowed are the models .*last_output",
    ):
        models.build({"model": {"name": "perceptron"}, "cell": None}, INPUTS, OUTPUTS, symbols=True)
