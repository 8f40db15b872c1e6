"""Scores, profiles and probabilities of improvement, by hand and against scipy."""

import numpy as np
import pytest
from scipy import stats

from tensor_rnns.analysis.comparison import RESAMPLES, Comparison, loss_of, wins
from tensor_rnns.analysis.runs import Run

LOSS = {"name": "metric", "of": "loss", "split": "test"}
LOSSES = {
    "first": {"none": [10.0, 12.0, 8.0], "good": [2.0, 4.0, 3.0], "odd": [4.0, np.inf, 10.0]},
    "second": {"none": [1.0, 1.0], "good": [0.9, 0.6]},
    "third": {"none": [5.0, 6.0], "odd": [7.0, 8.0]},
}


@pytest.fixture
def comparison() -> Comparison:
    """Three tasks; the last two are without one model each, and on the third nothing beats `none`."""
    return Comparison(
        {task: {model: np.array(loss) for model, loss in found.items()} for task, found in LOSSES.items()}
    )


def test_a_score_is_0_at_the_median_of_the_zero_model_and_1_at_the_best_median(comparison):
    assert comparison.scored("none") == {"first": (10.0, 3.0), "second": (1.0, 0.75)}


def test_a_zero_model_that_failed_gives_no_score(comparison):
    comparison.losses["first"]["none"][:2] = np.inf
    assert comparison.scored("none").keys() == {"second"}


def test_a_lead_within_the_scatter_of_the_seeds_gives_no_score(comparison):
    """`good` has the lower median, but in a quarter of resamples it is drawn as two runs that tie."""
    comparison.losses["second"]["good"][:] = 1.0, 0.5
    assert not comparison.ahead("second", "good", "none")
    assert comparison.ahead("first", "good", "none")
    assert comparison.scored("none").keys() == {"first"}


def test_profiles_are_means_of_the_shares_of_each_task(comparison):
    """Scores of `good`: 8/7, 6/7, 1 and 0.4, 1.6. Of `odd`, on the first task alone: 6/7, -infinity, 0."""
    levels = [-3.0, 0.0, 0.5, 1.0, 1.5]
    share, low, high = comparison.profile("good", "none", levels)
    assert share == pytest.approx([1, 1, (1 + 1 / 2) / 2, (2 / 3 + 1 / 2) / 2, (0 + 1 / 2) / 2])
    assert (low <= share).all()
    assert (share <= high).all()
    assert low[2] < share[2] < high[2]
    assert comparison.profile("odd", "none", levels)[0] == pytest.approx([2 / 3, 2 / 3, 1 / 3, 0, 0])
    assert Comparison({"third": comparison.losses["third"]}).profile("odd", "none", levels) is None


def test_the_probability_of_improvement_by_hand(comparison):
    """Good against none: 9 of 9 pairs, and 4 of 4. Odd against none: 4 beats all three, infinity
    none, 10 beats 12 and ties with 10; on the third task none. Good and odd meet on the first alone."""
    assert comparison.improvement("good", ["none"])[0] == pytest.approx(1)
    assert comparison.improvement("odd", ["none"])[0] == pytest.approx((4.5 / 9 + 0) / 2)
    assert comparison.improvement("good", ["odd"])[0] == pytest.approx(8.5 / 9)
    both = comparison.improvement("good", comparison.models)
    assert both[0] == pytest.approx((1 + 8.5 / 9) / 2)
    assert both[1] <= both[0] <= both[2]
    assert np.isnan(comparison.improvement("good", ["good"])).all()


@pytest.mark.parametrize("sizes", [(5, 5), (3, 7)])
def test_wins_are_the_u_of_mann_and_whitney(sizes):
    """scipy counts pairs of which the first is larger; ties and failed runs are among them."""
    rng = np.random.default_rng(sizes[0])
    x, y = (rng.integers(0, 6, size).astype(float) for size in sizes)
    x[0] = y[0] = np.inf
    u = stats.mannwhitneyu(y, x, method="asymptotic").statistic
    assert wins(x, y) == pytest.approx(u / (len(x) * len(y)))


def test_intervals_are_those_of_scipys_bootstrap():
    """Each sample is drawn anew by itself; within the error of some thousand resamples."""
    rng = np.random.default_rng(4)
    losses = {task: {"x": rng.normal(0, 1, 9), "y": rng.normal(0.6, 1, 11)} for task in "abc"}
    found = Comparison(losses).improvement("x", ["y"])
    samples = [losses[task]["x"] for task in "abc"] + [losses[task]["y"] for task in "abc"]

    def statistic(*drawn, axis=-1):
        return np.mean([wins(x, y) for x, y in zip(drawn[:3], drawn[3:], strict=True)], axis=0)

    theirs = stats.bootstrap(
        samples, statistic, vectorized=True, paired=False, method="percentile", n_resamples=4 * RESAMPLES,
        rng=np.random.default_rng(7), batch=500,
    ).confidence_interval  # fmt: skip
    assert found[1:] == pytest.approx((theirs.low, theirs.high), abs=0.015)


def test_equal_losses_give_equal_intervals():
    losses = {"a": {"x": np.array([1.0, 2, 3]), "y": np.array([2.5, 1.5, 4])}}
    assert Comparison(losses).improvement("x", "y") == Comparison(losses).improvement("x", "y")


def test_failed_runs_and_runs_without_a_number_are_worst():
    """A run that diverged has a last finite value, which does not count here."""
    done = Run({}, metrics={("test", "loss"): 0.25})
    assert loss_of(done, LOSS) == 0.25
    assert loss_of(Run({}, "failed", metrics={("test", "loss"): 0.25}), LOSS) == np.inf
    assert loss_of(Run({}, metrics={("test", "loss"): np.nan}), LOSS) == np.inf
    assert loss_of(Run({}), LOSS) == np.inf


def test_no_interval_is_given_of_fewer_than_five_seeds():
    for seeds, certain in ((4, False), (5, True)):
        losses = {"t": {"x": np.arange(7.0), "y": np.arange(float(seeds))}}
        assert Comparison(losses).certain == certain
