"""Intervals and adjusted p values agree with tables, with scipy's and statsmodels' own, and with symmetry."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tensor_rnns.analysis import intervals, rules

values = st.lists(st.integers(-1000, 1000).map(lambda i: i / 8), min_size=2, max_size=9)


def test_t_interval_is_scipys():
    numbers = [8.61, 8.7, 8.55, 8.66]
    expected = stats.ttest_1samp(numbers, 0).confidence_interval(0.95)
    assert intervals.t_interval(numbers) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_prediction_interval_by_hand():
    found = rules.value([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, 9.0)
    half = 2.7764451 * math.sqrt(2.5) * math.sqrt(1 + 1 / 5)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-7)
    found = rules.value([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, 9.0, runs=4)
    half = 2.7764451 * math.sqrt(2.5) * math.sqrt(1 / 4 + 1 / 5)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-7)


def test_one_value_has_no_interval():
    assert intervals.t_interval([3.0]) == (-math.inf, math.inf)
    assert intervals.t_p_value(1.0, 1, 0.0) is None


def test_p_value_is_scipys():
    numbers = np.array([0.3, -0.1, 0.5, 0.2, 0.9, 0.4])
    ours = intervals.t_p_value(numbers.mean(), 6, numbers.std(ddof=1))
    assert ours == pytest.approx(stats.ttest_1samp(numbers, 0).pvalue, rel=1e-10)


def test_clopper_pearson_by_closed_forms():
    assert intervals.clopper_pearson(5, 5) == pytest.approx((0.05 ** (1 / 5), 1.0))
    assert intervals.clopper_pearson(0, 7) == pytest.approx((0.0, 1 - 0.05 ** (1 / 7)))
    low, high = intervals.clopper_pearson(3, 8)
    assert stats.binom.sf(2, 8, low) == pytest.approx(0.05)
    assert stats.binom.cdf(3, 8, high) == pytest.approx(0.05)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=1, max_size=12))
def test_holm_is_statsmodels(p_values):
    expected = multipletests(p_values, method="holm")[1]
    assert intervals.holm(p_values) == pytest.approx(expected, abs=1e-15)


def test_pairs_are_by_seed():
    first, second = {0: 1.0, 1: 5.0, 3: 2.0}, {3: 1.0, 0: 4.0, 2: 9.0}
    assert intervals.paired(first, second) == {0: -3.0, 3: 1.0}


def test_slopes_are_least_squares_by_seed():
    levels = {1.0: {0: 2.0, 1: 0.0, 2: 1.0}, 2.0: {0: 4.0, 1: 1.0}, 4.0: {0: 8.0, 1: -3.0}}
    slopes = intervals.paired_slopes(levels)
    assert slopes.keys() == {0, 1}
    assert slopes[0] == pytest.approx(2.0)
    assert slopes[1] == pytest.approx(np.polyfit([1, 2, 4], [0, 1, -3], 1)[0])
    assert intervals.paired_slopes({1.0: {0: 2.0}}) == {}


@given(values, st.integers(-500, 500))
def test_an_interval_moves_with_its_values(numbers, shift):
    low, high = intervals.t_interval(numbers)
    moved = intervals.t_interval([number + shift for number in numbers])
    assert moved == pytest.approx((low + shift, high + shift), abs=1e-7)


def test_seeds_to_decide_finds_the_first():
    assert intervals.seeds_to_decide(lambda n: n >= 17) == 17
    assert intervals.seeds_to_decide(lambda n: False) is None


def test_power_of_the_t_test_by_simulation():
    draws = np.random.Generator(np.random.Philox(3)).normal(1.5, size=(20000, 4))
    seen = (stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean()
    assert intervals.t_power(4, 1.5) == pytest.approx(seen, abs=0.012)
    assert intervals.t_power(1, 9.0) == 0.0
    assert intervals.t_power(6, 1e6) == 1.0


@pytest.mark.parametrize(
    ("values", "share", "indicator", "expected"),
    [
        ([0.2, 0.4], False, False, (0.3 - 1.2706205, 0.3 + 1.2706205, intervals.MEAN)),
        ([0.2, 0.4], True, False, (0.0, 1.0, intervals.MEAN + ", cut at 0 and 1")),
        ([0.5, 0.5], True, False, (0.5, 0.5, intervals.MEAN)),
        ([1.0] * 5, True, True, (0.025 ** (1 / 5), 1.0, intervals.SHARE_OF_SEEDS)),
        ([0.5, 1.0, 1.0], True, True, (0.1162, 1.0, intervals.MEAN + ", cut at 0 and 1")),
    ],
)
def test_interval_of_a_share_stays_between_0_and_1(values, share, indicator, expected):
    """Equal seeds that each solved or not do not make the share certain."""
    low, high, name = intervals.of_mean(values, share, indicator)
    assert name == expected[2]
    assert (low, high) == pytest.approx(expected[:2], abs=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 20).map(lambda i: i / 20), min_size=2, max_size=8), st.booleans())
def test_no_interval_of_a_share_leaves_0_to_1(numbers, indicator):
    low, high, _ = intervals.of_mean(numbers, True, indicator)
    assert 0 <= low <= high <= 1
