"""Each rule answers yes, no and unclear where it should, on numbers worked out by hand."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tensor_rnns.analysis import intervals, joint, rules

FIVE = [8.60, 8.62, 8.64, 8.66, 8.68]
# mean 8.64, s = 0.031623, half of the prediction interval 0.096177, half of the mean's interval 0.039265


def below(differences, limit=0.0, tie=None, exact=False):
    """The rule on differences of pairs."""
    return rules.below(intervals.contrast([differences], [1.0]), limit, tie, exact)


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
    for found in (
        rules.value([8.6], 8.6, 0.1),
        below([-5.0]),
        rules.slope(intervals.contrast([[3.0]], [1.0]), "up"),
    ):
        assert found.holds == "unclear"
        assert found.ours is not None
        assert found.low is None


def test_two_seeds_are_enough_for_an_interval():
    """m = 8.65, s = 0.070711, t = 12.706: half of P is 1.10038, half of the mean's interval 0.63531."""
    found = rules.value([8.6, 8.7], 8.75, 0.75)
    assert found.holds == "yes"
    assert (found.low, found.high) == pytest.approx((8.65 - 1.10038, 8.65 + 1.10038), abs=1e-4)


def test_exact_numbers_need_no_seeds():
    assert rules.value([0.75], 0.75, 0.0, exact=True).holds == "yes"
    assert rules.value([1 / 6], 0.1767, 0.001, exact=True).holds == "no"
    assert below([-1.0], exact=True).holds == "yes"
    assert below([0.0], exact=True).holds == "no"
    # 3 against 2 x 1.5 and 2 x 10^6 against 10^6, in logarithms that are a rounding off.
    assert below([math.log(3) - math.log(2 * 1.5) - 1e-16], exact=True).holds == "no"
    assert below([math.log(2_000_000) - math.log(1_000_000)], tie=math.log(2), exact=True).holds == "yes"


def test_a_mean_that_is_infinite_decides_nothing():
    assert rules.value([400.0, math.inf, 500.0], 450.0, 100).holds == "unclear"


def test_below_by_hand():
    differences = [-1.0, -2.0, -3.0]  # mean -2, half of the interval 4.302653 / sqrt(3) = 2.484138
    assert below(differences).holds == "unclear"
    assert below(differences, limit=0.5).holds == "yes"
    assert below(differences, limit=-4.5).holds == "no"
    assert below(differences).high == pytest.approx(0.484138, abs=1e-6)


def test_ties_need_the_whole_interval():
    assert below([0.01, -0.02, 0.03, 0.0], tie=0.08).holds == "yes"
    assert below([0.01, -0.02, 0.03, 0.0], tie=0.02).holds == "unclear"
    assert below([0.31, 0.28, 0.33, 0.3], tie=0.08).holds == "no"


def test_slope_has_a_direction():
    rising = [0.9, 1.1, 1.0, 1.2]
    up, down = (rules.slope(intervals.contrast([rising], [1.0]), way) for way in ("up", "down"))
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


@pytest.mark.parametrize("at_most", [None, 0.0])
@pytest.mark.parametrize(
    ("n", "paper", "said"),
    [(5, (1, 1), True), (18, (1, 1), True), (19, (1, 1), False), (5, None, False), (5, (5, 5), False)],
)
def test_a_yes_says_that_no_outcome_could_have_been_a_no(n, paper, said, at_most):
    """Nineteen seeds are the fewest of which none, or all, tell our share from one run of the document's."""
    passed, other = (n, 0) if at_most is None else (0, n)
    paper = paper if at_most is None or paper is None else (0, paper[1])
    found = rules.solved(passed, n, at_most=at_most, paper=paper)
    assert found.holds == "yes"
    assert any(map(rules.is_irrefutable, found.reasons)) == said
    assert [*map(rules.seeds_that_decide, found.reasons)] == [19] * said
    assert rules.solved(other, n, at_most=at_most, paper=paper).holds == ("unclear" if said else "no")


def test_a_count_shows_the_worst():
    assert rules.counted([193, 193], equals=193).holds == "yes"
    found = rules.counted([193, 257, 190], equals=193)
    assert (found.holds, found.ours) == ("no", 257)
    assert rules.counted([54.4], equals=54, tolerance=0.5).holds == "yes"
    assert rules.counted([1, 49], within=[1, 49]).holds == "yes"
    assert rules.counted([0], within=[1, 49]).holds == "no"
    assert rules.counted([4], at_least=4, at_most=6).holds == "yes"
    assert rules.counted([math.nan], at_least=4).holds == "no"


@pytest.mark.parametrize(
    ("limits", "worst", "holds"),
    [
        ({"at_least": 1.0}, 0.5, "no"),
        ({"at_most": 4.0}, 5.0, "no"),
        ({"at_least": 0.5, "at_most": 5.0}, 0.5, "yes"),
        ({"within": (0.6, 9.0)}, 0.5, "no"),
        ({"equals": 2.0, "tolerance": 1.5}, 5.0, "no"),
    ],
)
def test_one_count_beyond_a_limit_is_enough_for_a_no(limits, worst, holds):
    """Of several values the one that is furthest out is shown and decides, on either side."""
    found = rules.counted([3.0, 0.5, 5.0], **limits)
    assert (found.holds, found.ours) == (holds, worst)


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


def test_equal_seeds_are_not_certain():
    """Five equal seeds say what most runs do, nineteen what nineteen of twenty do."""
    assert rules.value([0.75] * 5, 0.76, 0.02).holds == "yes"
    assert rules.value([0.75] * 4, 0.76, 0.02).holds == "unclear"
    assert [rules.value([0.75] * n, 0.8, 0.02).holds for n in (5, 18, 19)] == ["unclear", "unclear", "no"]
    assert [below([-1.0] * n).holds for n in (2, 3, 4, 5)] == ["unclear", "unclear", "yes", "yes"]
    assert below([1.0] * 5).holds == "no"
    assert below([0.0] * 9).holds == "unclear"
    assert below([0.0] * 5, tie=0.1).holds == "yes"
    assert below([0.0] * 4, tie=0.1).holds == "unclear"


def test_runs_of_the_paper_count_in_solves():
    """None of five against one of two is p = 2/7; none of nineteen refutes a single run that did."""
    assert rules.solved(0, 5).holds == "no"
    found = rules.solved(0, 5, paper=(1, 2))
    assert found.holds == "unclear"
    assert found.reasons[0] == "against 1 of 2 of the document's runs p = 0.29"
    assert [rules.solved(0, n, paper=(1, 1)).holds for n in (18, 19)] == ["unclear", "no"]
    assert rules.solved(0, 5, paper=(3, 3)).holds == "no"
    assert rules.solved(4, 4, at_most=0.0, paper=(0, 1)).holds == "unclear"
    assert rules.solved(5, 5, paper=(1, 2)).holds == "yes"


def test_the_scatter_of_the_choice_widens_a_value():
    """Mean 8.64, s = 0.031623; the choices scatter by 0.05, so that P has 4.1 degrees of freedom."""
    assert rules.value(FIVE, 8.74, 0.05).holds == "no"
    chosen = [8.60, 8.65, 8.70]
    found = rules.value(FIVE, 8.74, 0.05, selection=chosen)
    assert found.holds == "unclear"
    first, second = 0.001 * 1.2, 0.0025 * 4 / 3
    freedom = (first + second) ** 2 / (first**2 / 4 + second**2 / 2)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(first + second)
    assert found.high == pytest.approx(8.64 + half, rel=1e-9)
    assert rules.value(FIVE, 9.64, 0.05, selection=chosen).holds == "no"
    assert rules.value(FIVE, 8.74, 0.05, selection=[8.6] * 3).holds == "no"
    # The mean's own interval is widened by the choices alone, not by one more of them.
    first, second = 0.001 / 5, 0.0025 / 3
    freedom = (first + second) ** 2 / (first**2 / 4 + second**2 / 2)
    half = stats.t.ppf(0.975, freedom) * math.sqrt(first + second)
    for share, holds in ((1.001, "yes"), (0.999, "unclear")):
        assert rules.value(FIVE, 8.70, 0.06 + half * share, selection=chosen).holds == holds


def test_a_choice_of_one_search_decides_only_what_is_far():
    """Three times 0.096177 is 0.2885."""
    assert rules.value(FIVE, 8.65, 0.10).holds == "yes"
    near, off, far = (rules.value(FIVE, paper, 0.10, selection=[8.6]) for paper in (8.65, 8.92, 8.93))
    assert [near.holds, off.holds, far.holds] == ["unclear", "unclear", "no"]
    assert near.reasons[0].endswith("how far the search's choice scatters; it has 1")
    assert far.margin == pytest.approx(0.29 / 0.096177 - 3, abs=1e-3)
    assert far.doubt == far.p > 0
    wide = [rules.value(FIVE, paper, 0.5, selection=[8.6]).holds for paper in (9.04, 9.15)]
    assert wide == ["unclear", "no"]


@pytest.mark.parametrize(
    ("found", "margin"),
    [
        (rules.value(FIVE, 8.70, 0.10), 1 - 0.06 / 0.096177),
        (rules.value(FIVE, 8.74, 0.05), 1 - 0.1 / 0.096177),
        (rules.value(FIVE, 8.65, 0.02), 1 - 0.01 / 0.096177),  # tol less half an interval is no distance
        (rules.solved(5, 5), 1),
        (rules.solved(7, 9), 1),
        (rules.solved(0, 10), 2),
        (rules.counted([193], equals=193), None),
    ],
)
def test_the_margin_is_the_way_to_another_answer(found, margin):
    if margin is None:
        assert found.margin is None
    else:
        assert found.margin == pytest.approx(abs(margin), abs=1e-4)


def test_the_margin_of_an_order_and_a_tie():
    """Mean -2, half of the interval 2.484138."""
    found = below([-1.0, -2.0, -3.0], limit=0.5)
    assert found.margin == pytest.approx((0.5 - 0.484138) / 2.484138, abs=1e-6)
    tied = below([-1.0, -2.0, -3.0], tie=5.0)
    assert tied.margin == pytest.approx((5.0 - 4.484138) / 2.484138, abs=1e-6)


@pytest.mark.parametrize(
    ("parts", "wanted", "fewest", "holds"),
    [
        ([], None, 1, "yes"),
        ([("yes", 0.04)] * 3, None, 1, "yes"),  # all of them: nothing to adjust
        ([("yes", 0.01), ("unclear", 1.0)], None, 1, "unclear"),
        ([("no", 0.04), ("yes", 0.0), ("yes", 0.0)], None, 1, "unclear"),  # 3 x 0.04
        ([("no", 0.016), ("yes", 0.0), ("yes", 0.0)], None, 1, "no"),
        ([("no", 0.0), ("yes", 0.0), ("yes", 0.0)], None, 2, "unclear"),  # one alone
        ([("no", 0.001), ("no", 0.02), ("yes", 0.0)], None, 2, "no"),  # 2 x 0.02
        ([("no", 0.001), ("no", 0.03), ("yes", 0.0)], None, 2, "unclear"),
        ([("no", 0.0)], None, 2, "no"),  # there is but one
        ([("yes", 0.02), ("unclear", 1.0), ("unclear", 1.0)], 1, 2, "unclear"),  # 3 x 0.02
        ([("yes", 0.01), ("unclear", 1.0), ("no", 0.0)], 1, 2, "yes"),
        ([("no", 0.0), ("no", 0.0), ("unclear", 1.0)], 2, 2, "no"),
    ],
)
def test_several_together_hold_the_family_wise_error(parts, wanted, fewest, holds):
    assert joint.together(parts, wanted, fewest)[0] == holds


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
    forward = below(differences, limit + 0.5).holds
    backward = below([-one for one in differences], -limit - 0.5).holds
    assert {forward, backward} in ({"yes", "no"}, {"unclear"})


def test_what_is_against_a_value_is_its_two_sided_p():
    """Under the prediction for one more run; of an answer that is no it is what Holm's method adjusts."""
    p = 2 * stats.t.sf(0.10 / (0.0316228 * math.sqrt(1.2)), 4)
    for tol, holds, doubt in ((0.05, "no", p), (0.11, "unclear", 0.0), (0.15, "yes", 0.0)):
        found = rules.value(FIVE, 8.74, tol)
        assert (found.holds, found.p, found.doubt) == (
            holds,
            pytest.approx(p, rel=1e-4),
            pytest.approx(doubt, rel=1e-4),
        )


@pytest.mark.parametrize(("successes", "holds"), [(0, "no"), (8, "yes")])
def test_what_is_against_a_share_of_seeds_is_its_one_sided_p(successes, holds):
    """Of most seeds: 8 of 8 and none of 8."""
    found = rules.solved(successes, 8)
    assert found.holds == holds
    assert found.p == pytest.approx(stats.binomtest(successes, 8, rules.SHARE, "greater").pvalue)
    if holds == "no":
        assert found.doubt == pytest.approx(stats.binomtest(0, 8, rules.SHARE, "less").pvalue)


def test_what_is_against_a_share_of_the_documents_runs_is_the_larger_p():
    """None of 19 against the one run of the document."""
    found = rules.solved(0, 19, paper=(1, 1))
    assert (found.holds, found.doubt) == ("no", pytest.approx(intervals.p_of_shares((0, 19), (1, 1))))
    assert found.doubt > stats.binomtest(0, 19, rules.SHARE, "less").pvalue
