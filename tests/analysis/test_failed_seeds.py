"""Seeds that failed, or that a probe says nothing of, are counted and named; too many decide nothing."""

import pytest

from tensor_rnns.analysis.tables import PROBED, Tables
from tensor_rnns.analysis.verdicts import judge_claim
from tensor_rnns.files import write_csv
from tests.analysis.conftest import BLOCKS, VALUE, WOBBLE, metric_of, why


def test_few_failed_seeds_are_said_and_many_decide_nothing(judged):
    def with_failures(seeds):
        def outcome(replica):
            found = metric_of(replica)
            if replica.seed in seeds:
                value = found["metrics"]["test", "nll"]
                return {"curves": {("test", "nll"): [value, float("nan")]}, "status": "failed"}
            return found

        return outcome

    claim = f"{VALUE}, paper: 3.02"
    found = judged(claim, with_failures([1]))
    assert (found.verdict, found.n, found.failed) == ("reproduced", 6, 1)
    assert found.reason == "1 failed, taken at their last finite value"
    found = judged(claim, with_failures([1, 4]))
    assert (found.verdict, found.holds, found.failed) == ("undecided", "unclear", 2)


def test_a_measure_that_counts_failed_runs_decides_with_many_of_them(judged):
    """The GRU always diverges and the TGU never does: that is an order of `short`, not a lack of numbers."""

    def outcome(replica):
        return {"status": "failed"} if replica.variant == "gru" else metric_of(replica)

    sides = "less: {condition: T250, variant: tgu}, than: {condition: T250, variant: gru}"
    found = judged(f"test: order, {sides}, measure: {{name: short, threshold: 2, of: nll}}", outcome)
    assert (found.verdict, found.ours, found.failed) == ("reproduced", -1.0, 6)
    assert found.reason.endswith("Fisher's exact p = 0.0022")


def test_a_failed_seed_without_any_value_is_counted_and_left_out(judged):
    def outcome(replica):
        return {"status": "failed"} if replica.seed == 5 else metric_of(replica)

    found = judged(f"{VALUE}, paper: 3.02", outcome)
    assert (found.n, found.failed) == (5, 1)


@pytest.fixture
def probed(catalogue_of, trained):
    """The judgement of a claim on the TGU's five seeds of which the probe gates tells nothing of some."""

    def run(claim, without, variants="tgu"):
        where = f"{{condition: T250, variant: {variants}}}"
        probes = f"probes: {{gates: {{function: mean_gates, where: {where}}}}}"
        blocks = BLOCKS.replace("scales:", f"{probes}\nscales:", 1)
        catalogue = catalogue_of(blocks + f"  c1: {{statement: said of it, artefact: fig-1, {claim}}}\n")
        experiment = catalogue.experiments["made2016", "made"]
        results = trained(experiment, metric_of, "paper", "real", lambda one: one.variant == "tgu")
        tables = Tables(results, "paper", "made2016", "made")
        rows = [
            {**one.key, "item": "gate", "name": "mean", "index": 0, "value": 3 + WOBBLE[one.key["seed"]]}
            for one in tables.runs
            if one.key["seed"] not in without and one.key["condition"] == "T250"
        ]
        write_csv(tables.probes / "gates.csv", rows, PROBED, "made2016/made/paper/gates")
        return judge_claim(catalogue.claims[0], experiment, tables, "paper")

    return run


GATES = (
    "where: {condition: T250, variant: tgu}, measure: {name: probe, probe: gates, item: gate, value: mean}"
)


def test_seed_without_a_probed_value_is_counted_and_named(probed):
    """One of six is said, two decide nothing, and in a count of runs past a threshold they do not pass."""
    claim = f"test: value, {GATES}, tol: 0.1, why: w, paper: 3.02"
    assert (probed(claim, []).reason, probed(claim, []).failed) == ("", 0)
    found = probed(claim, [4])
    assert (found.verdict, found.n, found.failed) == ("reproduced", 5, 1)
    assert found.reason == "no number of seed 4: probe gates has no mean of gate"
    found = probed(claim, [2, 4])
    assert (found.verdict, found.failed) == ("undecided", 2)
    assert "no number of seed 2, 4: probe gates has no mean of gate" in found.reason
    found = probed(f"test: solves, {GATES}, above: 1.0, share: 0.5", [4])
    assert (found.ours, found.n, found.failed) == (5 / 6, 6, 1)
    assert found.reason.endswith("no number of seed 4: probe gates has no mean of gate")


def test_an_identity_of_a_probe_misses_no_seed(probed):
    claim = "test: identity, probe: gates, item: gate, name: mean, tolerance: 4"
    assert probed(claim, []).holds == "yes"
    found = probed(claim, [1, 4])
    told = "probe gates has no mean of gate of seed 1, 4 of T250 tgu main"
    assert why(found) == f"not run at paper: {told}"


def test_an_identity_of_a_probe_needs_every_curve_that_the_probe_looks_at(probed):
    claim = "test: identity, probe: gates, item: gate, name: mean, tolerance: 4"
    assert probed(claim, []).verdict == "reproduced"
    found = probed(claim, [], "[tgu, gru]")
    assert (found.holds, found.verdict) == ("yes", "not judged")
    assert found.reason == "paper, without T250/gru/main"


def test_a_count_of_runs_that_pass_decides_with_many_failed_ones(judged):
    """They do not pass; more than a fifth of them leaves the answer as it is."""

    def outcome(replica):
        status = "failed" if replica.seed in (2, 3) else "done"
        return {"curves": {("train", "loss"): [1.0, 0.1]}, "status": status}

    where = "where: {condition: T250, variant: tgu}, measure: {name: first_below, threshold: 0.5}"
    found = judged(f"test: count, {where}, passing: {{within: 10}}, at_most: 4", outcome)
    assert (found.holds, found.failed, found.ours) == ("yes", 2, 4)
