"""Proves the probes of chapter10's trained nets on nets whose answers are known."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.papers.chapter10 import free_running, sampled_strings, sensitivity
from tensor_rnns.probes.trained import Trained

TRAINING = {"batch": 4}


def trained(task, model, cell, change=None, seed=3):
    """A replica with its initial values, some of them changed."""
    settings = {"task": task, "model": model, "cell": cell, "training": TRAINING}
    built = tasks.build(settings)
    net = models.build(settings, built.inputs, built.outputs)
    values = {
        name: torch.from_numpy(value) for name, value in net.initialise(np.random.default_rng(1)).items()
    }
    return Trained({}, settings, values | (change or {}), built, seed, seed)


def numbers(rows, item):
    return {row["name"]: row["value"] for row in rows if row["item"] == item}


def test_sensitivity_is_the_derivative_of_a_linear_net():
    """h_t = x_t + h_{t-1} / 2, read as it is: 2^-k at k steps before, nothing after."""
    one = {"cell/W": torch.ones(1, 1), "cell/U": torch.full((1, 1), 0.5), "read_out/W": torch.ones(1, 1)}
    cell = {"name": "vanilla", "hidden": 1, "activation": "linear"}
    net = trained(
        {"name": "neighbours", "length": 12},
        {"name": "every_step"},
        cell,
        {k: v.double() for k, v in one.items()},
    )
    arrays, rows = sensitivity.probe(net, items=3, reach=5)
    np.testing.assert_allclose(arrays["window"], [2.0**k for k in range(-5, 1)] + [0.0] * 5, rtol=1e-12)
    assert numbers(rows, "peak")["distance"] == 0
    assert numbers(rows, "far")["share"] == pytest.approx(1 / 16)
    with pytest.raises(ValueError, match="reach = 6 given; allowed: from 4 to 5 for 12 steps"):
        sensitivity.probe(net, reach=6)


@pytest.mark.parametrize(
    ("ending", "length"), [("symbol", 0), ("stop", 0), ("drawn", None), ("counted", None)]
)
def test_strings_end_where_the_net_says(ending, length):
    """A net that is sure of the end symbol, or of the stop, at once; or of "z" all the time."""
    kinds = {"symbol": [-50.0, -50, 50], "stop": [-50.0, 50, 50]}.get(ending, [-50.0, 50])
    width = len(kinds)
    change = {"read_out/W": torch.zeros(5, width).double(), "read_out/b": torch.tensor([kinds]).double()}
    net = trained(
        {"name": "endings", "ending": ending}, {"name": "every_step"}, {"name": "gru", "hidden": 5}, change
    )
    found = numbers(sampled_strings.probe(net, samples=400)[1], "strings")
    lengths = np.bincount(sampled_strings.generated(net, 400)[1], minlength=13) / 400
    if length is None:
        assert lengths[[4, 8, 12]] == pytest.approx([0.2, 0.3, 0.5], abs=0.08)
        assert found["malformed"] == 1
        return
    assert lengths[length] == 1
    assert found == {"variation": 1.0, "malformed": 1.0}, "an empty string is not well formed"


def test_a_stop_unit_knows_the_symbol_before_it():
    """A net that says "z" or "a" by chance and stops for certain after "z", never before: all its strings are
    well formed, which they would not be if symbol and stop of a step were drawn apart."""
    weights = {
        "cell/W": torch.tensor([[0.0], [1.0]]),
        "cell/U": torch.zeros(1, 1),
        "cell/b": torch.zeros(1, 1),
        "read_out/W": torch.tensor([[0.0, 0.0, 200.0]]),
        "read_out/b": torch.tensor([[1.5, 0.0, -100.0]]),
    }
    cell = {"name": "vanilla", "hidden": 1, "activation": "linear"}
    task, change = {"name": "endings", "ending": "stop"}, {k: v.double() for k, v in weights.items()}
    net = trained(task, {"name": "every_step"}, cell, change)
    found = numbers(sampled_strings.probe(net, samples=700)[1], "strings")
    assert found["malformed"] < 0.02, "those of thirty symbols are cut off"
    lengths = np.bincount(sampled_strings.generated(net, 700)[1]) / 700
    z = 1 / (1 + np.exp(1.5))
    assert lengths[:4] == pytest.approx([0, z, z * (1 - z), z * (1 - z) ** 2], abs=0.06)


def test_a_counting_net_writes_whole_strings():
    """ "z" exactly where one step is left, by the last input alone."""
    weights = {
        "cell/W": torch.tensor([[0.0], [0.0], [1.0]]),
        "cell/U": torch.zeros(1, 1),
        "cell/b": torch.zeros(1, 1),
    }
    weights |= {"read_out/W": torch.tensor([[4000.0, 0.0]]), "read_out/b": torch.tensor([[-500.0, 0.0]])}
    cell = {"name": "vanilla", "hidden": 1, "activation": "linear"}
    net = trained(
        {"name": "endings", "ending": "counted"},
        {"name": "every_step"},
        cell,
        {k: v.double() for k, v in weights.items()},
    )
    found = numbers(sampled_strings.probe(net, samples=300)[1], "strings")
    assert found["malformed"] == 0
    assert found["variation"] < 0.1


def test_a_free_run_is_the_model_in_evaluation_and_its_error_known():
    task = {"name": "oscillator", "curves": 6, "warm_up": 5, "steps": 15}
    net = trained(task, {"name": "fed_back", "warm_up": 5}, {"name": "gru", "hidden": 4})
    arrays, rows = free_running.probe(net, items=7, after=10)
    inputs, targets = net.items("test", 7)
    batch = SimpleNamespace(inputs=inputs[:, None], lengths=None)
    free = net.model.apply(net.cohort, batch).outputs[:, 0]
    told = net.model.apply(net.cohort, batch, draws={}).outputs[:, 0]
    ours = free_running.run(net, inputs, 5)[0]
    torch.testing.assert_close(ours, free, rtol=0, atol=1e-12)
    found = numbers(rows, "error")
    error = (free - targets).square()[5:].mean((1, 2))
    assert found["one_step"] == pytest.approx(float((told - targets)[5:].square().mean()))
    torch.testing.assert_close(arrays["free"], error, rtol=0, atol=1e-12)
    assert found["late"] == pytest.approx(float(error[5:].mean()))
    assert found["early"] == pytest.approx(float(error[:10].mean()))
    forced, own = (free_running.run(net, inputs, step)[1][-10:].reshape(-1, 4).numpy() for step in (20, 5))
    apart = np.linalg.norm(forced.mean(0) - own.mean(0)) / np.linalg.norm(forced.std(0, ddof=1))
    assert numbers(rows, "states")["distance"] == pytest.approx(apart)
    kicked, _ = free_running.run(net, inputs, 5, 0.1)
    assert numbers(rows, "kicked")["error"] == pytest.approx(float((kicked - targets)[15].square().mean()))
    assert (kicked - ours)[:5].abs().max() == 0
    assert (kicked - ours)[5].abs().min() > 0


@pytest.mark.parametrize(
    ("probe", "told"), [(sampled_strings, "the task endings"), (free_running, "the model fed_back")]
)
def test_other_nets_are_refused(probe, told):
    net = trained({"name": "neighbours", "length": 12}, {"name": "every_step"}, {"name": "gru", "hidden": 4})
    with pytest.raises(ValueError, match=told):
        probe.probe(net)


def test_a_kick_has_the_norm_asked_for():
    """The states of a kicked run differ at that step by the push alone, where the net passes states on."""
    draw = torch.Generator().manual_seed(2)
    cell = {"name": "vanilla", "hidden": 4, "activation": "linear"}
    change = {
        "cell/W": torch.zeros(1, 4), "cell/U": torch.eye(4), "cell/b": torch.zeros(1, 4),
        "read_out/W": torch.randn(4, 1, generator=draw), "read_out/b": torch.zeros(1, 1),
    }  # fmt: skip
    task = {"name": "oscillator", "curves": 6, "warm_up": 5, "steps": 15}
    net = trained(
        task,
        {"name": "fed_back", "warm_up": 5},
        cell,
        {name: value.double() for name, value in change.items()},
    )
    inputs, _ = net.items("test", 3)
    plain, kicked = (free_running.run(net, inputs, 5, kick)[1] for kick in (0.0, 0.6))
    torch.testing.assert_close((kicked - plain)[5].norm(dim=-1), torch.full((3,), 0.6).double())
    assert not (kicked - plain)[:5].any()
