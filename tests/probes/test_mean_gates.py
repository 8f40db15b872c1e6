"""Proves on gates set by hand what the probe of gates counts, and that the bound of the state can fail."""

import math
from types import SimpleNamespace

import pytest
import torch

from tensor_rnns import functions
from tensor_rnns.probes.trained import Trained

TASK = {"name": "addition", "length": 8}
SHUT = dict.fromkeys(("cell/A", "cell/B", "cell/C", "cell/U", "cell/V"), 0.0)


def gated(net, biases, **options):
    """A TGU of three units whose gates are constant, sigma of `biases`, and whose candidates are 2, -3, 1."""
    cell = {"name": "tgu", "hidden": 3, "rank": 2, "candidate": "linear"} | options
    candidates = {"cell/W_in": 0.0, "cell/b_in": [[2.0, -3.0, 1.0]]}
    return net(TASK, cell, "last_output", SHUT | candidates | {"cell/b": [biases]})


def test_means_and_shares_of_constant_gates(net, numbers):
    table = numbers(functions.probe("mean_gates")(gated(net, [-5.0, 0.0, 5.0]), {"items": 7})[1])
    p = [1 / (1 + math.exp(-bias)) for bias in (-5, 0, 5)]
    assert table["gate", "mean"] == [pytest.approx(sum(p) / 3)]
    assert table["gate", "left"] == [pytest.approx(1 / 3)]
    assert table["gate", "right"] == [pytest.approx(1 / 3)]


def test_the_state_of_a_convex_gate_stays_within_its_candidates(net, numbers):
    table = numbers(functions.probe("mean_gates")(gated(net, [-5.0, 0.0, 5.0]), {"items": 7})[1])
    assert table["candidate", "largest"] == [3.0]
    assert table["state", "largest"] == [pytest.approx(3 * (1 - 0.5**8))]
    assert table["bound", "error"] == [0.0]


def test_the_state_of_a_forget_gate_does_not(net, numbers):
    table = numbers(
        functions.probe("mean_gates")(gated(net, [-5.0, 0.0, -5.0], gate="forget"), {"items": 7})[1]
    )
    held = 3 * (2 - 0.5**7)
    assert table["state", "largest"] == [pytest.approx(held)]
    assert table["bound", "error"] == [pytest.approx(held - 3)]


def test_a_candidate_of_a_later_step_bounds_nothing_before_it(net, numbers):
    """A state of 5 after candidates of 1 and 2, the 9 coming later, is 3 too large."""

    states = torch.tensor([0.5, -5.0, 1.0])[:, None, None]
    gates = torch.full((3, 1, 1), 0.5), torch.tensor([1.0, 2.0, 9.0])[:, None, None]

    class Late(Trained):
        def layers(self, inputs):
            return iter([SimpleNamespace(outputs=states, gates=lambda: gates)])

    one = net(TASK, {"name": "tgu", "hidden": 3, "rank": 2}, "last_output", kind=Late)
    assert numbers(functions.probe("mean_gates")(one, {"items": 7})[1])["bound", "error"] == [3.0]
