"""Proves that a model waits for a delayed cell: each output sees the inputs up to its own, and no others."""

import numpy as np
import pytest
import torch

from tensor_rnns import models

INPUTS, HIDDEN, OUTPUTS, STEPS = 2, 3, 4, 5
CONFIGURATIONS = {
    "slstm": {"name": "slstm"},
    "trnn": {"name": "trnn"},
    "tlstm": {"name": "tlstm"},
    "held": {"name": "tlstm", "memory_convolution": False},
    "forward": {"name": "tlstm", "kernel": 2},
    "K = 4": {"name": "tlstm", "kernel": 4},
    "K = 5": {"name": "tlstm", "kernel": 5},
    "channel": {"name": "tlstm", "normalisation": "channel"},
    "layer": {"name": "tlstm", "normalisation": "layer"},
    "3d": {"name": "tlstm", "dimensions": 2},
    "3d channel": {"name": "tlstm", "dimensions": 2, "normalisation": "channel"},
    "3d layer": {"name": "tlstm", "dimensions": 2, "normalisation": "layer"},
}


def built(block, depth, kind="delayed_every_step", **model):
    size = "layers" if block["name"] == "slstm" else "side"
    settings = {"model": {"name": kind, **model}, "cell": {"hidden": HIDDEN, size: depth, **block}}
    return models.build(settings, INPUTS, OUTPUTS, "eager")


def values_of(model, seed=2):
    rng = np.random.default_rng(seed)
    return {
        key: torch.tensor(0.7 * rng.standard_normal((1, *shape))) for key, shape in model.shapes().items()
    }


def reached(model):
    """[T, T]: the largest abs(dy_t / dx_s)."""
    p = values_of(model)
    x = torch.tensor(np.random.default_rng(4).standard_normal((STEPS, 1, 1, INPUTS)))
    jacobian = torch.autograd.functional.jacobian(lambda x: model.forward(p, x)[0], x)
    return jacobian.abs().amax((1, 2, 3, 5, 6, 7))


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_an_output_sees_the_inputs_up_to_its_own(name, depth):
    """Exactly zero for later ones, not zero for its own and the first; the normalisation of layers, which
    mixes locations, sees the L - 1 that came in meanwhile as well."""
    block = CONFIGURATIONS[name]
    model = built(block, depth)
    seen = reached(model)
    later = torch.triu(seen, 1)
    assert (torch.diagonal(seen) > 0).all()
    assert (seen[:, 0] > 0).all()
    if block.get("normalisation") != "layer" or depth == 1:
        assert not later.any()
        return
    assert all((torch.diagonal(seen, ahead) > 0).all() for ahead in range(1, model.delay + 1))
    assert not torch.triu(seen, model.delay + 1).any()


@pytest.mark.parametrize("kind", ["compiled", "eager"])
def test_waiting_is_feeding_zeros_and_dropping_outputs(kind):
    """By hand on an every-step model with the same values; the last output is the last of these."""
    block = {"name": "tlstm", "side": 4, "hidden": HIDDEN}
    waits, plain, last = (
        models.build({"model": {"name": name}, "cell": block}, INPUTS, OUTPUTS, kind)
        for name in ("delayed_every_step", "every_step", "delayed_last_output")
    )
    p = values_of(waits)
    x = torch.tensor(np.random.default_rng(4).standard_normal((STEPS, 1, 7, INPUTS)))
    longer = torch.cat([x, torch.zeros(3, 1, 7, INPUTS, dtype=x.dtype)])
    found, wanted = waits.forward(p, x)[0], plain.forward(p, longer)[0]
    assert waits.delay == 3
    torch.testing.assert_close(found, wanted[3:], rtol=0, atol=1e-13)
    torch.testing.assert_close(last.forward(p, x)[0], wanted[-1], rtol=0, atol=1e-13)


def test_padding_of_shorter_rows_is_not_read():
    block = {"name": "tlstm", "side": 3, "hidden": HIDDEN}
    model = built(block, 3, "delayed_last_output")
    p = values_of(model)
    x = torch.tensor(np.random.default_rng(4).standard_normal((STEPS, 1, 2, INPUTS)))
    x[3:, :, 1] = 0
    batch = models.Inputs(x, torch.tensor([[STEPS, 3]]))
    outputs = model.apply(p, batch).outputs
    short = model.forward(p, x[:3, :, 1:])[0]
    torch.testing.assert_close(outputs[:, 1:], short, rtol=0, atol=1e-13)


def test_layers_add_up_their_delays_and_what_cannot_wait_is_refused():
    assert built({"name": "tlstm"}, 3, layers=2).delay == 4
    with pytest.raises(ValueError, match="bidirectional is True"):
        built({"name": "tlstm"}, 3, bidirectional=True)
    model = built({"name": "tlstm"}, 2)
    state = model.cell.initial_state(1, 2, dtype=torch.float64)
    with pytest.raises(ValueError, match="a state to carry on given; allowed: none"):
        model.forward(values_of(model), torch.zeros(STEPS, 1, 2, INPUTS, dtype=torch.float64), state)
    settings = {"model": {"name": "delayed_every_step"}, "cell": {"name": "tlstm", "hidden": 2}}
    with pytest.raises(ValueError, match="the task gives symbols; allowed are numbers"):
        models.build(settings, INPUTS, OUTPUTS, "eager", symbols=True)
