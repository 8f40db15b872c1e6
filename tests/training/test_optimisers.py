"""Our optimisers take the steps of torch.optim, one rate a replica, and clip each replica by its own norm."""

from dataclasses import fields

import numpy as np
import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.training import optimisers
from tensor_rnns.training.numerics import numerics

CASES = {
    "adam": ({}, lambda p, rate: torch.optim.Adam(p, lr=rate)),
    "sgd": ({"momentum": 0.9}, lambda p, rate: torch.optim.SGD(p, lr=rate, momentum=0.9)),
    "rmsprop": (
        {"epsilon": 1e-5, "epsilon_inside": False, "momentum": 0.3},
        lambda p, rate: torch.optim.RMSprop(p, lr=rate, alpha=0.9, eps=1e-5, momentum=0.3),
    ),
    "adagrad": (
        {"initial_accumulator": 0.1},
        lambda p, rate: torch.optim.Adagrad(p, lr=rate, initial_accumulator_value=0.1),
    ),
}


def gradients(updates: int, replicas: int, width: int) -> torch.Tensor:
    """Random gradients [updates, replicas, width] in float64."""
    generator = torch.Generator().manual_seed(5)
    return torch.randn(updates, replicas, width, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("name", CASES)
def test_steps_equal_torch(name):
    """Seven updates of three replicas with three rates equal three torch optimisers to 1e-12."""
    options, oracle = CASES[name]
    rates = torch.tensor([[0.1], [0.01], [0.003]], dtype=torch.float64)
    parameters = torch.linspace(-1, 1, 15, dtype=torch.float64).reshape(3, 5)
    expected = [row.clone().requires_grad_() for row in parameters]
    theirs = [oracle([row], float(rate)) for row, rate in zip(expected, rates, strict=True)]
    ours = optimisers.build(name, rates, options)
    state = ours.start(parameters)
    for count, gradient in enumerate(gradients(7, 3, 5), start=1):
        parameters = parameters - ours.update(gradient.clone(), state, count)
        for row, step, own in zip(expected, theirs, gradient, strict=True):
            row.grad = own.clone()
            step.step()
    np.testing.assert_allclose(parameters, torch.stack(expected).detach(), rtol=0, atol=1e-12)


def test_defaults_are_what_files_that_name_an_optimiser_alone_are_trained_with():
    """A change of one changes trainings and no digest of them: TRAINING must be raised."""
    defaults = {
        name: {field.name: field.default for field in fields(kind) if field.name != "rate"}
        for name, kind in optimisers.OPTIMISERS.items()
    }
    assert defaults == {
        "adam": {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        "rmsprop": {
            "decay": 0.9, "momentum": 0.0, "epsilon": 1e-10, "epsilon_inside": True,
            "initial_accumulator": 0.0,
        },
        "sgd": {"momentum": 0.0},
        "adagrad": {"epsilon": 1e-10, "initial_accumulator": 0.1},
    }  # fmt: skip


def test_rmsprop_of_tensorflow_by_hand():
    """With epsilon under the root and an accumulator from 1, two steps equal the arithmetic written out."""
    ours = optimisers.build(
        "rmsprop", torch.tensor([[0.5]]).double(), {"initial_accumulator": 1.0, "epsilon": 0.25}
    )
    state = ours.start(torch.zeros(1, 2, dtype=torch.float64))
    first = ours.update(torch.tensor([[2.0, -4.0]]).double(), state, 1)
    v = np.array([0.9 + 0.1 * 4, 0.9 + 0.1 * 16])
    np.testing.assert_allclose(first, [0.5 * np.array([2.0, -4.0]) / np.sqrt(v + 0.25)], rtol=1e-14)
    second = ours.update(torch.tensor([[1.0, 3.0]]).double(), state, 2)
    v = 0.9 * v + 0.1 * np.array([1.0, 9.0])
    np.testing.assert_allclose(second, [0.5 * np.array([1.0, 3.0]) / np.sqrt(v + 0.25)], rtol=1e-14)


def test_clipping_is_by_replica():
    """A replica above its limit is scaled to it, one below keeps its gradient, a missing limit is no
    limit."""
    gradient = torch.tensor([[3.0, 4.0], [0.3, 0.4], [30.0, 40.0]])
    clipped = optimisers.clip(gradient, torch.tensor([[1.0], [1.0], [torch.inf]]))
    torch.testing.assert_close(clipped, torch.tensor([[0.6, 0.8], [0.3, 0.4], [30.0, 40.0]]))
    assert optimisers.clip(gradient, None) is gradient


def test_a_gradient_whose_squares_overflow_is_clipped_to_its_limit():
    """Finite numbers in float32, of an infinite sum of squares: as the compiled engine does, no update is
    lost."""
    clipped = optimisers.clip(torch.tensor([[3e20, -4e20]]), torch.tensor([[2.0]]))
    torch.testing.assert_close(clipped, torch.tensor([[1.2, -1.6]]))


def test_a_norm_that_overflows_is_not_finite_for_recovery():
    """The author of barone2016 asks for the norm in float32; each number alone is finite."""
    gradient = torch.tensor([[3e20, -4e20, 1.0], [3e15, -4e15, 1.0]])
    parameters = torch.tensor([[2.0, 5.0, 7.0], [11.0, 13.0, 17.0]])
    limits = optimisers.Limits(torch.ones(2, 1), None, 0.1)
    found, free, lost = optimisers.recovered(parameters, gradient, limits)
    torch.testing.assert_close(found, torch.stack([0.1 * parameters[0], gradient[1]]))
    assert (free[0][:, 0].tolist(), lost.tolist()) == ([torch.inf, 1.0], [True, False])
    assert not optimisers.recovered(parameters.double(), gradient.double(), limits)[2].any()


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("adma", {}, "unknown optimiser 'adma'; did you mean 'adam'.*adagrad"),
        ("adam", {"momentum": 0.9}, "optimiser adam: has no key 'momentum'; allowed are beta1"),
    ],
)
def test_unknown_names_are_refused(name, options, words):
    """An unknown optimiser or option names what is allowed."""
    with pytest.raises(ValueError, match=words):
        optimisers.build(name, torch.ones(1, 1), options)


@pytest.mark.parametrize("name", ["eager", "compiled"])
@pytest.mark.parametrize("inside", [True, False])
def test_a_weight_at_rest_stays_where_it_is_without_an_epsilon(name, inside):
    """A gradient of 0 or of next to nothing for 1,000 updates: the mean square, with denormals flushed, would
    reach 0 at update 764 and the weight be NaN or infinite."""
    options = {"epsilon": 0.0, "epsilon_inside": inside, "initial_accumulator": 0.001}
    ours = optimisers.build("rmsprop", torch.tensor([[0.01], [0.02]]), options)
    gradient = torch.tensor([[0.0, 1e-25, 0.5], [0.0, -1e-25, -0.5]])
    parameters = start = torch.tensor([[2.0, 3.0, 5.0], [7.0, 11.0, 13.0]])
    state = ours.start(parameters)
    limits = optimisers.Limits()
    with numerics(1):
        for count in range(1, 1001):
            parameters = ours.moved(parameters, gradient, limits, state, count, engine.find(name))
    assert torch.equal(parameters[:, :1], start[:, :1])
    torch.testing.assert_close(parameters[:, 1], start[:, 1])
    torch.testing.assert_close(parameters[:, 2] - start[:, 2], torch.tensor([-10.0, 20.0]), rtol=0.02, atol=0)
