"""The probes of sections 9 to 12 on weights whose answers are known by hand."""

import math

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.papers.chapter10 import (
    addresses,
    cliffs,
    forget_gates,
    past_in_state,
    reservoir,
    weights_of_time,
)
from tensor_rnns.probes import gradient_ratio
from tensor_rnns.probes.trained import Trained


def trained(task, model, cell=None, **given):
    """A replica with all weights zero but those given, by name; the last dot of a keyword stands for /."""
    settings = {"task": task, "model": model, "training": {"batch": 4}} | ({"cell": cell} if cell else {})
    built = tasks.build(settings, None)
    shapes = models.build(settings, built.inputs, built.outputs, "eager", False).shapes()
    values = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
    for name, value in given.items():
        key = name.replace("__", "/")
        values[key] = torch.as_tensor(value, dtype=torch.float64).expand(shapes[key]).clone()
    return Trained({"seed": 0}, settings, values, built, 3, 5)


def numbers(rows):
    return {(row["item"], row["name"], row["index"]): row["value"] for row in rows}


def test_a_shift_register_keeps_as_many_bits_as_it_has_units():
    shift = torch.diag(torch.ones(3, dtype=torch.float64), 1)
    found = trained(
        {"name": "recall", "length": 30, "lag": 3},
        {"name": "every_step"},
        {"name": "vanilla", "hidden": 4, "activation": "linear"},
        cell__W=[[1.0, 0, 0, 0]],
        cell__U=shift,
    )
    _, rows = past_in_state.probe(found, items=300, farthest=9)
    told = numbers(rows)
    assert [told["past", "accuracy", k] for k in range(4)] == [1.0] * 4
    assert told["goal", "kept", 0] == 1.0
    assert 0.5 <= told["goal", "lost", 0] <= 0.56
    assert told["past", "back", 9] == 9
    with pytest.raises(ValueError, match=r"farthest = 5 given with lag = 3.*allowed: lag \+ 3 to length - 1"):
        past_in_state.probe(found, items=300, farthest=5)


def test_a_gate_that_shuts_at_the_marker():
    """f = sigma(4 - 8 marker) for every unit; the time scale is 1 / (1 - f)."""
    found = trained(
        {"name": "reset_count", "length": 40},
        {"name": "every_step"},
        {"name": "lstm", "hidden": 3, "forget_bias": 4.0},
        cell__W_f=[[0.0] * 3, [-8.0] * 3],
    )
    arrays, rows = forget_gates.probe(found, items=50)
    told = {name: value for (_, name, _), value in numbers(rows).items()}
    shut = 1 / (1 + math.exp(4))
    assert told["at_resets"] == pytest.approx(shut)
    assert told["elsewhere"] == pytest.approx(1 - shut)
    assert told["best_opened"] == pytest.approx(1 - 2 * shut)
    assert arrays["forget"].shape == (40, 3)
    inputs = found.items("test", 50)[0]
    np.testing.assert_array_equal(arrays["resets"], inputs[:, 0, 1] > 0)
    scales = np.where(inputs[..., 1] > 0, 1 / (1 - shut), 1 / shut)
    variation = scales.std(0, ddof=1) / scales.mean(0)
    assert told["varied"] == pytest.approx(variation.mean())


def test_leaks_and_links():
    task, model = {"name": "running_averages", "length": 9, "factors": [0.8]}, {"name": "every_step"}
    leak = math.log(0.7 / 0.3)
    cell = {"name": "leaky", "hidden": 2, "time_constants": [3], "learned": True}
    told = numbers(weights_of_time.probe(trained(task, model, cell, cell__a=leak))[1])
    assert told["alpha", "trained", 1] == pytest.approx(0.7)
    assert told["alpha", "off", 1] == pytest.approx(0.1)
    links = trained(task, model, {"name": "linked", "hidden": 2}, cell__U=1.0, cell__V=3.0)
    told = numbers(weights_of_time.probe(links)[1])
    assert told["links", "trained", 0] == pytest.approx(3.0)
    first = links.model.initialise(rng(5))
    assert told["links", "initial", 0] == pytest.approx(
        np.linalg.norm(first["cell/V"]) / np.linalg.norm(first["cell/U"])
    )
    with pytest.raises(ValueError, match="allowed: leaky with learned, linked with one_step"):
        weights_of_time.probe(trained(task, model, {"name": "vanilla", "hidden": 2}))


def test_the_flow_of_a_linear_net_is_its_eigenvalue_to_the_power_of_the_length():
    found = trained(
        {"name": "first_bit", "length": 6},
        {"name": "last_output"},
        {"name": "vanilla", "hidden": 3, "activation": "linear"},
        cell__U=0.9 * torch.eye(3),
        read_out__W=[[1.0], [2.0], [3.0]],
    )
    told = numbers(gradient_ratio.probe(found, length=40, items=10)[1])
    assert told["trained", "log_ratio", 0] == pytest.approx(40 * math.log10(0.9))


def test_a_memory_that_compares_whole_keys():
    """A sharp one finds each key; without its bits it averages."""
    found = trained(
        {"name": "key_value", "pairs": 4},
        {"name": "key_value_memory", "key_bits": 6, "width": 6, "shared": True},
        query__W=torch.eye(6),
        sharpness=60.0,
        read_out__W=torch.eye(4),
    )
    arrays, rows = addresses.probe(found)
    told = numbers(rows)
    assert told["trained", "right", 0] == pytest.approx(1, abs=1e-6)
    assert told["trained", "entropy", 0] < 1e-5
    assert told["blanked", "accuracy", 0] == 1.0
    assert 0.9 < told["blanked", "accuracy", 1] < 1
    assert told["blanked", "accuracy", 6] == pytest.approx(11 / 16 - 3 / 32, abs=0.1)
    assert told["blanked", "bits", 6] == 6
    torch.testing.assert_close(arrays["weights"], arrays["stored"], rtol=0, atol=1e-5)


def test_the_first_step_of_a_cliff_run_by_hand():
    """The jump and the step of the first update, from a loop in numpy over the net's own first values."""
    settings = {
        "task": {"name": "addition", "length": 50},
        "training": {"batch": 32},
        "model": {"name": "last_output", "read_out": {"weight": "glorot", "bias": "zeros"}},
        "cell": {"name": "leaky", "hidden": 32, "radius": 1.5, "input_weights": "unit_scaling"},
    }
    told = numbers(cliffs.compute(seeds=1, updates=2, settings=settings))
    task = tasks.build(settings, None)
    p = models.build(settings, 2, 1, "eager", False).initialise(cliffs.rng(0, 1))
    batch = task.batch(0, 0)
    leaves = {name: torch.from_numpy(value).requires_grad_() for name, value in p.items()}

    def loss_of(values):
        h = torch.zeros(32, 32, dtype=torch.float64)
        for x in torch.from_numpy(batch.inputs).double():
            h = torch.tanh(x @ values["cell/W"] + h @ values["cell/U"] + values["cell/b"])
        said = h @ values["read_out/W"] + values["read_out/b"]
        return (said - torch.from_numpy(batch.targets)).square().mean()

    loss = loss_of(leaves)
    gradients = dict(zip(leaves, torch.autograd.grad(loss, [*leaves.values()]), strict=True))
    norm = math.sqrt(sum(float(g.square().sum()) for g in gradients.values()))
    assert told["run-0", "norm", 0] == pytest.approx(norm, rel=1e-9)

    def after(step):
        moved = {name: leaves[name].detach() - step * gradients[name] for name in leaves}
        return float(loss_of(moved)) / loss.item()

    assert told["run-0", "jump", 0] == pytest.approx(after(0.1), rel=1e-6)
    rises = [step for step in cliffs.STEPS if after(step) > 1]
    assert told["run-0", "step", 0] == max(step for step in cliffs.STEPS if step < rises[0])


def test_what_is_read_from_noise_is_guessed_on_rows_that_were_not_fitted():
    """Forty rows and thirty units that say nothing of the bits: fitted on all rows they would."""
    draw = torch.Generator().manual_seed(4)
    states = torch.randn(1, 40, 30, generator=draw, dtype=torch.float64)
    bits = torch.randint(0, 2, (1, 40), generator=draw).double() * 2 - 1
    assert past_in_state.predicted(states, bits) < 0.75


def test_a_reservoir_of_noise_recalls_nothing_of_what_was_not_fitted():
    draw = np.random.default_rng(4)
    u, h = draw.uniform(-1, 1, 800), draw.normal(size=(800, 200))
    assert reservoir.recalls(u, h).mean() < 0.02
