"""On simulated replications the rules err no more often than they promise."""

import pytest

from tensor_rnns.analysis import simulate

DRAWS = 2000
SLACK = 0.015
"""Three standard errors of a share of 5 % over 2,000 draws."""


@pytest.mark.parametrize("tol", [0.5, 2.0, 3.0])
@pytest.mark.parametrize("n", [3, 5])
def test_the_same_law_is_seldom_called_not_reproduced(n, tol):
    assert simulate.rates("value", "same", n, DRAWS, simulate.value_once(n, 0.0, tol)).no <= 0.05 + SLACK


@pytest.mark.parametrize("tol", [0.5, 2.0, 3.0])
def test_five_deviations_off_is_seen_with_five_seeds(tol):
    found = simulate.rates("value", "off", 5, DRAWS, simulate.value_once(5, 5.0, tol))
    assert found.no >= 0.9 - SLACK
    assert found.yes <= 0.02


@pytest.mark.parametrize(("test", "once"), [("order", simulate.order_once), ("trend", simulate.trend_once)])
def test_orders_and_trends(test, once):
    equal = simulate.rates(test, "equal", 5, DRAWS, once(5, 0.0))
    assert equal.yes + equal.no <= 0.05 + SLACK
    assert equal.yes + equal.no >= 0.05 - SLACK
    assert simulate.rates(test, "apart", 5, DRAWS // 4, once(5, 5.0)).yes >= 0.9
    assert simulate.rates(test, "apart", 5, DRAWS // 4, once(5, -5.0)).no >= 0.9


def test_shares():
    half = simulate.rates("solves", "half", 5, DRAWS, simulate.solves_once(5, 0.5))
    assert half.yes <= 0.05
    assert half.no <= 0.05
    assert simulate.rates("solves", "most", 10, DRAWS // 4, simulate.solves_once(10, 0.95)).yes >= 0.85


def test_the_module_prints_its_table(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["simulate", "20"])
    simulate.main()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("20 simulated replications")
    assert len(lines) == 2 + len(simulate.SEEDS) * (2 * len(simulate.TOLERANCES) + 2 * 3 + 3)
    assert all("%" in line for line in lines[2:])
