"""Proves that every claim on a share of runs could come out yes at the seeds of the paper scale, and no where
these can be told from the runs of the document."""

from pathlib import Path

import pytest

from tensor_rnns.analysis import intervals, rules
from tensor_rnns.analysis.claims import form_of
from tensor_rnns.experiments import Catalogue, Selector
from tensor_rnns.experiments.selector import CURVE

EXPERIMENTS = {
    name: experiment
    for name, experiment in Catalogue.load(
        Path(__file__).parents[2] / "workflow" / "papers"
    ).experiments.items()
    if experiment.kind == "train"
}


def smallest(spec, experiment):
    """Runs of the paper's scale, and curves, of the smallest group of the claim."""
    groups = {}
    for curve in Selector.of(spec.get("where")).curves(experiment.planned, "main"):
        key = tuple(curve[CURVE.index(name)] for name in spec.get("each", ()))
        groups[key] = groups.get(key, 0) + 1
    curves = min(groups.values(), default=0)
    return curves * experiment.scale_block("paper")["seeds"], curves


def answers(claim, experiment):
    """Runs of the paper's scale, those of the document, and what each number of passes would be answered by
    ours alone and against theirs."""
    n, curves = smallest(claim.spec, experiment)
    assert n > 0, claim.id
    form = form_of(claim)
    paper = form.of_paper(((experiment.source or {}).get("runs") or 0) * curves)
    share = rules.SHARE if form.share is None else form.share
    alone, against = (
        {rules.solved(passed, n, share, form.at_most, runs).holds for passed in range(n + 1)}
        for runs in (None, paper)
    )
    return n, paper, alone, against


@pytest.mark.parametrize("name", EXPERIMENTS, ids="-".join)
def test_a_share_of_runs_can_be_reached_and_missed(name):
    """Held against the runs of the document, too, unless all of ours could not be told from those."""
    for claim in EXPERIMENTS[name].claims:
        if claim.spec["test"] == "solves":
            n, paper, alone, against = answers(claim, EXPERIMENTS[name])
            few = paper is not None and intervals.p_of_shares((paper[0] == 0 and n, n), paper) > rules.MISS
            assert {"yes", "no"} <= alone, claim.id
            assert against == ({"yes", "unclear"} if few else alone), claim.id


def test_a_share_out_of_reach_is_seen():
    """Five of five runs do not show four fifths."""
    assert rules.solved(5, 5, 0.8).holds == "unclear"
    assert rules.solved(5, 5, 0.5).holds == "yes"
