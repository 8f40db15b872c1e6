"""Proves what the probes say of gradients of nets that read images, on cases known by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import functions, models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.probes import gradient_ratio
from tensor_rnns.probes.trained import Trained

SIZES = {"train": 9, "valid": 4, "test": 103}


def trained(projection=4, seed=5, model="last_output", **cell):
    """A net with fresh weights on images of 2 x 3 pixels."""
    generator = np.random.default_rng(1)
    arrays = {}
    for split, size in SIZES.items():
        arrays[f"{split}_images"] = generator.integers(0, 256, (size, 2, 3), dtype=np.uint8)
        arrays[f"{split}_labels"] = generator.integers(0, 3, size).astype(np.uint8)
    settings = {
        "task": {"name": "pixels"},
        "training": {"batch": 3},
        "model": {"name": model, "projection": projection},
        "cell": {"hidden": 5} | cell,
    }
    task = tasks.build(settings, SimpleNamespace(arrays=arrays, facts={"classes": 3}))
    made = models.build(settings, task.inputs, task.outputs)
    parameters = {name: torch.from_numpy(value) for name, value in made.initialise(rng(seed)).items()}
    return Trained({"seed": 0}, settings, parameters, task, 0, seed)


def numbers(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


def test_the_first_items_over_several_batches():
    net = trained(name="vanilla")
    inputs, targets = net.items("test", 102)
    assert (inputs.shape, targets.shape) == ((6, 102, 1), (102,))
    np.testing.assert_array_equal(targets, net.task.classes["test"][:102])
    np.testing.assert_allclose(inputs[:, 101, 0], (net.task.sequences["test"][101] - 127.5) / 255, atol=1e-7)
    with pytest.raises(ValueError, match="104 items asked for; the split test has 103"):
        net.items("test", 104)


def simple(slope, bias):
    """An IRNN that does not see its inputs: h_t = ReLU(slope h_{t-1} + bias)."""
    net = trained(name="irnn")
    net.parameters["cell/W"].zero_()
    net.parameters["cell/U"][:] = slope * torch.eye(5)
    net.parameters["cell/b"][:] = bias
    return net


@pytest.mark.parametrize("slope", [0.5, 2.0])
def test_gradients_of_a_linear_net_shrink_or_grow_by_its_slope(slope):
    """dL/dh_0 = slope^T dL/dh_T over the T = 6 steps of the trained weights; the initial ones differ."""
    found = numbers(functions.probe("gradient_ratio")(simple(slope, 1.0), {"items": 11})[1])
    assert found["trained", "log_ratio"] == pytest.approx(6 * np.log10(slope), rel=1e-9)
    assert found["initial", "log_ratio"] == pytest.approx(
        numbers(functions.probe("gradient_ratio")(trained(name="irnn"), {"items": 11})[1])[
            "trained", "log_ratio"
        ]
    )


def test_gradients_of_two_states_against_the_formula_of_the_read_out():
    """dL/dh_T of softmax and cross entropy by hand; dL/dh_0 and dL/dc_0 through the whole model."""
    net = trained(name="lstm")
    inputs, targets = net.items("test", 13)
    state = tuple(torch.full((1, 13, 5), 0.0, dtype=torch.float64, requires_grad=True) for _ in range(2))
    stacked = {name: value[None] for name, value in net.parameters.items()}
    outputs, _ = net.model.forward(stacked, inputs[:, None], state)
    net.task.loss(outputs, targets[None]).sum().backward()
    first = np.sqrt(sum(float(part.grad.square().sum()) for part in state))
    shares = torch.softmax(outputs[0].detach(), -1) - torch.eye(3)[targets]
    last = float((shares / 13 @ net.parameters["read_out/W"].T).norm())
    found = numbers(functions.probe("gradient_ratio")(net, {"items": 13})[1])
    assert found["trained", "log_ratio"] == pytest.approx(np.log10(first / last), rel=1e-9)


def test_what_vanished_is_a_number_and_what_is_not_finite_is_left_out():
    found = numbers(functions.probe("gradient_ratio")(simple(0.0, 1.0), {"items": 11})[1])
    assert -300 <= found["trained", "log_ratio"] < -290
    found = numbers(functions.probe("gradient_ratio")(simple(1.0, np.nan), {"items": 11})[1])
    assert found.keys() == {("initial", "log_ratio")}


def test_gradients_whose_squares_overflow_have_a_norm():
    """Over 6 steps of 1e30 the gradient becomes 1e180, whose square is more than any number."""
    large = torch.tensor([[3.0, -4.0]], dtype=torch.float64)
    assert gradient_ratio.norm(1e200 * large) == pytest.approx(5e200, rel=1e-12)
    assert gradient_ratio.norm(1e-200 * large) == pytest.approx(5e-200, rel=1e-12)
    assert gradient_ratio.norm(large * torch.inf) == gradient_ratio.LARGEST
    assert gradient_ratio.norm(0 * large) == 0
    assert np.isnan(gradient_ratio.norm(large * torch.nan))
    found = numbers(functions.probe("gradient_ratio")(simple(1e30, 1e-250), {"items": 11})[1])
    assert found["trained", "log_ratio"] == pytest.approx(180, abs=1e-6)


def test_nets_that_are_refused():
    with pytest.raises(ValueError, match="not at the model every_step of 1 layers"):
        functions.probe("gradient_ratio")(trained(name="irnn", model="every_step"), {})
