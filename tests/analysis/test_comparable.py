"""Runs that are not those of the paper's scale have no verdict, and say what sets them apart."""

import pytest

from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import judge_claim
from tests.analysis.conftest import BLOCKS, NLL, ORDER, VALUE, metric_of, why


def test_a_stand_in_and_two_seeds_are_not_judged_but_hold_or_not(judged):
    found = judged(f"{VALUE}, paper: 3.4", scale="laptop", data="embedded")
    assert why(found) == "laptop, stand-in chorales in place of jsb, n = 2"
    assert found.ours == pytest.approx(3.01)


def test_data_that_packages_carry_are_never_the_documents(judged):
    blocks = BLOCKS.replace("real: jsb, stand_in: chorales", "real: fonts, stand_in: fonts")
    found = judged(f"{VALUE}, paper: 3.02", blocks=blocks)
    assert (found.holds, found.n) == ("yes", 6)
    assert why(found) == "paper, fonts from packages in place of the document's own"


def test_another_option_than_the_papers_is_not_comparable(judged):
    found = judged(f"{VALUE}, paper: 3.02", scale="smoke")
    assert found.holds == "yes"
    assert why(found) == "smoke, without T250/tgu/main"


def test_a_curve_beyond_the_papers_scale_is_not_comparable(judged):
    blocks = BLOCKS.replace("paper: {seeds: 6}", "paper: {seeds: 6, conditions: [T250, T500]}")
    blocks = blocks.replace("smoke: {seeds: 6, conditions: [T250], options: [slow]}", "smoke: {seeds: 6}")
    claim = f"test: value, where: {{variant: tgu}}, {NLL}, tol: 0.1, why: w, paper: 4.0"
    assert (
        why(judged(claim, scale="smoke", blocks=blocks))
        == "smoke, T750/tgu/main is not part of the paper scale"
    )


def test_a_condition_may_have_a_data_set_of_its_own(judged):
    blocks = BLOCKS.replace("T250: {", "T250: {dataset: {real: mnist, stand_in: digits}, ")
    assert judged(f"{VALUE}, paper: 3.02", blocks=blocks).verdict == "reproduced"


def test_another_protocol_is_not_comparable(judged, catalogue_of, trained):
    claim = f"  c1: {{statement: said of it, artefact: fig-1, {VALUE}, paper: 3.02}}\n"
    catalogue = catalogue_of(BLOCKS + claim)
    results = trained(catalogue.experiments["made2016", "made"], metric_of)
    changed = catalogue_of(BLOCKS.replace("task.length: 250", "task.length: 251") + claim)
    tables = Tables(results, "paper", "made2016", "made")
    found = judge_claim(changed.claims[0], changed.experiments["made2016", "made"], tables, "paper")
    assert why(found) == "paper, another protocol"


@pytest.mark.parametrize(("rates", "comparable"), [("[0.1, 0.02]", True), ("[0.01, 0.02]", False)])
def test_runs_searched_on_another_grid_are_not_comparable(catalogue_of, trained, rates, comparable):
    """Their rate, 0.1, must be in today's grid; what else is in it changes nothing."""
    than = "than: {condition: T250, variant: gru}"
    claim = f"  c1: {{statement: said of it, artefact: fig-1, {ORDER}, {than}}}\n"
    search = "search: {grid: {training.learning_rate: %s}, select: {%s, split: test, best: lowest, why: w}}"
    catalogues = [catalogue_of(f"{search % (grid, NLL)}\n{BLOCKS}{claim}") for grid in ("[0.1, 0.01]", rates)]
    before, after = (catalogue.experiments["made2016", "made"] for catalogue in catalogues)
    tables = Tables(trained(before, metric_of), "paper", "made2016", "made")
    found = judge_claim(catalogues[1].claims[0], after, tables, "paper")
    assert ("searched on another grid" in found.reason) != comparable
    assert (found.verdict == "not judged") != comparable


def test_nothing_run_is_not_judged(judged):
    found = judged(f"{VALUE}, paper: 3.02", keep=lambda replica: replica.variant == "gru")
    assert why(found) == "not run at paper: no run of condition T250, variant tgu, option main, stage final"
    assert (found.holds, found.ours, found.n) == ("unclear", None, 0)


def test_one_seed_still_gives_the_number(judged):
    found = judged(f"{VALUE}, paper: 3.02", keep=lambda replica: replica.seed == 3)
    assert (found.holds, found.n) == ("unclear", 1)
    assert found.ours == pytest.approx(3.01)
    assert why(found) == "paper, n = 1"
