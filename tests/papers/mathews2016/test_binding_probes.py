"""Proves the probes of variable binding on nets that recall all, guess, or hold patterns in known units."""

import math

import numpy as np
import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.papers.mathews2016 import pattern_in_state, unit_responses
from tensor_rnns.probes import recall
from tensor_rnns.probes.trained import Trained

BITS, STEPS = 3, 12
GRU = {"name": "gru", "hidden": 4}


def binding(patterns):
    return {"name": "variable_binding", "length": STEPS, "patterns": patterns, "bits": BITS}


class Perfect(Trained):
    """Its outputs are the targets, as logits."""

    def outputs(self, states):
        return 40 * self.items("test", states.shape[1])[1] - 20


class Holding(Trained):
    """Its units are the features of the inputs in turn, label by label, every other one negative."""

    def states(self, inputs):
        found = unit_responses.features(inputs, self.task.patterns, BITS)
        return found * (-1.0) ** torch.arange(found.shape[-1])


class Sharing(Trained):
    """The same, but label 0 alone is held, in three units."""

    def states(self, inputs):
        return unit_responses.features(inputs, self.task.patterns, BITS)[..., 1 : 1 + BITS]


def test_steps_are_due_where_a_label_goes_out():
    labels = torch.tensor([[0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0], [0, 1, 0, 0, 1, 1]]).double().mT
    due = recall.due_steps(labels[:, None])
    assert due[:, 0].tolist() == [False, False, True, True, True, False]


@pytest.mark.parametrize("patterns", [1, 2])
def test_a_net_that_recalls_all_is_right_at_every_due_step(net, numbers, patterns):
    one = net(binding(patterns), GRU, kind=Perfect)
    table = numbers(functions.probe("recall")(one, {"items": 150})[1])
    assert table["due", "accuracy"] == [1.0]
    assert table["due", "correlation"] == [pytest.approx(1.0)]
    assert table["other", "mean"][0] < 1e-6


def test_a_net_that_guesses_is_right_by_chance(net, numbers):
    """Constant outputs of 0.6: the right side for every 1, no correlation, and no silence elsewhere."""
    logit = math.log(0.6 / 0.4)
    one = net(binding(1), GRU, weights={"read_out/W": 0.0, "read_out/b": logit})
    inputs, targets = one.items("test", 500)
    due = targets[recall.due_steps(inputs[..., BITS:])]
    assert due.shape == (500, BITS)
    table = numbers(functions.probe("recall")(one, {"items": 500})[1])
    assert table["due", "accuracy"] == [pytest.approx(float(due.mean()))]
    assert table["due", "mean"] == [pytest.approx(0.6)]
    assert table["other", "mean"] == [pytest.approx(0.6)]
    assert table["due", "correlation"] == [0.0]


def test_held_patterns_are_read_from_the_state(net, numbers):
    one = net(binding(2), GRU, kind=Holding)
    table = numbers(functions.probe("mathews2016.pattern_in_state")(one, {"items": 200})[1])
    assert table["bits", "accuracy"] == [1.0, 1.0]


def test_a_pattern_that_is_not_held_cannot_be_read(net, numbers):
    """Units that hold label 0 alone tell the bits of label 1 no better than chance."""
    table = numbers(
        functions.probe("mathews2016.pattern_in_state")(net(binding(2), GRU, kind=Sharing), {"items": 400})[1]
    )
    first, second = table["bits", "accuracy"]
    assert first == 1.0
    assert abs(second - 0.5) < 0.1


def test_the_middle_of_the_hold_is_where_the_state_is_read(net):
    """A unit that counts the steps since its label went on shows which step the probe looks at."""

    class Counting(Trained):
        def states(self, inputs):
            return (inputs[..., -1:] > 0.5).double().cumsum(0)

    one = net(binding(1), GRU, kind=Counting)
    inputs, _ = one.items("test", 90)
    ((states, bits),) = pattern_in_state.held(one, "test", 90)
    on = inputs[..., -1].numpy()
    for item in range(90):
        steps = np.flatnonzero(on[:, item])
        middle = steps[(len(steps) + 1) // 2]
        assert states[item, 0] == middle - steps[0] + 1
        assert steps[0] < middle <= steps[-1]
        np.testing.assert_array_equal(bits[item], 2 * inputs[steps[0] + 1, item, :BITS] - 1)


def test_units_answer_to_the_features_that_they_copy(net):
    found, _ = functions.probe("mathews2016.unit_responses")(
        net(binding(2), GRU, kind=Holding), {"items": 60}
    )
    np.testing.assert_allclose(found["response"].diagonal(), np.ones(8), rtol=1e-9)
    assert found["response"].argmax(0).tolist() == list(range(8))
    assert float(found["response"][1:4, 5:].max()) < 0.3


def test_features_hold_a_pattern_from_its_step_to_the_end_of_its_label():
    inputs = torch.zeros(7, 1, BITS + 1)
    inputs[1:5, 0, -1] = 1
    inputs[2, 0, :BITS] = torch.tensor([1.0, 0.0, 1.0])
    found = unit_responses.features(inputs, 1, BITS)[:, 0]
    assert found[:, 0].tolist() == [0, 1, 1, 1, 1, 0, 0]
    assert found[:, 1:].tolist() == [[0] * 3, [0] * 3, *[[1, -1, 1]] * 3, [0] * 3, [0] * 3]


@pytest.mark.parametrize("name", ["recall", "mathews2016.pattern_in_state", "mathews2016.unit_responses"])
def test_other_tasks_are_refused(net, name):
    with pytest.raises(ValueError, match="the task variable_binding, not at addition"):
        functions.probe(name)(net({"name": "addition", "length": 9}, GRU, "last_output"), {})


def test_patterns_are_fitted_on_one_split_and_read_from_another(net, monkeypatch):
    held, asked = pattern_in_state.held, []
    monkeypatch.setattr(
        pattern_in_state, "held", lambda one, split, n: asked.append(split) or held(one, split, n)
    )
    functions.probe("mathews2016.pattern_in_state")(net(binding(1), GRU), {"items": 30})
    assert asked == ["valid", "test"]
