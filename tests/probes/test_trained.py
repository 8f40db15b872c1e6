"""Proves that a trained net shows the states, gates and outputs that its model runs through."""

import numpy as np
import pytest
import torch

from tensor_rnns import functions, tasks
from tensor_rnns.declared import build, keys
from tensor_rnns.experiments import KEY
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import write_json
from tensor_rnns.probes.trained import trained_replicas
from tensor_rnns.training import statefile

ADDITION = {"name": "addition", "length": 9}
BINDING = {"name": "variable_binding", "length": 12, "patterns": 2, "bits": 3}
TGU = {"name": "tgu", "hidden": 4, "rank": 2}


def test_the_first_items_are_those_of_the_split(net):
    one = net(BINDING, TGU)
    inputs, targets = one.items("test", 130)
    batches = list(one.task.evaluation("test"))
    assert inputs.shape == (12, 130, 5)
    assert targets.shape == (12, 130, 3)
    np.testing.assert_array_equal(inputs[:, :100], batches[0].inputs)
    np.testing.assert_array_equal(targets[:, 100:], batches[1].targets[:, :30])
    sums = net(ADDITION, TGU, "last_output").items("valid", 7)[1]
    assert sums.shape == (7, 1)
    with pytest.raises(ValueError, match="1001 items asked for; the split test has 1000"):
        one.items("test", 1001)


@pytest.mark.parametrize("cell", [TGU, {"name": "lstm", "hidden": 4}])
def test_the_read_out_of_the_states_is_what_the_model_says(net, cell):
    one = net(BINDING, cell)
    inputs, _ = one.items("test", 6)
    said, _ = one.model.forward({name: p[None] for name, p in one.parameters.items()}, inputs[:, None])
    np.testing.assert_allclose(one.outputs(one.states(inputs)), said[:, 0].detach(), rtol=1e-10, atol=1e-12)


def test_gates_and_candidates_give_the_next_state(net):
    one = net(BINDING, TGU)
    inputs, _ = one.items("test", 6)
    layer = next(one.layers(inputs))
    states, (p, z) = layer.outputs, layer.gates()
    before = torch.cat([torch.zeros(1, 6, 4, dtype=torch.float64), states[:-1]])
    np.testing.assert_allclose(p * before + (1 - p) * z, states, rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="the cell gru does not tell its gate"):
        next(net(BINDING, {"name": "gru", "hidden": 4}).layers(inputs)).gates()


def test_over_time_shows_a_few_items(net):
    one = net(BINDING, TGU)
    inputs, targets = one.items("test", 2)
    found, rows = functions.probe("over_time")(one, {"items": 2})
    assert rows == []
    assert {name: tuple(values.shape) for name, values in found.items()} == {
        "inputs": (12, 2, 5), "targets": (12, 2, 3), "outputs": (12, 2, 3), "gates": (12, 2, 4)
    }  # fmt: skip
    assert {values.dtype for values in found.values()} == {torch.float32}
    np.testing.assert_array_equal(found["inputs"], inputs.float())
    np.testing.assert_array_equal(found["targets"], targets.float())
    logits = one.outputs(one.states(inputs)).numpy()
    np.testing.assert_allclose(found["outputs"], 1 / (1 + np.exp(-logits)), rtol=1e-6)
    plain, _ = functions.probe("over_time")(net(ADDITION, {"name": "gru", "hidden": 4}, "last_output"), {})
    assert {name: tuple(values.shape) for name, values in plain.items()} == {
        "inputs": (9, 4, 2), "targets": (4, 1), "outputs": (9, 4, 1)
    }  # fmt: skip


@pytest.mark.parametrize("name", functions.sources("probe"))
def test_every_probe_refuses_arguments_that_it_does_not_take(name):
    """An unknown one, and none, a mapping, a number that is not one, and a list for each of its own; an empty
    list may be what it is without."""
    kind = functions.arguments("probe", name)
    for key in ("itmes", *keys(kind)):
        for value in (None, [], {}, float("nan")):
            if value == [] and getattr(kind, key, None) == ():
                continue
            with pytest.raises(ValueError, match=rf"{name}: .*{key}"):
                build(kind, {key: value}, name)


def test_items_of_later_batches_do_not_begin_at_a_zero_state(net):
    one = net(BINDING, TGU)
    object.__setattr__(one.task, "carries_state", True)
    assert one.items("test", 100)[0].shape == (12, 100, 5)
    with pytest.raises(ValueError, match="101 items asked for; the task variable_binding carries states and"):
        one.items("test", 101)


def test_replicas_of_equal_task_batch_and_data_share_one_task(net, tmp_path, monkeypatch):
    """A searched option of the task makes another one, a searched rate does not; a failed replica is left
    out."""
    built, build = [], tasks.build
    monkeypatch.setattr(tasks, "build", lambda *given: built.append(given) or build(*given))
    replicas, weights = [], {}
    for seed, (length, rate, status) in enumerate(
        [(9, 0.1, "done"), (9, 0.2, "done"), (8, 0.1, "done"), (9, 0.1, "failed")]
    ):
        settings = {
            "task": ADDITION | {"length": length}, "training": {"batch": 3, "learning_rate": rate},
            "model": {"name": "last_output"}, "cell": TGU, "dataset": None,
        }  # fmt: skip
        key = dict.fromkeys(KEY, "x") | {"seed": seed, "point": 0}
        replicas.append(key | {"status": status, "settings": settings, "protocol": "one", "data_seed": seed,
                               "init_seed": seed})  # fmt: skip
        weights[f"seed{seed}/point0/cell/A"] = torch.full((2, 4), float(seed))
    write_json(tmp_path / "record.json", {"replicas": replicas}, run_name(replicas[0]))
    statefile.write(tmp_path / "weights.safetensors", weights, {}, run_name(replicas[0]))
    found = list(trained_replicas(tmp_path, tmp_path))
    assert [one.task.length for one in found] == [9, 9, 8]
    assert [one.data_seed for one in found] == [0, 1, 2]
    assert float(found[1].parameters["cell/A"].sum()) == 8
    assert len(built) == 2
    for tensors, of, message in (
        ({}, run_name(replicas[0]), "it holds no weights of seed0/point0/"),
        (weights, "x/x/x/y/x/x/x", "it holds 'x/x/x/y/x/x/x'; asked for was 'x/x/x/x/x/x/x'"),
    ):
        statefile.write(tmp_path / "weights.safetensors", tensors, {}, of)
        with pytest.raises(ValueError, match=message):
            list(trained_replicas(tmp_path, tmp_path))
