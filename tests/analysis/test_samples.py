"""A selector takes the final runs of the main option on real data, unless it says otherwise."""

import math

import numpy as np
import pytest

from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import places, sample

FINAL = {"name": "final"}


def curve(run_of, value, seed=0, **fields):
    key = {
        "condition": "T9", "variant": "tgu", "option": "main", "stage": "final", "point": 0,
        "seed": seed, "dataset": "",
    }  # fmt: skip
    run_fields = {name: fields.pop(name) for name in ("status", "load_probe", "settings") if name in fields}
    return run_of([value], key=key | fields, **run_fields)


def test_main_is_meant_where_it_ran_else_the_only_option():
    known = [("T9", v, o) for v in ("tgu", "gru") for o in ("fast", "main", "slow")]
    assert places({"variant": "gru"}, known) == [("T9", "gru", "main")]
    assert places({"variant": "gru", "option": "slow"}, known) == [("T9", "gru", "slow")]
    assert places({"variant": ["tgu"], "option": "all"}, known) == known[:3]
    assert places({}, [("T9", "tgu", "slow"), ("T30", "tgu", "slow")]) == [
        ("T9", "tgu", "slow"),
        ("T30", "tgu", "slow"),
    ]
    assert places({}, [("T9", "tgu", "slow"), ("T9", "tgu", "fast")]) == []


def test_final_runs_unless_the_search_is_asked_for(run_of):
    runs = [curve(run_of, 1.0, stage="search"), curve(run_of, 4.0), curve(run_of, 6.0, option="slow")]
    assert sample(runs, FINAL, {}).values == {0: 4.0}
    assert sample(runs, FINAL, {"stage": "search"}).values == {0: 1.0}
    assert sample(runs, FINAL, {"option": "slow"}).values == {0: 6.0}


def test_real_data_where_they_ran(run_of):
    runs = [curve(run_of, 1.0, dataset="chorales"), curve(run_of, 4.0, dataset="jsb")]
    assert sample(runs, FINAL, {}, lambda condition: "jsb").values == {0: 4.0}
    assert sample(runs[:1], FINAL, {}, lambda condition: "jsb").values == {0: 1.0}
    assert sample(runs, FINAL, {"dataset": "chorales"}, lambda condition: "jsb").values == {0: 1.0}


def test_several_curves_of_a_seed_are_averaged_and_incomplete_seeds_left_out(run_of):
    runs = [curve(run_of, 2.0 + s, seed=s, variant="tgu") for s in range(3)]
    runs += [curve(run_of, 5.0 * s, seed=s, variant="gru") for s in range(2)]
    assert sample(runs, FINAL, {}).values == {0: 1.0, 1: 4.0}


def test_never_reached_stands_for_one_more_than_the_updates(run_of):
    runs = [
        run_of([3.0, 2.0, end], key=curve(run_of, 0.0, seed).key, settings={"training": {"updates": 30}})
        for seed, end in enumerate((0.5, 1.5))
    ]
    found = sample(runs, {"name": "first_below", "threshold": 1.0}, {})
    assert found.values == {0: 3.0, 1: math.inf}
    assert found.uncensored() == {0: 3.0, 1: 31.0}
    assert found.logs()[1] == pytest.approx(math.log(31))
    assert found.censored == {1}


def test_a_ratio_needs_positive_values(run_of):
    with pytest.raises(MissingValue, match=r"the smallest is -2\.0"):
        sample([curve(run_of, -2.0)], FINAL, {}).logs()


def test_a_finished_replica_that_a_probe_tells_nothing_of_counts_as_failed(run_of):
    """Its seed ran and is lost, and why is said; where the probe tells nothing of anybody, that is told."""
    table = {("solved", "correlation"): np.array([0.97])}
    runs = [curve(run_of, 1.0, seed, load_probe=lambda name, s=seed: table if s else {}) for seed in range(3)]
    measure = {"name": "probe", "probe": "memory", "item": "solved", "value": "correlation"}
    found = sample(runs, measure, {})
    assert (found.values, found.seeds) == ({1: 0.97, 2: 0.97}, 3)
    assert found.failed == found.lost == {0}
    assert found.missing == {0: "probe memory has no correlation of solved"}
    with pytest.raises(MissingValue, match="probe memory has no correlation of solved"):
        sample(runs[:1], measure, {})
    diverged = [curve(run_of, 1.0, 3, status="failed", load_probe=lambda name: {}), *runs]
    found = sample(diverged, measure, {})
    assert (found.failed, found.missing.keys()) == ({0, 3}, {0})


def test_the_split_may_stand_in_the_selector(run_of):
    run = curve(run_of, 1.0)
    run.metrics = {("train", "nll"): 8.0, ("test", "nll"): 9.0}
    measure = {"name": "metric", "of": "nll"}
    assert sample([run], measure, {"split": "test"}).values == {0: 9.0}
    assert sample([run], measure, {}).values == {0: 8.0}
