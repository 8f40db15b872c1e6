"""Proves which claims may get more seeds; the rule itself is proved where seeds are trained."""

from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.verdicts import NOT_JUDGED, REPRODUCED, UNDECIDED, Judgement
from tensor_rnns.recording import extension


@pytest.mark.parametrize(
    ("reason", "said"),
    [
        ("no outcome of 5 seeds could refute it, one of 19 could", "x: after 5 seeds, 14 more, once"),
        ("", "allowed are claims undecided or that these could not refute"),
    ],
)
def test_a_reproduced_claim_gets_seeds_where_so_few_could_not_refute_it(monkeypatch, tmp_path, reason, said):
    judged = {"x": Judgement("yes", REPRODUCED, reason=reason)}
    monkeypatch.setattr(extension, "judge_claims", lambda *_: judged)
    catalogue = SimpleNamespace(claims=[], experiments={})
    with pytest.raises(ValueError, match=said):
        extension.granted(catalogue, "x", 5, 14, tmp_path)
    assert (tmp_path / extension.FILE).exists() == bool(reason)


def test_seeds_that_came_for_another_claim_are_none_before_a_rule(monkeypatch, tmp_path):
    monkeypatch.setattr(extension, "judge_claims", lambda *_: {"x": Judgement("unclear", UNDECIDED)})
    catalogue = SimpleNamespace(claims=[], experiments={})
    with pytest.raises(ValueError, match="35 are there and known, allowed are at least 70"):
        extension.granted(catalogue, "x", 40, 69, tmp_path, planned=5)
    assert not (tmp_path / extension.FILE).exists()
    with pytest.raises(ValueError, match="x: after 5 seeds, 70 more, once"):
        extension.granted(catalogue, "x", 40, 70, tmp_path, planned=5)


def test_a_claim_without_a_verdict_gets_no_seeds(monkeypatch, tmp_path):
    """As of runs on other data: what so few could not refute no more of them decides."""
    judged = {
        "x": Judgement("yes", NOT_JUDGED, reason="no outcome of 5 seeds could refute it, one of 19 could")
    }
    monkeypatch.setattr(extension, "judge_claims", lambda *_: judged)
    with pytest.raises(ValueError, match="allowed are claims undecided or that these could not refute"):
        extension.granted(SimpleNamespace(claims=[], experiments={}), "x", 5, 14, tmp_path)


def test_seeds_stay_below_those_of_a_search(monkeypatch, tmp_path):
    monkeypatch.setattr(extension, "judge_claims", lambda *_: {"x": Judgement("unclear", UNDECIDED)})
    catalogue = SimpleNamespace(claims=[], experiments={})
    with pytest.raises(
        ValueError, match="1,001 in all; allowed beside a search are at most 1,000, from which"
    ):
        extension.granted(catalogue, "x", 5, 996, tmp_path, planned=5, most=1000)
    assert not (tmp_path / extension.FILE).exists()
    with pytest.raises(ValueError, match="x: after 5 seeds, 995 more, once"):
        extension.granted(catalogue, "x", 5, 995, tmp_path, planned=5, most=1000)


@pytest.mark.parametrize(("recorded", "n", "asked"), [(5, "5", 10), (12, "5", 19), (5, "15", 7)])
def test_the_list_of_undecided_claims_counts_no_seeds_that_are_known(
    monkeypatch, tmp_path, recorded, n, asked
):
    """Seven of twelve came for another claim: a rule has to bring as many more. Twenty runs of three curves
    are seven seeds."""
    unit = SimpleNamespace(name="p/e/c/v/main", seeds=5)
    row = {"claim": "x", "verdict": UNDECIDED, "statement": "so", "n": n}
    row["reason"] = f"about {20 if n == '15' else 10} seeds would decide"
    known = {
        "units": lambda *_: [unit], "needs": lambda _: {"x": ([unit.name], None)}, "rules": lambda _: {},
        "read_csv": lambda *_: [row], "hours_of_seeds": lambda _, seeds, __: float(seeds),
    }  # fmt: skip
    for name, stand_in in known.items():
        monkeypatch.setattr(extension, name, stand_in)
    monkeypatch.setattr(extension.store, "seeds", lambda *_: recorded)
    path = tmp_path / "recorded" / "claims.csv"
    path.parent.mkdir()
    path.touch()
    _, line = extension.undecided(SimpleNamespace(experiments={}), None, tmp_path, 5)
    assert line.split()[:4] == ["x", str(recorded), str(asked), str(asked - recorded)]


def test_a_decided_claim_gets_no_seeds_though_another_brought_some_of_them(monkeypatch, tmp_path):
    """It is judged without them, so that nothing has changed."""
    judged = {"x": Judgement("yes", REPRODUCED)}
    monkeypatch.setattr(extension, "judge_claims", lambda *_: judged)
    (tmp_path / extension.FILE).parent.mkdir()
    (tmp_path / extension.FILE).write_text("claim,before,seeds\nx,5,14\n")
    with pytest.raises(ValueError, match=r"reproduced \(seeds: 8\), allowed are claims undecided or"):
        extension.granted(SimpleNamespace(claims=[], experiments={}), "x", 8, 14, tmp_path)
