"""Claims on made runs get the verdict that their numbers call for, and none where runs are not comparable."""

import math

import pytest
from scipy import stats

from tensor_rnns.analysis import intervals
from tests.analysis.conftest import HEADER, NLL, ORDER, VALUE, WOBBLE, metric_of, why


def test_a_value_near_the_papers_is_reproduced(judged):
    found = judged(f"{VALUE}, paper: 3.02")
    assert (found.holds, found.verdict, found.n, found.failed) == ("yes", "reproduced", 6, 0)
    assert found.ours == pytest.approx(3.005)
    assert found.low < 3.02 < found.high


def test_the_papers_number_may_be_named(judged):
    assert judged(f"{VALUE}, paper: 3.0").verdict == "reproduced"


def test_a_value_far_off_is_not_reproduced(judged):
    assert judged(f"{VALUE}, paper: 3.4").verdict == "not reproduced"


def test_a_failure_that_refutes_nothing_leaves_it_undecided(judged):
    """What holds is reproduced all the same, and what does not is shown so."""
    found = judged(f"{VALUE}, paper: 3.4, open: another way may do")
    assert (found.holds, found.verdict, found.reason) == ("no", "undecided", "another way may do")
    assert judged(f"{VALUE}, paper: 3.02, open: another way may do").verdict == "reproduced"


def test_orders_are_paired_by_seed(judged):
    found = judged(f"{ORDER}, than: {{condition: T250, variant: gru}}")
    assert found.verdict == "reproduced"
    assert found.ours == pytest.approx(-1.0)
    assert found.high - found.low < 1e-9


@pytest.mark.parametrize("fewer", ["tgu", "gru"])
def test_an_order_needs_five_seeds_on_either_side(judged, fewer):
    found = judged(
        f"{ORDER}, than: {{condition: T250, variant: gru}}",
        keep=lambda replica: replica.seed < (4 if replica.variant == fewer else 6),
    )
    assert why(found) == "paper, n = 4"


def test_every_rival_must_be_beaten_and_the_nearest_is_shown(judged):
    rivals = "[{condition: T250, variant: lstm}, {condition: T250, variant: gru}]"
    assert judged(f"{ORDER}, than: {rivals}").ours == pytest.approx(-1.0)
    rivals = "[{condition: T250, variant: lstm}, {condition: T250, variant: tgu, option: slow}]"
    found = judged(f"{ORDER}, than: {rivals}")
    assert (found.verdict, found.ours) == ("undecided", 0.0)


def test_one_rival_of_many_refutes_only_after_holms_adjustment(judged):
    """Differences of mean 1 against the GRU: p = 0.041 for it alone, 0.081 for one of two rivals."""
    differences = [1.8, 0.0, 2.0, 0.3, 1.6, 0.3]

    def lost(replica):
        value = {"tgu": differences[replica.seed], "gru": 0.0, "lstm": 9.0}[replica.variant]
        return {"metrics": {("test", "nll"): value}}

    p = stats.ttest_1samp(differences, 0).pvalue
    assert 0.025 < p < 0.05
    one, other = ("{condition: T250, variant: gru}", "{condition: T250, variant: lstm}")
    assert judged(f"{ORDER}, than: {one}", lost).verdict == "not reproduced"
    found = judged(f"{ORDER}, than: [{one}, {other}]", lost)
    reason = "no in 1 of 2, but in none of them after Holm's adjustment"
    assert (found.verdict, found.reason) == ("undecided", reason)
    assert found.p == pytest.approx(p)
    assert found.margin is None, "it is that of an answer which no longer stands"


@pytest.mark.parametrize(
    ("extra", "verdict"),
    [
        ("at_least: 0.9", "reproduced"),
        ("at_least: 1.1", "not reproduced"),
        ("at_least: -0.08", "reproduced"),
        ("ratio: 0.8", "reproduced"),
        ("ratio: 0.5", "not reproduced"),
        ("tie: 1.2", "reproduced"),
        ("tie: 0.8", "not reproduced"),
        ("tie_ratio: 1.5", "reproduced"),
        ("tie_ratio: 1.2", "not reproduced"),
    ],
)
def test_margins_ratios_and_ties(judged, extra, verdict):
    assert judged(f"{ORDER}, than: {{condition: T250, variant: gru}}, {extra}").verdict == verdict


def test_the_difference_of_two_shares_is_cut_at_minus_one(judged):
    """Of accuracies 0 and 1, once 0.2, the t interval reaches to -1.21, which no two shares differ by."""

    def outcome(replica):
        value = 0.0 if replica.variant == "tgu" else 0.2 if replica.seed == 3 else 1.0
        return {"metrics": {("test", "accuracy"): value, ("test", "nll"): value}}

    sides = "test: order, less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"
    found = judged(f"{sides}, measure: {{name: metric, of: accuracy, split: test}}", outcome)
    assert (found.holds, found.low) == ("yes", -1.0)
    assert found.interval.endswith(intervals.CUT_DIFFERENCE)
    found = judged(f"{sides}, measure: {{name: metric, of: nll, split: test}}", outcome)
    assert found.low < -1.1


def test_the_sides_of_an_order_may_have_measures_of_their_own(judged):
    """The TGU ends below where the GRU begins, and does not begin below where the GRU ends."""
    ends = ["{name: final}", "{name: maximum, of: loss, split: train}"]
    sides = "less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"

    def drawn(replica):
        return {"curves": {("train", "loss"): [9.0, *metric_of(replica)["metrics"].values()]}}

    found = judged(f"test: order, {sides}, measure: {ends[0]}, than_measure: {ends[1]}", drawn)
    assert found.verdict == "reproduced"
    assert found.ours == pytest.approx(3.005 - 9)
    found = judged(f"test: order, {sides}, measure: {ends[1]}, than_measure: {ends[0]}", drawn)
    assert found.verdict == "not reproduced"


def test_seeds_are_pairs_where_the_task_makes_new_data(judged):
    """Addition draws every batch and two cells see the same; at two lengths they are no
    pairs: there the scatter of all seeds counts, which hides half of a tenth."""

    def outcome(replica):
        value = 3 + WOBBLE[replica.seed]
        return {
            "metrics": {("test", "nll"): value + (0.01 + value / 1000 if replica.variant == "gru" else 0)}
        }

    rival = f"{ORDER}, than: {{condition: T250, variant: gru}}"
    assert judged(rival, outcome).interval == "95 % t interval of the mean difference"
    assert judged(rival, outcome).holds == "yes"
    found = judged(f"{ORDER}, than: {{condition: T500, variant: gru}}", outcome)
    assert (found.holds, found.interval) == ("unclear", "95 % Welch interval of the mean difference")
    sides = [3 + w for w in WOBBLE], [1.001 * (3 + w) + 0.01 for w in WOBBLE]
    expected = stats.ttest_ind(*sides, equal_var=False).confidence_interval()
    assert (found.low, found.high) == pytest.approx(tuple(expected), rel=1e-9)


def test_a_ratio_is_shown_as_a_ratio(judged):
    found = judged(f"{ORDER}, than: {{condition: T250, variant: gru}}, ratio: 1.0")
    expected = math.exp(sum(math.log((3 + w) / (4 + w)) for w in WOBBLE) / 6)
    assert found.ours == pytest.approx(expected, rel=1e-12)
    assert found.low < found.ours < found.high


def test_one_claim_for_each_condition(judged):
    claim = f"test: order, less: {{variant: tgu}}, than: {{variant: gru}}, each: [condition], {NLL}"
    assert judged(claim).verdict == "reproduced"

    def reversed_at_500(replica):
        found = metric_of(replica)
        swap = replica.condition == "T500" and replica.variant == "tgu"
        return {"metrics": {("test", "nll"): 9.0 + WOBBLE[replica.seed]}} if swap else found

    assert judged(claim, reversed_at_500).verdict == "not reproduced"
    partial = judged(claim, keep=lambda replica: replica.condition != "T750")
    assert partial.holds == "unclear"
    assert "no run of condition T750" in partial.reason


def test_each_of_a_list_of_rivals(judged):
    """`each` reads the values that a rival in a list names, and meets what all rivals need."""

    def lost_at_500(replica):
        swap = replica.condition == "T500" and replica.variant == "tgu"
        return {"metrics": {("test", "nll"): 9.0 + WOBBLE[replica.seed]}} if swap else metric_of(replica)

    rivals = "than: [{{variant: gru{0}}}, {{variant: lstm{0}}}]"
    claim = f"test: order, less: {{variant: tgu}}, {NLL}, each: [condition], "
    assert judged(claim + rivals.format("")).verdict == "reproduced"
    assert judged(claim + rivals.format(""), lost_at_500).verdict == "not reproduced"
    some = rivals.format(", condition: [T250, T750]")
    assert judged(claim + some, lost_at_500).verdict == "reproduced"
    assert judged(claim + rivals.format(", condition: [T500]"), lost_at_500).verdict == "not reproduced"


def test_trends_over_conditions_and_options(judged):
    over = "over: condition, values: {T250: 250, T500: 500, T750: 750}, where: {variant: gru}"
    found = judged(f"test: trend, {over}, direction: up, {NLL}")
    assert found.verdict == "reproduced"
    assert found.ours == pytest.approx(1 / 250)
    assert judged(f"test: trend, {over}, direction: down, {NLL}").verdict == "not reproduced"
    partial = judged(f"test: trend, {over}, direction: up, {NLL}", keep=lambda r: r.condition != "T500")
    assert partial.holds == "yes"
    assert why(partial) == "paper, without T500/gru/main"
    over = (
        "over: option, values: {main: 0.1, slow: 0.01}, where: {condition: T250, variant: gru, option: all}"
    )
    assert judged(f"test: trend, {over}, direction: up, {NLL}").holds == "unclear"


def solving(solved_seeds, failed_seeds=()):
    """Runs of twelve updates of which some fall below 0.5 at update 9."""

    def outcome(replica):
        end = 0.1 if replica.seed in solved_seeds else 0.9
        status = "failed" if replica.seed in failed_seeds else "done"
        return {"curves": {("train", "loss"): [1.0] * 8 + [end] * 4}, "status": status}

    return outcome


SOLVES = "where: {condition: T250, variant: tgu}, measure: {name: first_below, threshold: 0.5}"


def test_solves_counts_seeds_and_failed_ones_as_unsolved(judged):
    claim = f"test: solves, {SOLVES}, within: 10"
    found = judged(claim, solving(range(6)))
    assert (found.verdict, found.ours, found.n) == ("reproduced", 1.0, 6)
    assert judged(f"test: solves, {SOLVES}, within: 8", solving(range(6))).verdict == "not reproduced"
    found = judged(claim, solving(range(6), failed_seeds=[2, 3]))
    assert (found.verdict, found.ours, found.failed) == ("undecided", 4 / 6, 2)


def test_the_runs_behind_a_curve_of_the_document_count_against_a_no(judged):
    """None of 6 against the one run of a plotted curve is p = 1/7, against five runs p = 1/462."""
    claim, none = f"test: solves, {SOLVES}, within: 12", solving([])
    for runs, verdict in ((1, "undecided"), (5, "not reproduced")):
        header = HEADER.replace("section: 1", f"section: 1, runs: {runs}")
        assert judged(claim, none, header=header).verdict == verdict
        assert judged(f"{claim}, runs: 5", none, header=header).verdict == "not reproduced"
        assert judged(claim, solving(range(6)), header=header).verdict == "reproduced"


def test_the_document_has_its_runs_of_every_curve(judged):
    """One run behind each of two curves: two of two did what two of our twelve do."""
    where = "where: {condition: T250, variant: [tgu, gru]}"
    claim = f"test: solves, {where}, measure: {{name: first_below, threshold: 0.5}}, within: 12"
    header = HEADER.replace("section: 1", "section: 1, runs: 1")
    found = judged(claim, solving([0]), header=header)
    assert found.reason.startswith("against 2 of 2 of the document's runs")


def test_what_must_not_solve(judged):
    claim = f"test: solves, {SOLVES}, within: 12, at_most: 0.0"
    assert judged(claim, solving([])).verdict == "reproduced"
    assert judged(claim, solving([4])).verdict == "not reproduced"


def test_orders_of_censored_measures_use_the_updates_granted_and_one(judged):
    sides = "less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"
    claim = f"test: order, {sides}, measure: {{name: first_below, threshold: 0.5}}"

    def tgu_alone(replica):
        return solving(range(6) if replica.variant == "tgu" else [])(replica)

    found = judged(claim, tgu_alone)
    assert (found.verdict, found.ours) == ("reproduced", 9.0 - 13.0)
    assert judged(claim, solving([])).verdict == "undecided"
    early_failure = judged(claim, lambda replica: solving([0, 1, 2, 3, 5], [4])(replica))
    assert early_failure.failed == 1


def test_measure_that_was_not_recorded_is_reported(judged):
    found = judged(f"{VALUE.replace('nll', 'bits')}, paper: 3.02")
    assert found.holds == "unclear"
    assert "no bits on test; recorded are ['nll on test']" in found.reason


def test_counts_of_measures_and_of_passing_runs(judged):
    where = "where: {condition: T250, variant: tgu}"
    assert judged(f"test: count, {where}, measure: {{name: parameters}}, equals: 7").verdict == "reproduced"
    assert (
        judged(f"test: count, {where}, measure: {{name: parameters}}, equals: 8").verdict == "not reproduced"
    )
    claim = f"test: count, {SOLVES}, passing: {{within: 10}}, within: [1, 5]"
    assert judged(claim, solving([0, 1])).verdict == "reproduced"
    assert judged(claim, solving(range(6))).verdict == "not reproduced"


def test_the_best_of_a_grid_is_chosen_seed_by_seed(judged):
    def outcome(replica):
        # by validation the GRU is better on even seeds, the TGU on odd ones; the LSTM on test alone
        test = {"tgu": 1.0, "gru": 2.0, "lstm": 0.0}[replica.variant] + WOBBLE[replica.seed]
        valid = {"tgu": replica.seed % 2 == 0, "gru": replica.seed % 2 == 1, "lstm": 5.0}[replica.variant]
        return {"metrics": {("test", "nll"): test}, "curves": {("valid", "nll"): [float(valid)]}}

    claim = (
        f"test: value, where: {{condition: T250, variant: [tgu, gru, lstm]}}, {NLL}, paper: 1.5, "
        "tol: 3, why: w, selected_from: {by: {name: best_valid, of: nll}, best: lowest}"
    )
    assert judged(claim, outcome).ours == pytest.approx((3 * 2.0 + 3 * 1.0 + sum(WOBBLE)) / 6)


def test_errors_name_the_claim(judged):
    with pytest.raises(ValueError, match="claim c1: unknown test 'near'; allowed are"):
        judged(f"test: near, where: {{variant: tgu}}, {NLL}")
    with pytest.raises(ValueError, match="claim c1: measure metric has no key 'spilt'"):
        judged(f"{VALUE.replace('split', 'spilt')}, paper: 3")
