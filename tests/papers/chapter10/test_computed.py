"""Proves the computed numbers of chapter10 on cases whose answers are known, with sizes that differ."""

import math

import numpy as np
import pytest

from tensor_rnns.papers.chapter10 import (
    composition,
    cost,
    gradient_flow,
    reservoir,
    second_order,
    turing,
)

BUSY = {"A0": "1RB", "A1": "1LB", "B0": "1LA", "B1": "1RH"}


def by_name(rows):
    return {(row["item"], row["name"]): row["value"] for row in rows}


def test_a_busy_beaver_runs_as_simulated():
    found = by_name(turing.compute(machines={"two": BUSY}, most=40))
    assert (found["two", "steps"], found["two", "ones"], found["two", "error"]) == (6, 4, 0)
    assert found["float64", "holds"] == 26


@pytest.mark.parametrize(
    "changed", [("l1R", "l"), ("l1L", "restl"), ("r1L", "restr"), ("r1L", "topl"), ("r1R", "restr")]
)
def test_a_wrong_weight_of_the_machine_is_seen(monkeypatch, changed):
    right = turing.net

    def wrong(rules):
        first, second, third = right(rules)
        name, source = changed
        bias, weights = third[name]
        third[name] = bias, {key: value for key, value in weights.items() if key != source}
        return [first, second, third]

    rules = {"A0": "1RB", "A1": "1LB", "B0": "1LA", "B1": "0LC"}
    rules |= {"C0": "1RH", "C1": "1LD", "D0": "1RD", "D1": "0RA"}
    assert turing.busy(rules)["error"] == 0
    monkeypatch.setattr(turing, "net", wrong)
    assert turing.busy(rules)["error"] > 0


def test_a_stack_gives_its_symbols_back():
    assert turing.symbols(turing.unit(1 / 4)[0]) == [0]
    assert turing.symbols(turing.unit(3 / 4 + 1 / 16)[0]) == [1, 0]


def test_a_delay_line_recalls_as_many_steps_as_it_holds():
    u = np.random.default_rng(3).uniform(-1, 1, 1500)
    held = np.stack([np.r_[np.zeros(delay), u[: len(u) - delay]] for delay in range(1, 8)], 1)
    found = reservoir.recalls(u, held)
    assert found[:7] == pytest.approx(np.ones(7), abs=1e-9)
    assert found[7:].max() < 0.05


def test_an_exponent_of_a_linear_net_is_the_logarithm_of_its_radius():
    w, _ = reservoir.weights(5, 0, 20)
    assert reservoir.lyapunov(np.zeros((4000, 20)), 0.7 * w) == pytest.approx(math.log(0.7), abs=5e-3)


def test_states_of_a_reservoir_are_those_of_the_loop():
    w, w_in = reservoir.weights(1, 2, 6)
    u, h, wanted = np.linspace(-1, 1, 9), np.zeros(6), []
    for now in u:
        h = np.tanh(h @ w + now * w_in[0])
        wanted.append(h)
    found = reservoir.states(u, [(0.5 * w, w_in), (w, w_in)])
    assert found.shape == (9, 2, 6)
    assert found[:, 1].numpy() == pytest.approx(np.array(wanted), abs=1e-14)


def of_linear_cell(monkeypatch, recurrent):
    """Slopes and curves of two draws over eleven steps of a linear cell with these recurrent weights."""

    def linear(name, seed):
        cell = gradient_flow.build({"name": name, "hidden": 3, "activation": "linear"}, 2)
        eye = gradient_flow.torch.eye(3, dtype=gradient_flow.torch.float64)
        return cell, {"W": eye[:2], "U": eye.new_tensor(recurrent), "b": 0 * eye[:1]}

    monkeypatch.setattr(gradient_flow, "made", linear)
    plain = {"vanilla": gradient_flow.families()["vanilla"]}
    monkeypatch.setattr(gradient_flow, "families", lambda: plain)
    found, curves = gradient_flow.by_cell(1, 2, 11)
    return found["cell vanilla"], [row["index"] for row in curves]


def test_a_linear_cell_loses_its_radius_a_step(monkeypatch):
    found, indices = of_linear_cell(monkeypatch, 0.5 * np.eye(3))
    assert found["slope"] == pytest.approx(math.log10(0.5), abs=1e-12)
    assert (found["dead"], indices) == (0, list(range(1, 12)))


def test_a_gradient_of_zero_ends_its_line_and_is_no_slope(monkeypatch):
    """A shift of three places is zero when it is done three times."""
    found, indices = of_linear_cell(monkeypatch, 0.5 * np.eye(3, k=1))
    assert -3 < found["least"] <= found["most"] < 0
    assert (found["dead"], indices) == (2, [1, 2])


def test_slopes_and_shares_of_matrices():
    found = gradient_flow.linear(3)["linear"]
    assert found["slope 1.25"] == pytest.approx(math.log(1.25), abs=5e-3)
    assert gradient_flow.scaled(3, 2)["scaled"] == {
        "own": 1,
        "repeated 0.9": 0,
        "repeated 1.1": 0,
        "orthogonal": 1,
    }
    assert gradient_flow.radius_alone(3, 2)["radius"]["printed_error"] > 0.3


def test_derivatives_are_the_closed_forms():
    found = by_name(second_order.compute(weight=0.8, steps=(3, 7)))
    assert found["T = 7", "first"] == pytest.approx(7 * 0.8**6, rel=1e-12)
    assert found["T = 7", "second"] == pytest.approx(42 * 0.8**5, rel=1e-12)
    assert found["ratio", "error"] < 1e-12


def test_compositions_latches_and_products():
    found = by_name(composition.compute(seed=1, draws=2, maps=3, gains=(0.5, 3), products=20_000, runs=50))
    assert found["gain 3", "more"] > 4 > found["gain 0.5", "more"]
    assert found["latch 2.0", "kept"] == 1
    assert found["latch 2.0", "derivative"] < 0.2
    assert found["product of 2", "off"] < 0.05
    assert found["product of 10", "off"] < 0.5


def test_costs_count_what_is_kept_and_what_waits():
    found = by_name(cost.compute(seed=1, lengths=(8, 16, 32, 64), engines=("eager",), repeats=1))
    assert found["memory", "fit"] > 0.999
    assert found["memory", "a step"] == pytest.approx(4 * (16 + 3))
    assert (found["parallel", "linked"], found["parallel", "fed"]) == (64, 1)
    assert found["omega", "multiplications"] == (5 * 100 - 1) / (3 * 100 - 1)
    assert cost.line(np.array([1.0, 2, 4]), np.array([3.0, 5, 9])) == pytest.approx((2, 1))
