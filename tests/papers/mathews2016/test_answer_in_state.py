"""Proves the probe of addition on a net made by hand, one unit of which holds the sum of what is marked."""

import math

import numpy as np
import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.probes.trained import correlation

TASK = {"name": "addition", "length": 9}
KEPT = 0.99


def adding(net, **options):
    """Unit 1 of three adds 0.01 of each marked value, unit 0 sees the markers alone, unit 2 nothing."""
    weights = dict.fromkeys(("cell/A", "cell/B", "cell/C", "cell/U", "cell/V"), 0.0) | {
        "cell/b": math.log(KEPT / (1 - KEPT)),
        "cell/W_in": [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]],
        "cell/b_in": [[0.0, -1.0, 0.0]],
    }
    return net(TASK, {"name": "tgu", "hidden": 3, "rank": 2} | options, "last_output", weights)


def test_the_answer_unit_correlates_most_with_the_answer(net):
    one = adding(net)
    inputs, targets = one.items("test", 200)
    states = one.states(inputs)
    found, _ = functions.probe("mathews2016.answer_in_state")(one, {"items": 200})
    np.testing.assert_array_equal(found["held"], states[:, :3, 1].float())
    correlations = correlation(states[-1], targets)
    by_numpy = np.corrcoef(states[-1, :, 1], targets[:, 0])[0, 1]
    assert float(correlations[1]) == pytest.approx(by_numpy, rel=1e-9)
    assert by_numpy > 0.999
    assert correlations[2] == 0


def test_a_few_items_show_what_the_unit_holds_and_writes(net):
    one = adding(net)
    inputs, _ = one.items("test", 3)
    found, _ = functions.probe("mathews2016.answer_in_state")(one, {"items": 50})
    shown = {name: tuple(values.shape) for name, values in found.items()}
    assert shown == dict.fromkeys(("values", "marks", "held", "gate", "written"), (9, 3))
    np.testing.assert_array_equal(found["values"], inputs[..., 0].float())
    np.testing.assert_array_equal(found["marks"], inputs[..., 1].float())
    np.testing.assert_allclose(found["gate"], np.full((9, 3), KEPT), rtol=1e-6)
    values = (inputs[..., 0] * inputs[..., 1] * (1 - KEPT)).float()
    np.testing.assert_allclose(found["written"], values, atol=1e-7)
    held = torch.zeros(3, dtype=torch.float64)
    for step in range(9):
        held = KEPT * held + (1 - KEPT) * inputs[step, :, 0] * inputs[step, :, 1]
        np.testing.assert_allclose(found["held"][step], held, atol=1e-7)


def test_a_forget_gate_writes_the_whole_candidate(net):
    """h_t = p h_{t-1} + z, so z is written and not (1 - p) z."""
    one = adding(net, gate="forget")
    inputs, _ = one.items("test", 3)
    found, _ = functions.probe("mathews2016.answer_in_state")(one, {"items": 50})
    np.testing.assert_allclose(found["written"], (inputs[..., 0] * inputs[..., 1]).float(), atol=1e-6)


def test_a_cell_without_such_a_gate_shows_what_is_held(net):
    lstm = net(TASK, {"name": "lstm", "hidden": 3}, "last_output")
    found, _ = functions.probe("mathews2016.answer_in_state")(lstm, {"items": 50})
    assert set(found) == {"values", "marks", "held"}


def test_other_tasks_are_refused(net):
    binding = {"name": "variable_binding", "length": 12}
    with pytest.raises(ValueError, match="the task addition, not at variable_binding"):
        functions.probe("mathews2016.answer_in_state")(net(binding, {"name": "gru", "hidden": 3}), {})
