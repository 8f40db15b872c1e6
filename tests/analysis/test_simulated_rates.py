"""On simulated replications the rules err no more often than they promise."""

import pytest

from tensor_rnns.analysis import simulate

DRAWS = 3000
SLACK = 0.012
"""Three standard errors of a share of 5 % over 3,000 draws."""
RATES = {truth: simulate.rate(test, truth, 5, DRAWS, drawn) for test, truth, drawn in simulate.situations(5)}


def test_what_is_true_is_seldom_called_not_reproduced():
    """The same law and the same grid, equal orders, true children: 5 % at most, with every rule."""
    true = [rate for truth, rate in RATES.items() if truth.startswith(("same", "equal", "1 of 5", "5 equal"))]
    assert len(true) == 13
    assert {rate.truth for rate in true if rate.no > 0.05 + SLACK} == set()
    assert RATES["14 orders, all equal"].no <= 0.01


@pytest.mark.parametrize("truth", ["5 sd off, tolerance 0.5 sd", "20 sd off, searched 3 x a point",
                                   "5 sd apart the other way, pairs", "5 sd apart the other way, 3 levels",
                                   "4 of 5 rivals beaten", "14 orders, 2 the other way"])  # fmt: skip
def test_what_is_false_is_seen_with_five_seeds(truth):
    assert RATES[truth].no >= 0.9 - SLACK
    assert RATES[truth].yes <= 0.02


def test_what_holds_is_said():
    for truth in ("5 sd apart as claimed, pairs", "5 rivals beaten", "14 orders, 0 the other way"):
        assert RATES[truth].yes >= 0.9


def test_no_one_child_refutes_and_none_of_many_is_found_by_chance():
    assert RATES["14 orders, 1 the other way"].no == 0
    assert RATES["1 of 5 orders asked for, all equal"].yes <= 0.05 + SLACK


def test_an_order_uses_its_five_percent():
    """Neither more nor much less: a rule that never decides would pass the other tests."""
    equal = RATES["equal, pairs"]
    assert 0.05 - SLACK <= equal.yes + equal.no <= 0.05 + SLACK


def test_a_value_judged_without_the_scatter_of_its_choice_is_refuted_too_often(monkeypatch):
    judged = simulate.judged
    monkeypatch.setattr(simulate, "judged", lambda x, paper, tol, chosen=None: judged(x, paper, tol))
    situation = {truth: drawn for _, truth, drawn in simulate.situations(5)}
    truth = "same grid, searched 3 x a point"
    assert simulate.rate("value", truth, 5, DRAWS, situation[truth]).no > 0.05 + SLACK
