"""Every measure gives the answer known by hand, on curves with another spacing than their width."""

import subprocess
import sys

import numpy as np
import pytest

from tensor_rnns.analysis.measures import FUNCTIONS, arguments, measure_of
from tensor_rnns.analysis.runs import MissingValue, Run, running_series

FALL = [8.0, 6.0, 4.0, 2.0, 1.0, 3.0]


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ({"name": "final"}, 3.0),
        ({"name": "final", "width": 20}, 2.0),
        ({"name": "final", "share": 0.5}, 2.0),
        ({"name": "at", "update": 35}, 4.0),
        ({"name": "running", "width": 20}, 2.0),
        ({"name": "running", "width": 30, "at": 45}, 4.0),
        ({"name": "first_below", "threshold": 4.0}, 40.0),
        ({"name": "first_below", "threshold": 4.0, "width": 30}, 50.0),
        ({"name": "first_below", "threshold": 0.5}, np.inf),
        ({"name": "first_above", "threshold": 7.0, "of": "loss", "split": "train"}, 10.0),
        ({"name": "drop", "above": 5.0, "below": 1.5}, 1.5),
        ({"name": "drop", "above": 5.0, "below": 0.5}, np.inf),
        ({"name": "reached", "threshold": 3.5}, 1.0),
        ({"name": "reached", "threshold": 3.0}, 0.0),
        ({"name": "minimum"}, 1.0),
        ({"name": "minimum", "width": 20, "until": 40}, 3.0),
        ({"name": "maximum", "of": "loss", "split": "train", "width": 30}, 6.0),
        ({"name": "best_valid", "split": "train"}, 1.0),
        ({"name": "best_valid", "split": "train", "best": "highest"}, 8.0),
        ({"name": "when_lowest", "split": "train"}, 50.0),
        ({"name": "when_lowest", "split": "train", "width": 20}, 50.0),
        ({"name": "rise", "split": "train"}, 2.0),
        ({"name": "roughness", "of": "loss", "split": "train"}, 9 / 5),
        ({"name": "roughness", "of": "loss", "split": "train", "start": 40}, 1.5),
        ({"name": "largest_fall", "of": "loss", "split": "train"}, 2.0),
        ({"name": "largest_fall", "of": "loss", "split": "train", "start": 40}, 1.0),
        ({"name": "largest_fall", "of": "loss", "split": "train", "start": 50}, 0.0),
        ({"name": "spikes", "split": "train"}, 1.0),
        ({"name": "spikes", "split": "train", "factor": 3.0}, 0.0),
        ({"name": "spikes", "split": "train", "start": 70}, 0.0),
        ({"name": "final", "per": {"name": "minimum", "width": 20}}, 2.0),
    ],
)
def test_measures_of_a_curve(run_of, block, expected):
    assert measure_of(block, run_of(FALL, spacing=10)) == pytest.approx(expected, rel=1e-12)


def test_spikes_are_counted_from_their_own_start_against_all_before(run_of):
    """5 and 9 lie above twice the 2 before them, 4 does not; the 2 counts from a later start, too."""
    run = run_of([6.0, 2.0, 5.0, 4.0, 9.0, 3.9], spacing=10)
    counts = [measure_of({"name": "spikes", "split": "train", "start": at}, run) for at in (0, 40, 60)]
    assert counts == [2, 1, 0]


def test_spikes_at_or_below_a_level_do_not_count(run_of):
    """6, 5 and 0.5 exceed twice the 2, 1 and 0.1 before them; the level itself is not above."""
    run = run_of([2.0, 6.0, 1.0, 5.0, 0.1, 0.5], spacing=10)
    counts = [
        measure_of({"name": "spikes", "split": "train", "above": at}, run) for at in (0.0, 0.5, 5.0, 6.0)
    ]
    assert counts == [3, 2, 1, 0]


@pytest.mark.parametrize("above", [-0.1, float("nan"), float("inf")])
def test_a_level_of_spikes_is_finite_and_at_least_zero(run_of, above):
    with pytest.raises(ValueError, match="above"):
        measure_of({"name": "spikes", "split": "train", "above": above}, run_of([1.0, 3.0]))


def test_running_mean_spans_updates_whatever_the_spacing():
    values = np.arange(1.0, 8.0)
    updates, means = running_series(np.arange(5, 40, 5), values, 10)
    assert updates.tolist() == [10, 15, 20, 25, 30, 35]
    assert means.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]
    updates, means = running_series(np.arange(7), values, 3)
    assert updates.tolist() == [2, 3, 4, 5, 6]
    assert means.tolist() == [2, 3, 4, 5, 6]


def test_a_curve_shorter_than_the_width_has_one_mean():
    updates, means = running_series(np.arange(1, 5), np.array([1.0, 2.0, 3.0, 6.0]), 100)
    assert updates.tolist() == [4]
    assert means.tolist() == [3.0]


def test_a_huge_start_does_not_blur_later_means():
    means = running_series(np.arange(1, 6), np.array([1e28, 1.0, 2.0, 3.0, 4.0]), 2)[1]
    assert means[1:].tolist() == [1.5, 2.5, 3.5]


def test_a_failed_run_answers_with_its_last_finite_value(run_of):
    run = run_of([5.0, 4.0, np.inf, np.nan], status="failed", settings={"training": {"updates": 50}})
    assert measure_of({"name": "final"}, run) == 4.0
    assert measure_of({"name": "at", "update": 40}, run) == 4.0
    assert measure_of({"name": "metric"}, run) == 4.0
    assert measure_of({"name": "reached", "threshold": 9.0}, run) == 0.0
    assert run.budget == 50


def test_short_counts_a_failed_run(run_of):
    block = {"name": "short", "threshold": 0.4}
    for value, expected in ((0.39, 1.0), (0.4, 0.0)):
        assert measure_of(block, run_of(FALL, metrics={("test", "accuracy"): value})) == expected
    assert measure_of(block, run_of(FALL, status="failed")) == 1.0
    with pytest.raises(MissingValue, match="no accuracy on test"):
        measure_of(block, run_of(FALL))


def test_numbers_that_are_not_curves(run_of):
    table = {("cp", "size"): np.array([30.0]), ("tt", "size"): np.array([3.0, 9.0, -6.0])}
    run = Run(
        {"seed": 0, "dataset": "jsb"},
        parameters=193,
        seconds_per_update=0.5,
        settings={"cell": {"rank": 4}},
        metrics={("test", "nll"): 8.5, ("train", "nll"): 8.0, ("none", "baseline"): 0.25},
        load_computed=lambda: table,
        load_probe=lambda name: table if name == "gates" else {},
        load_facts=lambda: {"range": {"notes": 54}},
    )
    expected = [
        ({"name": "parameters"}, 193),
        ({"name": "seconds"}, 0.5),
        ({"name": "baseline"}, 0.25),
        ({"name": "fact", "of": "range.notes"}, 54),
        ({"name": "setting", "key": "cell.rank"}, 4),
        ({"name": "metric", "split": "test", "of": "nll"}, 8.5),
        ({"name": "final", "split": "test", "of": "nll"}, 8.5),
        ({"name": "gap", "split": "test", "of": "nll"}, 0.5),
        ({"name": "gap", "split": "test", "of": "nll", "kind": "ratio"}, 1.0625),
        ({"name": "computed", "item": "cp", "value": "size"}, 30),
        ({"name": "computed", "item": "tt", "value": "size", "index": 1}, 9),
        ({"name": "probe", "probe": "gates", "item": "tt", "value": "size", "index": 2}, -6),
        ({"name": "probe", "probe": "gates", "item": "tt", "value": "size", "index": 2, "absolute": True}, 6),
    ]
    for block, value in expected:
        assert measure_of(block, run) == value, block
    with pytest.raises(ValueError, match="3 positions"):
        measure_of({"name": "computed", "item": "tt", "value": "size"}, run)
    with pytest.raises(MissingValue, match="no depth of cp"):
        measure_of({"name": "computed", "item": "cp", "value": "depth"}, run)


def test_spread_is_the_distance_from_the_median_of_the_peers(run_of):
    peers = [run_of([0.0, value]) for value in (1.0, 2.0, 10.0)]
    for run, distance in zip(peers, (1.0, 0.0, 8.0), strict=True):
        run.load_peers = lambda: peers
        assert measure_of({"name": "spread", "update": 2}, run) == distance


def test_a_threshold_may_count_baselines(run_of):
    run = run_of(FALL, spacing=10, metrics={("none", "baseline"): 5.0})
    assert measure_of({"name": "first_below", "threshold": 0.9, "unit": "baseline"}, run) == 30
    assert measure_of({"name": "first_below", "threshold": 0.9, "unit": "one"}, run) == np.inf
    with pytest.raises(ValueError, match="unit is 'nat'; allowed are baseline, one"):
        measure_of({"name": "first_below", "threshold": 1, "unit": "nat"}, run)
    with pytest.raises(MissingValue, match="baseline"):
        measure_of({"name": "first_below", "threshold": 1, "unit": "baseline"}, run_of(FALL))


def test_what_is_absent_is_missing_and_what_is_misspelt_is_an_error(run_of):
    run = run_of(FALL)
    with pytest.raises(MissingValue, match=r"no curve of loss on valid; recorded are \['loss on train'\]"):
        measure_of({"name": "rise"}, run)
    with pytest.raises(MissingValue, match="update 7"):
        measure_of({"name": "at", "update": 7}, run)
    with pytest.raises(ValueError, match="has no key 'treshold'; did you mean 'threshold'"):
        measure_of({"name": "first_below", "treshold": 1}, run)
    with pytest.raises(ValueError, match="unknown measure 'last'"):
        measure_of({"name": "last"}, run)
    with pytest.raises(ValueError, match="first_below needs the key 'threshold'"):
        measure_of({"name": "first_below"}, run)


def test_arguments_are_listed_without_heavy_imports():
    assert arguments("first_below") == {
        "threshold": True, "width": False, "of": False, "split": False, "unit": False, "per": False
    }  # fmt: skip
    assert all(function.__doc__ for function in FUNCTIONS.values())
    code = "import sys, tensor_rnns.analysis.measures; print({'pandas', 'scipy', 'torch'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
