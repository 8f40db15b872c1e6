"""Intervals and adjusted p values agree with tables, with scipy's and statsmodels' own, and with symmetry."""

import math
from unittest import mock

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
    low, high, _ = intervals.of_mean(numbers, False, False)
    assert (low, high) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_prediction_interval_by_hand():
    found = rules.value([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, 9.0)
    half = 2.7764451 * math.sqrt(2.5) * math.sqrt(1 + 1 / 5)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-7)
    found = rules.value([1.0, 2.0, 3.0, 4.0, 5.0], 3.0, 9.0, runs=4)
    half = 2.7764451 * math.sqrt(2.5) * math.sqrt(1 / 4 + 1 / 5)
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half), rel=1e-7)


def test_clopper_pearson_by_closed_forms():
    assert intervals.clopper_pearson(5, 5) == pytest.approx((0.05 ** (1 / 5), 1.0))
    assert intervals.clopper_pearson(0, 7) == pytest.approx((0.0, 1 - 0.05 ** (1 / 7)))
    low, high = intervals.clopper_pearson(3, 8)
    assert stats.binom.sf(2, 8, low) == pytest.approx(0.05)
    assert stats.binom.cdf(3, 8, high) == pytest.approx(0.05)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 1000).map(lambda i: i / 1000), min_size=1, max_size=12))
def test_holm_is_statsmodels(p_values):
    with mock.patch("gc.collect"):  # it collects garbage at each call, half a second in a large heap
        expected = multipletests(p_values, method="holm")[1]
    assert intervals.holm(p_values) == pytest.approx(expected, abs=1e-15)


def test_holm_of_no_number_is_none():
    assert intervals.holm([0.2, math.nan, 0.01]) == pytest.approx([0.4, math.nan, 0.03], nan_ok=True)


FIRST, SECOND = [3.1, 4.4, 2.7, 3.9], [5.0, 9.5, 4.1, 6.6, 8.2, 7.3]


def test_contrast_of_two_samples_is_scipys_welch():
    found = intervals.contrast([FIRST, SECOND], [1.0, -1.0])
    expected = stats.ttest_ind(FIRST, SECOND, equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert (found.mean - found.half(), found.mean + found.half()) == pytest.approx(tuple(ends), rel=1e-12)
    assert found.freedom == pytest.approx(expected.df, rel=1e-12)
    assert found.p(0.0) == pytest.approx(expected.pvalue, rel=1e-10)


def test_contrast_of_one_sample_is_scipys_t():
    found, expected = intervals.contrast([FIRST], [1.0]), stats.ttest_1samp(FIRST, 0.5)
    assert found.p(0.5) == pytest.approx(expected.pvalue, rel=1e-10)
    ends = tuple(expected.confidence_interval(0.95))
    assert (found.mean - found.half(), found.mean + found.half()) == pytest.approx(ends, rel=1e-12)


def test_contrast_takes_rows_of_draws():
    draws = np.random.Generator(np.random.Philox(5)).normal(size=(7, 3, 4))
    found = intervals.contrast([draws[:, 0], draws[:, 1, :3], draws[:, 2]], [2.0, -3.0, 1.0])
    for row in range(7):
        one = intervals.contrast([draws[row, 0], draws[row, 1, :3], draws[row, 2]], [2.0, -3.0, 1.0])
        assert (found.mean[row], found.half()[row]) == pytest.approx((one.mean, one.half()), rel=1e-12)


def test_slope_weights_are_least_squares():
    values = [0.0, 1.0, -3.0]
    assert intervals.slope_weights([1, 2, 4]) @ values == pytest.approx(np.polyfit([1, 2, 4], values, 1)[0])


def test_interval_of_a_single_seed_is_open_and_more_seeds_narrow_it():
    assert intervals.contrast([[2.0], SECOND], [1.0, -1.0]).half() == math.inf
    found = intervals.contrast([FIRST], [1.0])
    assert found.half(4) == found.half()
    expected = stats.t.ppf(0.975, 15) * np.std(FIRST, ddof=1) / 4
    assert found.half(16) == pytest.approx(expected, rel=1e-12)


def test_equal_seeds_are_told_apart_by_fisher():
    """Of 252 ways to deal ten seeds to two sides of five two part them so, of 35 to sides of 3 and 4 one."""
    assert intervals.contrast([[1.0] * 5], [1.0]).p(0.0) == pytest.approx(2 / math.comb(10, 5))
    assert intervals.contrast([[1.0] * 5], [1.0]).p(1.0) == 1.0
    sides = intervals.contrast([[1.0] * 3, [0.0] * 4], [1.0, -1.0])
    assert (sides.error, sides.p(0.0)) == (0.0, pytest.approx(1 / math.comb(7, 3), rel=1e-9))
    assert intervals.p_of_shares((0, 5), (1, 2)) == pytest.approx(2 / 7)


@given(values, st.integers(-500, 500))
def test_an_interval_moves_with_its_values(numbers, shift):
    low, high, _ = intervals.of_mean(numbers, False, False)
    moved = intervals.of_mean([number + shift for number in numbers], False, False)
    assert moved[:2] == pytest.approx((low + shift, high + shift), abs=1e-7)


def test_seeds_to_decide_finds_the_first():
    assert intervals.seeds_to_decide(lambda n: n >= 17) == 17
    assert intervals.seeds_to_decide(lambda n: False) is None


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
