"""Comparisons of times that were never reached, of the same runs, and which part of a claim is shown."""

import math

import pytest

from tensor_rnns.analysis import claims
from tensor_rnns.analysis.evidence import LATER, NEVER, lasting
from tensor_rnns.analysis.joint import unfavourable
from tensor_rnns.analysis.measures import measure_of
from tensor_rnns.analysis.rules import Outcome
from tensor_rnns.analysis.runs import MissingValue
from tensor_rnns.analysis.samples import Sample, sample, share_data
from tensor_rnns.experiments import Selector
from tests.analysis.conftest import BLOCKS, WOBBLE

TWO = "less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"


def falling(updates):
    """Runs of twelve updates whose loss is below 0.5 from the update of their cell on; None: never."""

    def outcome(replica):
        at = updates[replica.variant]
        losses = [0.1 if at is not None and update >= at else 0.9 for update in range(1, 13)]
        return {"curves": {("train", "loss"): losses}}

    return outcome


@pytest.mark.parametrize(
    ("margin", "tgu", "gru", "holds"),
    [
        ("ratio: 1.25", None, 11, "unclear"),  # 13 against 11: how much later is not known
        ("ratio: 1.25", 11, None, "yes"),  # the later the GRU, the more so
        ("ratio: 0.3", 6, None, "unclear"),  # 6 against 13 or more
        ("ratio: 0.3", None, 6, "no"),
        ("tie_ratio: 2.0", None, None, "unclear"),
        ("tie_ratio: 2.0", 9, None, "unclear"),  # near as far as it is known
        ("tie_ratio: 2.0", None, 9, "unclear"),
        ("tie_ratio: 1.5", None, 6, "no"),  # only further apart
        ("tie_ratio: 1.5", 6, None, "no"),
        ("tie_ratio: 2.0", 9, 11, "yes"),
        ("ratio: 1.0", None, 11, "no"),  # later at all
    ],
)
def test_a_time_that_was_never_reached_may_be_any_later(judged, margin, tgu, gru, holds):
    claim = f"test: order, {TWO}, measure: {{name: first_below, threshold: 0.5}}, {margin}"
    found = judged(claim, falling({"tgu": tgu, "gru": gru, "lstm": 3}))
    assert found.holds == holds
    assert (LATER in found.reason) == (holds == "unclear")


def test_a_near_tie_that_only_longer_runs_could_settle_is_open():
    """Outside the tie since the first is later: it hangs on the second, if that was never reached."""
    assert lasting(Outcome("no", 4.0), set(), {0}, tie=True).holds == "unclear"
    assert lasting(Outcome("no", 4.0), {0}, set(), tie=True).holds == "no"
    assert lasting(Outcome("no", -4.0), set(), {0}, tie=True).holds == "no"


@pytest.mark.parametrize(("stopped", "holds"), [(False, "yes"), (True, "unclear")])
def test_a_time_that_only_a_longer_run_could_reach_may_be_any_later(judged, stopped, holds):
    """The GRU is granted four times the updates and is six times as late. Where one seed of the TGU never got
    there, nothing after its last update counts: by that the GRU is late enough to be no longer known."""

    def outcome(replica):
        at = {"tgu": 6, "gru": 36, "lstm": 3}[replica.variant]
        at = math.inf if stopped and (replica.variant, replica.seed) == ("tgu", 4) else at + replica.seed % 2
        granted = replica.settings["training"]["updates"]
        return {"curves": {("train", "loss"): [0.1 if n >= at else 0.9 for n in range(1, granted + 1)]}}

    claim = f"test: order, {TWO}, measure: {{name: first_below, threshold: 0.5}}, ratio: 0.3"
    blocks = BLOCKS.replace(
        "gru: {cell: gru, hidden: 5}", "gru: {cell: gru, hidden: 5, training.updates: 48}"
    )
    found = judged(claim, outcome, blocks=blocks)
    assert (found.holds, LATER in found.reason) == (holds, stopped)


def test_what_is_no_time_has_no_number_where_it_was_never_reached(judged):
    """A drop is a ratio of about one; the updates granted would be no such number."""
    claim = f"test: order, {TWO}, measure: {{name: drop, above: 0.8, below: 0.5}}"
    found = judged(claim, falling({"tgu": 6, "gru": None, "lstm": 3}))
    assert (found.holds, found.ours) == ("unclear", None)
    assert NEVER in found.reason
    assert found.n == 6


def test_two_measures_of_the_same_runs_are_pairs(run_of):
    """Also where each curve has its own order of fixed data."""
    of, curve = {"task": {"name": "polyphony"}}, {"condition": "a", "variant": "b", "option": "main"}
    runs = [run_of([2.0, 1.0], key=curve | {"seed": seed}, settings=of) for seed in range(3)]
    first, last = (
        sample(runs, {"name": "at", "update": update}, Selector(option="main")) for update in (1, 2)
    )
    assert share_data([first, last])
    assert not share_data([first, Sample(runs=runs[:2])])


def test_a_measure_per_nothing_is_missing(run_of):
    with pytest.raises(MissingValue, match="at per at, which is 0"):
        measure_of({"name": "at", "update": 1, "per": {"name": "at", "update": 2}}, run_of([2.0, 0.0]))


def test_the_least_favourable_part_is_shown(judged):
    """Of a share that is asked for the smallest, of one that is to stay small the largest."""

    def some(replica):
        passes = {"tgu": 5, "gru": 6, "lstm": 1}[replica.variant]
        losses = [0.1 if replica.seed < passes else 0.9] * 12
        return {"curves": {("train", "loss"): losses}}

    where = (
        "where: {condition: T250, variant: [tgu, gru]}, measure: {name: final}, within: 0.5, each: [variant]"
    )
    assert judged(f"test: solves, {where}", some).ours == pytest.approx(5 / 6)
    assert judged(f"test: solves, {where}, at_most: 0.2", some).ours == 1.0

    def rising(replica):
        steep = {"tgu": 1.0, "gru": 3.0, "lstm": 2.0}[replica.variant]
        length = replica.settings["task"]["length"] / 250
        return {"metrics": {("test", "nll"): steep * length + WOBBLE[replica.seed]}}

    over = "over: condition, values: {T250: 1, T500: 2, T750: 3}, where: {variant: all}, each: [variant]"
    measure = "measure: {name: metric, split: test, of: nll}"
    assert judged(f"test: trend, {over}, direction: up, {measure}", rising).ours == pytest.approx(1.0)
    assert judged(f"test: trend, {over}, direction: down, {measure}", rising).ours == pytest.approx(3.0)


def test_how_unfavourable_a_number_is():
    said = {"statement": "said of it", "artefact": "fig-1", "measure": None}
    value = claims.ValueForm(**said, paper=3.0, tol=0.1, why="reason")
    tie = claims.OrderForm(**said, less=Selector(), than=Selector(), tie_ratio=2.0)
    assert unfavourable(value)(2.0) == unfavourable(value)(4.0) == 1.0
    assert unfavourable(tie)(0.5) == pytest.approx(unfavourable(tie)(2.0))
    cells = claims.Cells(item="shares", name="solved")
    limits = [claims.CountForm(**said, of=cells, **limit) for limit in ({"at_least": 1}, {"at_most": 99})]
    assert [max((66, 88, 94), key=unfavourable(claim)) for claim in limits] == [66, 94]


def test_equal_seconds_of_a_cohort_decide_nothing(judged):
    found = judged(f"test: order, {TWO}, measure: {{name: seconds}}, at_least: -1")
    assert found.holds == "unclear"
    assert "the seeds of a cohort are timed as one" in found.reason
