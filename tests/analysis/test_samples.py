"""A selector takes the final runs of the main option on real data, unless it says otherwise."""

import math

import numpy as np
import pytest

from tensor_rnns import tasks
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import Sample, logs, sample, uncensored
from tensor_rnns.experiments import Selector
from tensor_rnns.experiments.streams import paired_tasks

FINAL = {"name": "final"}


def curve(run_of, value, seed=0, **fields):
    key = {
        "condition": "T9", "variant": "tgu", "option": "main", "stage": "final", "point": 0,
        "seed": seed, "dataset": "",
    }  # fmt: skip
    run_fields = {name: fields.pop(name) for name in ("status", "load_probe", "settings") if name in fields}
    return run_of([value], key=key | fields, **run_fields)


def test_final_runs_unless_the_search_is_asked_for(run_of):
    runs = [curve(run_of, 1.0, stage="search"), curve(run_of, 4.0), curve(run_of, 6.0, option="slow")]
    assert sample(runs, FINAL, Selector()).values == {0: 4.0}
    assert sample(runs, FINAL, Selector(stage="search")).values == {0: 1.0}
    assert sample(runs, FINAL, Selector(option="slow")).values == {0: 6.0}


def test_several_curves_of_a_seed_are_averaged_and_incomplete_seeds_left_out(run_of):
    runs = [curve(run_of, 2.0 + s, seed=s, variant="tgu") for s in range(3)]
    runs += [curve(run_of, 5.0 * s, seed=s, variant="gru") for s in range(2)]
    assert sample(runs, FINAL, Selector()).values == {0: 1.0, 1: 4.0}


def test_never_reached_stands_for_one_more_than_the_updates(run_of):
    runs = [
        run_of([3.0, 2.0, end], key=curve(run_of, 0.0, seed).key, settings={"training": {"updates": 30}})
        for seed, end in enumerate((0.5, 1.5))
    ]
    found = sample(runs, {"name": "first_below", "threshold": 1.0}, Selector())
    assert found.values == {0: 3.0, 1: math.inf}
    assert found.censored == {1}
    assert uncensored([found]) == [{0: 3.0, 1: 31.0}]


def test_what_a_longer_run_reached_later_does_not_count_against_a_shorter_one():
    """Without a run that never got there each has reached it, and all values stand."""
    short, long = Sample({0: 8.0, 1: math.inf}, censored={1}, budget=20), Sample({0: 50.0}, budget=60)
    assert uncensored([short, long]) == [{0: 8.0, 1: 21.0}, {0: 21.0}]
    assert uncensored([long]) == [{0: 50.0}]


def test_a_ratio_needs_positive_values(run_of):
    with pytest.raises(MissingValue, match=r"the smallest is -2\.0"):
        logs(sample([curve(run_of, -2.0)], FINAL, Selector()).values)
    assert logs({4: 31.0}) == {4: pytest.approx(math.log(31))}


def test_finished_replica_without_a_probed_value_counts_as_failed(run_of):
    """Its seed ran and is lost, and why is said; where the probe has no value of any, that is the error."""
    table = {("solved", "correlation"): np.array([0.97])}
    runs = [curve(run_of, 1.0, seed, load_probe=lambda name, s=seed: table if s else {}) for seed in range(3)]
    measure = {"name": "probe", "probe": "memory", "item": "solved", "value": "correlation"}
    found = sample(runs, measure, Selector())
    assert (found.values, found.seeds) == ({1: 0.97, 2: 0.97}, 3)
    assert found.failed == {0}
    assert found.missing == {0: "probe memory has no correlation of solved"}
    with pytest.raises(MissingValue, match="probe memory has no correlation of solved"):
        sample(runs[:1], measure, Selector())
    diverged = [curve(run_of, 1.0, 3, status="failed", load_probe=lambda name: {}), *runs]
    found = sample(diverged, measure, Selector())
    assert (found.failed, found.missing.keys()) == ({0, 3}, {0})


def test_tasks_whose_data_are_of_the_seed_are_those_that_say_so():
    """Read from the source they are what the classes themselves say."""
    said = {name for name, kind in tasks.names().items() if getattr(kind, "updates_per_epoch", 0) is None}
    drawn = {name for name, kind in tasks.names().items() if kind.own_evaluation}
    assert paired_tasks() == said | drawn
    assert {"style_content", "random_product", "key_value"} <= drawn
    products, sequences = {"random_product", "elementwise_product"}, {"addition", "variable_binding"}
    bits = {
        "recall",
        "first_bit",
        "marked_bit",
        "parity",
        "switching_rule",
        "neighbours",
        "dots",
        "dictation",
    }
    strings = {"endings", "reversal", "brackets", "joint", "missing", "source", "oscillator"}
    memories = {"running_averages", "reset_count", "key_value", "integer_addition", "memorization"}
    assert products | sequences | bits | strings | memories == said


def test_more_than_a_fifth_of_the_seeds_is_too_many_to_fail():
    for seeds, failed, too_many in ((5, 1, False), (5, 2, True), (9, 1, False), (9, 2, True)):
        assert (
            Sample(dict.fromkeys(range(failed, seeds), 1.0), set(range(failed))).too_many_failed == too_many
        )
