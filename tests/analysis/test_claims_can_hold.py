"""Proves that every claim on a share of runs could come out yes, and no, at the seeds of the paper scale."""

from pathlib import Path

import pytest

from tensor_rnns.analysis import rules
from tensor_rnns.experiments import Catalogue, Selector
from tensor_rnns.experiments.selector import CURVE

EXPERIMENTS = {
    name: experiment
    for name, experiment in Catalogue.load(
        Path(__file__).parents[2] / "workflow" / "papers"
    ).experiments.items()
    if experiment.kind == "train"
}


def runs(spec, experiment):
    """How many runs of the paper scale the smallest group of the claim has."""
    groups = {}
    for curve in Selector.of(spec.get("where")).curves(experiment.planned, "main"):
        key = tuple(curve[CURVE.index(name)] for name in spec.get("each", ()))
        groups[key] = groups.get(key, 0) + experiment.scale_block("paper")["seeds"]
    return min(groups.values(), default=0)


@pytest.mark.parametrize("name", EXPERIMENTS, ids="-".join)
def test_a_share_of_runs_can_be_reached_and_missed(name):
    for claim in EXPERIMENTS[name].claims:
        spec = claim.spec
        if spec["test"] != "solves":
            continue
        n = runs(spec, EXPERIMENTS[name])
        assert n > 0, claim.id
        share, at_most = spec.get("share", rules.SHARE), spec.get("at_most")
        answers = {rules.solved(passed, n, share, at_most).holds for passed in range(n + 1)}
        assert {"yes", "no"} <= answers, f"{claim.id}: {n} runs, share {share}, at most {at_most}"


def test_a_share_out_of_reach_is_seen():
    """Five of five runs do not show four fifths."""
    assert rules.solved(5, 5, 0.8).holds == "unclear"
    assert rules.solved(5, 5, 0.5).holds == "yes"
