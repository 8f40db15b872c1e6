"""Proves that updates of what a batch touches are the updates of the dense form: gradients by the eager loop
over one-hot vectors, and optimisers that go over every number."""

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.engine import Touched
from tensor_rnns.training import loop, optimisers

UPDATES, REPLICAS, WIDTH, SYMBOLS = 4, 3, 700, 11
TABLES = ((101, SYMBOLS, 40), (6, SYMBOLS, 7))
ADAGRAD = {"name": "adagrad", "epsilon": 1e-6, "initial_accumulator": 0.0}
"""A larger epsilon than usual: from zero, a step divides the last digits of small gradients by it."""
DRAWN = {"factors": "normal(0.3)", "bias": "normal(0.3)"}
BLOCKS = [
    {"name": "rtn", "hidden": 9, **DRAWN},
    {"name": "rtn", "hidden": 17, **DRAWN, "activation": "sigmoid"},
    {"name": "grtn", "hidden": 33, **DRAWN},
    {"name": "grtn", "hidden": 8, **DRAWN, "cell_from": "h"},
    {"name": "lstm", "hidden": 9},
]
LIMITS = [{"batch": 5}, {"batch": 1, "clip_value": 0.01}, {"batch": 1, "clip_norm": 0.05}]


def trained(learner, updates=UPDATES):
    """Losses [updates, S], last parameters, state of the optimiser."""
    optimiser, limits = loop.optimiser_of(learner)
    state = loop.start(learner, optimiser)
    losses = [loop.step(learner, optimiser, limits, state) for _ in range(updates)]
    return torch.stack(losses), state.parameters, state.optimiser["square"]


def pair(make_reading, cell, dtype=torch.float64, seeds=(0, 1, 2), **training):
    """The compiled engine with symbols, and the eager loop with one-hot vectors."""
    training = {"optimiser": ADAGRAD, "learning_rate": 0.1} | training
    model = {"embedding": None, "input_dropout": 0.0, "layers": 1, "read_out": {"weight": "normal(0.3)"}}
    return [make_reading(seeds, dtype, name, model, cell, **training) for name in ("compiled", "eager")]


@pytest.mark.parametrize("limits", LIMITS, ids=lambda block: list(block)[-1])
@pytest.mark.parametrize("cell", BLOCKS, ids=lambda block: f"{block['name']}-{block['hidden']}")
def test_trainings_are_those_of_the_dense_form(make_reading, cell, limits):
    """Four updates over two epochs, the state carried, to 1e-12; a batch of one row leaves a symbol out."""
    ours, theirs = pair(make_reading, cell, **limits)
    batch, _ = ours.batch(0)
    assert (len(batch.inputs.unique()) < ours.task.inputs) == (limits["batch"] == 1)
    gradient = ours.gradient(ours.initial(), batch, whole=False)[1]
    assert isinstance(gradient, Touched)
    assert not isinstance(theirs.gradient(theirs.initial(), batch, whole=False)[1], Touched)
    for found, wanted in zip(trained(ours), trained(theirs), strict=True):
        assert (found - wanted).abs().max() < 1e-12


def drawn(dtype):
    """A gradient of two tables with numbers before, between and behind them; rows that are
    not touched hold NaN, which must never count."""
    generator = torch.Generator().manual_seed(3)
    flat = torch.randn(REPLICAS, WIDTH, generator=generator, dtype=torch.float64).to(dtype)
    symbols = torch.randint(0, SYMBOLS, (4, REPLICAS, 2), generator=generator)
    for start, rows, width in TABLES:
        for replica in range(REPLICAS):
            for row in set(range(rows)) - set(symbols[:, replica].flatten().tolist()):
                flat[replica, start + row * width : start + (row + 1) * width] = torch.nan
    return Touched(flat, TABLES, symbols)


def start():
    """Parameters, and the optimiser's state before it."""
    optimiser = optimisers.build("adagrad", torch.tensor([[0.1], [0.2], [0.3]]), {"epsilon": 1e-8})
    parameters = torch.linspace(-1, 1, REPLICAS * WIDTH).view(REPLICAS, WIDTH)
    return optimiser, parameters, optimiser.start(parameters)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("value", [None, torch.full((REPLICAS, 1), 0.5)], ids=["unclipped", "clipped"])
def test_an_update_in_place_has_the_bits_of_the_whole_one(value, threads):
    """Also that a stopped replica stays as it is, and that NaN in untouched rows is not read."""
    compiled, limits = engine.find("compiled"), optimisers.Limits(value=value)
    gradient, running = drawn(torch.float32), torch.tensor([True, False, True])
    assert gradient.flat.isnan().any()
    assert gradient.gaps == [(0, 6), (83, 101), (541, WIDTH)]
    optimiser, parameters, state = start()
    before, torch_threads = parameters.clone(), torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        moved = optimiser.moved(parameters, gradient, limits, state, 1, compiled, running)
    finally:
        torch.set_num_threads(torch_threads)
    assert moved is parameters
    optimiser, whole, other = start()
    whole = optimiser.moved(whole, gradient.dense(), limits, other, 1, compiled)
    assert torch.equal(moved[running], whole[running])
    assert torch.equal(state["square"][running], other["square"][running])
    assert torch.equal(moved[1], before[1])
    assert not torch.equal(moved[0], before[0])


def test_where_zero_gradients_count_every_number_is_gone_over():
    """Moments of Adam decay; Adagrad without epsilon from zero divides by zero."""
    compiled, (_, parameters, _) = engine.find("compiled"), start()
    for name, options in (("adam", {}), ("adagrad", {"epsilon": 0.0, "initial_accumulator": 0.0})):
        optimiser = optimisers.build(name, torch.full((REPLICAS, 1), 0.1), options)
        gradient = drawn(torch.float32)
        states = [optimiser.start(parameters) for _ in range(2)]
        given = optimisers.Limits(), states[0], 1, compiled
        ours = optimiser.moved(parameters, gradient, *given)
        assert ours is not parameters
        dense = optimiser.moved(parameters, gradient.dense(), optimisers.Limits(), states[1], 1, compiled)
        assert torch.equal(ours.nan_to_num(7), dense.nan_to_num(7))


def test_a_symbol_beyond_the_tables_is_refused(make_reading):
    learner, _ = pair(make_reading, BLOCKS[0], batch=5)
    batch, _ = learner.batch(0)
    batch.inputs[2, 1, 3] = learner.task.inputs
    with pytest.raises(ValueError, match="a symbol given that is no row of a table; allowed: 0 to 5"):
        learner.gradient(learner.initial(), batch)
