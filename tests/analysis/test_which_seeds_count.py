"""Verdicts rest on the seeds that a comparison uses, and on no more than were planned."""

import math

import pytest

from tensor_rnns.analysis import rules
from tensor_rnns.analysis.claims import SolvesForm, Threshold
from tensor_rnns.analysis.measures import is_exact, record_of
from tensor_rnns.analysis.rules import seeds_that_decide
from tensor_rnns.analysis.samples import passing, sample
from tensor_rnns.analysis.stopping import Rule
from tensor_rnns.experiments import Selector
from tests.analysis.conftest import BLOCKS, NLL, VALUE, WOBBLE, metric_of, why
from tests.analysis.test_samples import FINAL, curve

SIDES = "less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"
BEST = "selected_from: {by: {name: best_valid, of: nll}, best: lowest}"
MANY = BLOCKS.replace("paper: {seeds: 6}", "paper: {seeds: 14}")


def diverging(fails):
    """The runs for which `fails` holds diverge after their value was measured."""

    def outcome(replica):
        value = 3.0 + (replica.variant == "gru") + 0.01 * (replica.seed % 5)
        failed = {"status": "failed", "curves": {("test", "nll"): [value]}}
        return failed if fails(replica) else {"metrics": {("test", "nll"): value}}

    return outcome


def test_failures_are_counted_among_the_seeds_of_both_sides(judged):
    """Three of the GRU's fourteen failed, all among the six that the TGU has too."""

    def kept(replica):
        return replica.variant == "gru" or replica.seed < 6

    fails = diverging(lambda replica: replica.variant == "gru" and replica.seed < 3)
    found = judged(f"test: order, {SIDES}, {NLL}", fails, blocks=MANY, keep=kept)
    assert (found.holds, found.failed, found.n) == ("unclear", 3, 6)
    assert found.reason.startswith("over a fifth of the seeds failed")
    assert found.margin is None
    assert seeds_that_decide(found.reason) is None, "more would not help while so many fail"
    late = diverging(lambda replica: replica.variant == "gru" and replica.seed > 10)
    found = judged(f"test: order, {SIDES}, {NLL}", late, blocks=MANY, keep=kept)
    assert (found.verdict, found.failed) == ("reproduced", 0)


def test_five_seeds_on_either_side_are_not_five_pairs(judged):
    """Seeds 0 to 5 and 4 to 9 share two."""
    found = judged(
        f"test: order, {SIDES}, {NLL}",
        diverging(lambda replica: False),
        blocks=MANY,
        keep=lambda replica: (
            4 * (replica.variant == "gru") <= replica.seed < 6 + 4 * (replica.variant == "gru")
        ),
    )
    assert why(found) == "paper, n = 2"


def test_without_a_stopping_rule_the_planned_seeds_count(judged):
    """Eight seeds more, which came for another claim, would change the answer."""

    def outcome(replica):
        return {"metrics": {("test", "nll"): 3.0 + WOBBLE[replica.seed % 6] + (replica.seed > 5)}}

    found = judged(f"{VALUE}, paper: 3.0", outcome, seeds=14)
    assert (found.verdict, found.n) == ("reproduced", 6)
    found = judged(f"{VALUE}, paper: 3.0", outcome, seeds=14, rule=Rule("c1", 6, 8))
    assert (found.verdict, found.n) == ("undecided", 14)


def test_a_stopping_rule_counts_where_every_curve_has_its_seeds(judged):
    """Eight more at one of two lengths, of which each is asked for itself, would turn its answer."""
    sides = "less: {variant: tgu}, than: {variant: gru}, each: [condition], where: {condition: [T250, T500]}"

    def outcome(replica):
        above = 1.0 if replica.seed < 6 else -9.0
        return {
            "metrics": {("test", "nll"): 3.0 + above * (replica.variant == "gru") + WOBBLE[replica.seed % 6]}
        }

    for kept, n, verdict in ((("T250",), 6, "reproduced"), (("T250", "T500"), 14, "not reproduced")):
        found = judged(
            f"test: order, {sides}, {NLL}", outcome, seeds=14, rule=Rule("c1", 6, 8),
            keep=lambda replica, kept=kept: replica.seed < 6 or replica.condition in kept,
        )  # fmt: skip
        assert (found.verdict, found.n) == (verdict, n)


def test_a_stopping_rule_counts_seeds_of_the_curves_that_an_order_compares(judged):
    """At T = 250 and 500, which `where` lists: that T = 750 and the LSTM have no more seeds costs nothing."""
    sides = "less: {variant: tgu}, than: {variant: gru}, each: [condition], where: {condition: [T250, T500]}"
    kept = {"T250", "T500"}

    def more(replica):
        return replica.seed < 6 or (replica.condition in kept and replica.variant != "lstm")

    rule = Rule("c1", 6, 8)
    found = judged(f"test: order, {sides}, {NLL}", diverging(lambda _: False), keep=more, seeds=14, rule=rule)
    assert (found.verdict, found.n) == ("reproduced", 14)


def test_runs_of_seeds_that_lack_a_curve_do_not_pass(run_of):
    """Nine that pass of one curve and two of five of the other: of the common five seeds seven of ten."""
    runs = [curve(run_of, 1.0, seed, condition="T9") for seed in range(9)]
    runs += [curve(run_of, float(seed < 2), seed, condition="T5") for seed in range(5)]
    found = sample(runs, FINAL, Selector())
    form = SolvesForm(statement="s", artefact="a", measure=record_of(FINAL), above=0.5)
    assert passing(found, form, Threshold(above=0.5)) == (7, 10)


def test_a_run_that_diverged_is_neither_chosen_nor_counted_where_another_did_not(judged):
    """The GRU diverges in every seed, with the better validation before: the TGU stands for all."""

    def outcome(replica):
        failed = replica.variant == "gru"
        valid, test = (0.1, 900.0) if failed else (0.5, 3.0 + WOBBLE[replica.seed])
        curves = {("valid", "nll"): [valid], ("test", "nll"): [test]}
        if failed:
            return {"curves": curves, "status": "failed"}
        return {"curves": curves, "metrics": {("test", "nll"): test}}

    where = "where: {condition: T250, variant: [tgu, gru]}"
    claim = f"test: value, {where}, {NLL}, tol: 0.1, why: w, paper: 3.0, {BEST}"
    found = judged(claim, outcome)
    assert (found.verdict, found.failed, found.n) == ("reproduced", 0, 6)
    every = judged(claim, lambda replica: outcome(replica) | {"status": "failed"})
    assert (every.holds, every.failed) == ("unclear", 6)


def test_what_was_left_out_is_said(judged):
    """Of a count too, in which failed runs are no answer: half of them decide nothing."""

    def outcome(replica):
        return {"status": "failed"} if replica.seed == 5 else metric_of(replica)

    found = judged(f"{VALUE}, paper: 3.02", outcome)
    assert found.reason == "1 failed without a number and are left out"

    def two(replica):
        curves = {("test", "nll"): [3.0]} if replica.seed == 4 else {}
        return {"status": "failed", "curves": curves} if replica.seed > 3 else metric_of(replica)

    found = judged(f"{VALUE}, paper: 3.02", two)
    taken = "2 failed, taken at their last finite value, but for 1 without one, which are left out"
    assert found.reason.endswith(taken)
    claim = f"test: count, where: {{condition: T250, variant: tgu}}, {NLL}, at_least: 0.5"
    few = judged(claim, lambda replica: {"status": "failed"} if replica.seed == 2 else metric_of(replica))
    assert (few.holds, few.reason) == ("yes", "1 failed without a number and are left out")
    found = judged(claim, lambda replica: {"status": "failed"} if replica.seed > 2 else metric_of(replica))
    assert (found.holds, found.failed, found.n) == ("unclear", 3, 3)


def test_equal_seeds_after_a_search_of_few_decide_nothing():
    for values, paper in (([1.0] * 5, 1.0), ([1.0] * 19, 0.85)):
        for selection in ([], [1.0], [1.0, 1.0]):
            assert rules.value(values, paper, 0.1, selection=selection).holds == "unclear"
    assert rules.value([1.0] * 5, 1.0, 0.1, selection=[1.0] * 3).holds == "yes"


def test_a_ratio_of_what_is_not_positive_is_undecided(judged):
    def outcome(replica):
        return {"metrics": {("test", "nll"): 0.0 if replica.variant == "tgu" else 0.5}}

    found = judged(f"test: order, {SIDES}, {NLL}, ratio: 0.5", outcome)
    assert (found.verdict, found.n) == ("undecided", 6)
    assert found.reason == "a ratio needs positive values; the smallest is 0.0"


def test_time_never_reached_in_one_of_two_budgets_has_no_mean(judged):
    """No number stands for a mean with a curve that was granted fewer updates and never got there."""
    sides = "less: {variant: tgu, condition: [T250, T500]}, than: {variant: gru, condition: [T250, T500]}"

    def outcome(replica):
        reached = replica.variant == "tgu" or replica.condition == "T500"
        return {"curves": {("train", "loss"): [1.0, 1.0, 0.1 if reached else 0.9]}}

    claim = f"test: order, {sides}, measure: {{name: first_below, threshold: 0.5}}"
    assert judged(claim, outcome).verdict == "reproduced"
    blocks = BLOCKS.replace("T500: {task.length: 500}", "T500: {task.length: 500, training.updates: 90}")
    found = judged(claim, outcome, blocks=blocks)
    assert found.reason == "some seeds never got there, so that there is no mean"


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        (f"test: order, {SIDES}, {NLL}, tie_ratio: 0.9", "tie_ratio is 0.9; allowed is 1 or more"),
        (
            f"test: trend, over: condition, values: {{T250: 1, T500: 1}}, direction: up, {NLL}",
            "allowed are levels that differ",
        ),
        (
            f"test: count, where: {{variant: tgu}}, {NLL}, within: [3, 1]",
            "allowed is the lower end first",
        ),
        (
            f"test: solves, where: {{variant: tgu}}, {NLL}, above: 2, within: 1",
            "above is 2, within 1; allowed is at most 'within'",
        ),
    ],
)  # fmt: skip
def test_limits_that_nothing_or_all_would_meet_are_refused(judged, claim, message):
    with pytest.raises(ValueError, match="claim c1: ") as caught:
        judged(claim)
    assert message in str(caught.value)


def test_a_measure_is_as_exact_as_what_divides_it():
    assert is_exact({"name": "baseline", "per": {"name": "parameters"}})
    assert not is_exact({"name": "baseline", "per": {"name": "final"}})


@pytest.mark.parametrize("divisor", [0.0, math.inf])
def test_nothing_is_divided_by_zero_or_by_what_was_never_reached(judged, divisor):
    """Of one seed: the claim has no verdict, and says why."""

    def outcome(replica):
        low = 2.0 if divisor else 0.0
        return {"curves": {("train", "loss"): [low], ("test", "nll"): [3.0]}}

    per = "{name: first_below, threshold: 1}" if divisor else "{name: final}"
    measure = f"measure: {{name: final, of: nll, split: test, per: {per}}}"
    found = judged(
        f"test: value, where: {{condition: T250, variant: tgu}}, {measure}, tol: 1, why: w, paper: 3", outcome
    )
    assert f"which is {divisor:g}" in found.reason
    gap = "measure: {name: gap, of: loss, split: valid, against: train, kind: ratio}"

    def gapped(replica):
        return {"metrics": {("valid", "loss"): 1.0, ("train", "loss"): 0.0}}

    found = judged(f"test: count, where: {{condition: T250, variant: tgu}}, {gap}, at_least: 0", gapped)
    assert "a ratio to loss on train, which is 0" in found.reason


def test_a_count_has_the_slack_of_rounding():
    assert rules.counted([0.8], equals=0.7, tolerance=0.1).holds == "yes"
    assert rules.counted([0.8001], equals=0.7, tolerance=0.1).holds == "no"
