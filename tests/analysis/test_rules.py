"""Each rule answers yes, no and unclear where it should, on numbers worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensor_rnns.analysis import rules

FIVE = [8.60, 8.62, 8.64, 8.66, 8.68]
# mean 8.64, s = 0.031623, half of the prediction interval 0.096177, half of the mean's interval 0.039265


@pytest.mark.parametrize(
    ("paper", "tol", "holds"),
    [
        (8.70, 0.10, "yes"),  # inside P, P narrower than tol
        (8.70, 0.0992, "yes"),  # inside P, P narrower than tol
        (8.66, 0.06, "yes"),  # P wider than tol, but 0.02 + 0.039 within it
        (8.70, 0.06, "unclear"),  # inside P, too wide, too far
        (8.74, 0.05, "no"),  # outside P and further than tol
        (8.74, 0.11, "unclear"),  # outside P but within tol
        (8.74, 0.15, "yes"),  # outside P, 0.1 + 0.039 within tol
        (8.54, 0.05, "no"),
    ],
)
def test_value_rule_by_hand(paper, tol, holds):
    found = rules.value(FIVE, paper, tol)
    assert found.holds == holds
    assert (found.low, found.high) == pytest.approx((8.64 - 0.096177, 8.64 + 0.096177), abs=1e-5)


def test_more_runs_of_the_paper_narrow_the_prediction():
    assert rules.value(FIVE, 8.70, 0.06, runs=1).holds == "unclear"
    found = rules.value(FIVE, 8.70, 0.03, runs=5)
    assert found.holds == "no"
    assert found.high == pytest.approx(8.64 + 0.096177 * math.sqrt(0.4 / 1.2), abs=1e-5)


def test_undecided_values_say_how_many_seeds_would_do():
    found = rules.value(FIVE, 8.66, 0.05)
    assert found.holds == "unclear"
    needed = int("".join(filter(str.isdigit, found.reasons[0])))
    s = 0.0316228

    def decided(n):
        from scipy import stats

        return 0.02 + stats.t.ppf(0.975, n - 1) * s / math.sqrt(n) <= 0.05

    assert decided(needed)
    assert not decided(needed - 1)


def test_no_number_of_seeds_decides_within_the_scatter_of_one_run():
    found = rules.value([0.0, 1.0, 2.0, 3.0, 4.0], 3.0, 0.5)
    assert found.reasons == ("no number of seeds decides at this difference",)


def test_one_seed_gives_a_number_and_no_answer():
    for found in (rules.value([8.6], 8.6, 0.1), rules.below([-5.0]), rules.slope([3.0], "up")):
        assert found.holds == "unclear"
        assert found.ours is not None
        assert found.low is None
        assert not found.could_fail


def test_exact_numbers_need_no_seeds():
    assert rules.value([0.75], 0.75, 0.0, exact=True).holds == "yes"
    assert rules.value([1 / 6], 0.1767, 0.001, exact=True).holds == "no"
    assert rules.below([-1.0], exact=True).holds == "yes"
    assert rules.below([0.0], exact=True).holds == "no"


def test_a_mean_that_is_infinite_decides_nothing():
    assert rules.value([400.0, math.inf, 500.0], 450.0, 100).holds == "unclear"


def test_below_by_hand():
    differences = [-1.0, -2.0, -3.0]  # mean -2, half of the interval 4.302653 / sqrt(3) = 2.484138
    assert rules.below(differences).holds == "unclear"
    assert rules.below(differences, limit=0.5).holds == "yes"
    assert rules.below(differences, limit=-4.5).holds == "no"
    assert rules.below(differences).high == pytest.approx(0.484138, abs=1e-6)


def test_ties_need_the_whole_interval():
    assert rules.below([0.01, -0.02, 0.03, 0.0], tie=0.08).holds == "yes"
    assert rules.below([0.01, -0.02, 0.03, 0.0], tie=0.02).holds == "unclear"
    assert rules.below([0.31, 0.28, 0.33, 0.3], tie=0.08).holds == "no"


def test_neither_side_getting_there_is_unclear():
    assert rules.below([0.0, 0.0, 0.0], censored=True).holds == "unclear"
    assert rules.below([0.0, 0.0, 0.0]).holds == "no"
    assert rules.below([-700.0] * 3).holds == "yes"


def test_slope_has_a_direction():
    rising = [0.9, 1.1, 1.0, 1.2]
    up, down = rules.slope(rising, "up"), rules.slope(rising, "down")
    assert (up.holds, down.holds) == ("yes", "no")
    assert up.ours == down.ours == pytest.approx(1.05)
    assert 0 < up.low < 1.05 < up.high


@pytest.mark.parametrize(
    ("successes", "n", "at_most", "holds"),
    [
        (5, 5, None, "yes"),  # lower bound 0.549
        (4, 4, None, "unclear"),  # 0.473
        (4, 5, None, "unclear"),
        (9, 10, None, "yes"),  # 0.606
        (0, 5, None, "no"),  # upper bound 0.451
        (0, 4, None, "unclear"),
        (0, 5, 0.0, "yes"),
        (0, 4, 0.0, "unclear"),
        (1, 50, 0.0, "no"),
        (1, 20, 0.1, "yes"),
    ],
)
def test_solved_by_hand(successes, n, at_most, holds):
    found = rules.solved(successes, n, at_most=at_most)
    assert found.holds == holds
    assert found.ours == successes / n


def test_a_count_shows_the_worst():
    assert rules.counted([193, 193], equals=193).holds == "yes"
    found = rules.counted([193, 257, 190], equals=193)
    assert (found.holds, found.ours) == ("no", 257)
    assert rules.counted([54.4], equals=54, tolerance=0.5).holds == "yes"
    assert rules.counted([1, 49], within=[1, 49]).holds == "yes"
    assert rules.counted([0], within=[1, 49]).holds == "no"
    assert rules.counted([4], at_least=4, at_most=6).holds == "yes"
    assert rules.counted([math.nan], at_least=4).holds == "no"


def test_an_identity_holds_to_its_tolerance():
    assert rules.identity([1e-15, -2e-13], 1e-12).holds == "yes"
    assert rules.identity([1e-15, -2e-11], 1e-12).holds == "no"
    assert rules.identity([math.nan], 1e-12).holds == "no"
    assert rules.identity([], 1e-12).holds == "no"


def test_a_misprint_must_fail_and_its_correction_hold():
    found = rules.identity([1e-15], 1e-12, printed=[0.5])
    assert found.holds == "no"
    assert found.reasons == ("as printed it fails, as corrected it holds",)
    assert rules.identity([1e-15], 1e-12, printed=[1e-14]).holds == "yes"
    assert rules.identity([0.1], 1e-12, printed=[0.5]).holds == "unclear"


def test_too_few_seeds_could_not_have_come_out_red():
    assert not rules.value([1.0, 2.0], 1.5, 0.1).could_fail
    assert rules.value([1.0, 2.0, 3.0, 2.0, 1.0], 1.5, 0.1).could_fail
    assert not rules.below([-1.0, -2.0]).could_fail
    assert rules.below([-1.0, -2.0, -1.5]).could_fail
    assert not rules.solved(4, 4).could_fail
    assert rules.solved(5, 5).could_fail


@given(
    st.lists(st.integers(-99, 99), min_size=2, max_size=7),
    st.integers(-99, 99),
    st.integers(1, 60),
    st.integers(-500, 500),
)
def test_a_shift_of_both_sides_changes_no_value_verdict(values, paper, tol, shift):
    first = rules.value([one / 8 for one in values], paper / 8, tol / 8 + 1 / 16)
    moved = rules.value([one / 8 + shift for one in values], paper / 8 + shift, tol / 8 + 1 / 16)
    assert first.holds == moved.holds


@given(st.lists(st.integers(-99, 99), min_size=2, max_size=7), st.integers(-50, 50))
def test_reversing_an_order_swaps_yes_and_no(differences, limit):
    forward = rules.below(differences, limit + 0.5).holds
    backward = rules.below([-one for one in differences], -limit - 0.5).holds
    assert {forward, backward} in ({"yes", "no"}, {"unclear"})
