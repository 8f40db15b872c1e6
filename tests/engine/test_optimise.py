"""Proves that the fused update of a cohort is that of the optimisers in torch, with bits of its own."""

import math

import pytest
import torch

from tensor_rnns import engine
from tensor_rnns.engine.compiled import parts
from tensor_rnns.training import optimisers

COMPILED = engine.find("compiled")
WIDTH = 40_013
SETTINGS = [
    ("adam", {}),
    ("adam", {"beta1": 0.5, "epsilon": 1e-3}),
    ("rmsprop", {"momentum": 0.9}),
    ("rmsprop", {"epsilon_inside": False, "initial_accumulator": 1.0}),
    ("sgd", {"momentum": 0.5}),
    ("adagrad", {}),
]
RATES, LIMITS = [0.01, 0.1, 0.3], [1.0, 1e6, math.inf]


def trained(name, options, replicas, dtype, fused, width=WIDTH, limited=True, updates=3):
    """Parameters and states after a few updates by drawn gradients."""
    generator = torch.Generator().manual_seed(4)

    def drawn():
        return torch.randn(3, width, generator=generator, dtype=torch.float64).to(dtype)[replicas]

    def column(values):
        return torch.tensor(values, dtype=torch.float64).to(dtype).unsqueeze(1)[replicas]

    kind = COMPILED if fused else engine.find("eager")
    optimiser = optimisers.build(name, column(RATES), options)
    parameters, limit = drawn(), column(LIMITS) if limited else None
    state = optimiser.start(parameters)
    for update in range(1, updates + 1):
        parameters = optimiser.moved(parameters, drawn(), optimisers.Limits(limit), state, update, kind)
    return [parameters, *state.values()]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=lambda part: str(part))
def test_updates(name, options, dtype):
    bound = 1e-5 if dtype == torch.float32 else 1e-13
    for limited in (True, False):
        ours = trained(name, options, slice(None), dtype, fused=True, limited=limited)
        theirs = trained(name, options, slice(None), torch.float64, fused=False, limited=limited)
        for one, other in zip(ours, theirs, strict=True):
            assert (one.double() - other).abs().max() <= bound * other.abs().max()


@pytest.mark.parametrize(("name", "options"), SETTINGS, ids=lambda part: str(part))
def test_bits_do_not_depend_on_the_cohort_or_on_threads(name, options):
    before = torch.get_num_threads()
    try:
        for width in (3, 17, WIDTH):
            torch.set_num_threads(1)
            whole = trained(name, options, slice(None), torch.float32, fused=True, width=width)
            torch.set_num_threads(2)
            for replica in range(3):
                chosen = slice(replica, replica + 1)
                alone = trained(name, options, chosen, torch.float32, fused=True, width=width)
                for one, other in zip(alone, whole, strict=True):
                    assert torch.equal(one, other[chosen])
    finally:
        torch.set_num_threads(before)


def test_adam_is_dense():
    """Where the gradient is zero, as in rows of a table not read, moments decay and weights move."""
    optimiser = optimisers.build("adam", torch.tensor([[0.1], [0.2]], dtype=torch.float64), {})
    read = torch.tensor([1.0, -2, 3] * 7, dtype=torch.float64).repeat(2, 1)
    start, state = torch.zeros_like(read), optimiser.start(read)
    first = optimiser.moved(start, read, optimisers.Limits(), state, 1, COMPILED)
    second = optimiser.moved(first, torch.zeros_like(read), optimisers.Limits(), state, 2, COMPILED)
    mean, square = 0.9 * 0.1 * read, 0.999 * 0.001 * read.square()
    step = optimiser.rate * (mean / (1 - 0.9**2)) / ((square / (1 - 0.999**2)).sqrt() + 1e-8)
    torch.testing.assert_close(state["mean"], mean, rtol=1e-14, atol=0)
    torch.testing.assert_close(state["square"], square, rtol=1e-14, atol=0)
    torch.testing.assert_close(second, first - step, rtol=1e-13, atol=0)


def test_tensors_of_another_dtype_are_refused():
    optimiser = optimisers.build("sgd", torch.ones(2, 1, dtype=torch.float64), {})
    parameters = torch.ones(2, 5)
    with pytest.raises(ValueError, match="optimiser sgd: tensors of several dtypes or with gaps given"):
        optimiser.moved(parameters, parameters, optimisers.Limits(), optimiser.start(parameters), 1, COMPILED)


@pytest.mark.parametrize("wrong", ["gradient", "state", "rate", "limit"])
def test_tensors_of_another_shape_are_refused(wrong):
    """They would be read, or written, past their end."""
    shapes = {"gradient": (2, 5), "state": (2, 5), "rate": (2, 1), "limit": (2, 1)}
    less = {"gradient": (2, 3), "state": (1, 5), "rate": (1, 1), "limit": (1, 1)}
    given = {name: torch.ones(less[name] if name == wrong else shape) for name, shape in shapes.items()}
    state = [given["state"], torch.ones(2, 5)]
    with pytest.raises(
        ValueError, match=r"given; allowed: \(2, 5\) like the parameters, and \(2, 1\) of rate"
    ):
        parts.update(
            "adam", [0.9, 0.999, 1e-8, 0.1, 0.001], torch.ones(2, 5), given["gradient"], state, given["rate"],
            given["limit"],
        )  # fmt: skip


def test_a_sign_that_is_a_mark_of_pytorch_alone_is_refused():
    """An update would go the other way."""
    marked = torch._neg_view(-torch.ones(2, 5))
    with pytest.raises(ValueError, match=r"a negative bit given .*; allowed is resolve_neg\(\) of it"):
        parts.update("sgd", [0.5], torch.ones(2, 5), marked, [torch.zeros(2, 5)], torch.ones(2, 1), None)
