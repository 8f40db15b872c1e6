"""The board counts statements by kind of evidence; the score is a range; errata weigh nothing."""

from dataclasses import replace

import pytest

from tensor_rnns.analysis import board
from tensor_rnns.analysis.verdicts import Judgement
from tensor_rnns.experiments import score
from tests.checking.conftest import WEIGHTS

LEDGER = """\
id,section,where,statement,untested
s1,1,ch. 1,decided by the claim of its own id,
s2,1,ch. 1,decided by both of its claims,
s3,1,ch. 1,an identity,
s4,1,ch. 1,a size,
s5,1,ch. 1,a misprint,
s6,1,ch. 1,a statement on other people,it needs the literature
"""
BLOCKS = """
variants: {tgu: {cell: tgu, hidden: 5, rank: 3}}
scales: {paper: {seeds: 5}}
claims:
  s1: {statement: said about s1, artefact: a, test: refers, claims: [s1.a]}
  s1.a: {statement: said about s1, artefact: a, test: solves, measure: {name: metric}, within: 1}
  s1.slow: {statement: said about s1, artefact: a, test: solves, measure: {name: metric}, within: 2}
  s2.a: {statement: said about s2, artefact: a, test: solves, measure: {name: metric}, within: 1}
  s2.b: {statement: said about s2, artefact: a, test: count, measure: {name: parameters}, equals: 7}
  s3: {statement: said about s3, artefact: a, test: identity, item: x, tolerance: 0.1, probe: p}
  s4: {statement: said about s4, artefact: a, test: count, measure: {name: parameters}, equals: 7}
  s5: {statement: said about s5, artefact: a, test: count, measure: {name: parameters}, equals: 8}
  v1: {statement: a number of a table, artefact: a, test: solves, measure: {name: metric}, within: 3}
"""
SCORE = (
    WEIGHTS
    + """\
  - {statements: [s1, s4], quote: both of them at once, page: 3, artefact: a, why: it is cited}
"""
)
YES, NO, OPEN = (Judgement(*said) for said in (
    ("yes", "reproduced"), ("no", "not reproduced"), ("unclear", "undecided")
))  # fmt: skip
JUDGED = {
    "s1": YES, "s1.a": YES, "s1.slow": NO, "s2.a": YES, "s2.b": OPEN, "s3": YES, "s4": NO,
    "s5": Judgement("no", "erratum"), "v1": Judgement("yes"),
}  # fmt: skip


@pytest.fixture
def catalogue(catalogue_of, tmp_path):
    found = catalogue_of(BLOCKS)
    (tmp_path / "papers" / "made2016" / "ledger.csv").write_text(LEDGER)
    (tmp_path / "papers" / "made2016" / "score.yaml").write_text(SCORE)
    return found


def of_paper(catalogue, judged=JUDGED):
    return board.board(catalogue, judged, "paper")["papers"]["made2016"]


def test_each_statement_counts_once_under_the_kind_of_its_evidence(catalogue):
    """A claim with another protocol decides nothing, a claim outside the ledger is a statement by itself, and
    what could not be tested is none."""
    found = {one["statement"]: (one["kind"], one["verdict"]) for one in of_paper(catalogue)["statements"]}
    assert found == {
        "s1": ("trained outcomes", "reproduced"), "s2": ("trained outcomes", "undecided"),
        "s3": ("identities", "reproduced"), "s4": ("counts", "not reproduced"), "s5": ("errata", "erratum"),
        "v1": ("trained outcomes", "not judged"),
    }  # fmt: skip


def test_the_rows_stand_in_one_order_with_their_verdicts(catalogue):
    rows = of_paper(catalogue)["rows"]
    assert [row["kind"] for row in rows] == list(score.KINDS)
    assert [row["statements"] for row in rows] == [3, 0, 1, 1, 1]
    trained = {name: count for name, count in rows[0].items() if count}
    assert trained == {
        "kind": "trained outcomes", "statements": 3, "reproduced": 1, "undecided": 1, "not judged": 1,
    }  # fmt: skip
    flat = board.rows(board.board(catalogue, JUDGED, "paper"))
    assert flat == [{"paper": "made2016"} | row for row in rows]


def test_the_score_is_a_range_from_what_is_reproduced_to_what_may_yet_be(catalogue):
    """Weights 5 (s1) + 3 (s2) + 0.25 (s3) + 5 (s4) + 0 (s5) + 3 (v1) = 16.25."""
    assert of_paper(catalogue)["score"] == {
        "low": pytest.approx(5.25 / 16.25), "high": pytest.approx(11.25 / 16.25),
        "coverage": pytest.approx(13.25 / 16.25), "weight": 16.25,
    }  # fmt: skip


def test_a_headline_is_judged_on_all_of_its_statements(catalogue):
    (found,) = of_paper(catalogue)["headlines"]
    assert (found["verdict"], found["claims"]) == ("undecided", ["s1.a", "s4"])
    (found,) = of_paper(catalogue, JUDGED | {"s4": YES})["headlines"]
    assert (found["verdict"], found["holds"]) == ("reproduced", "yes")


def test_a_headline_with_a_statement_that_nobody_judged_has_no_verdict(catalogue, tmp_path):
    path = tmp_path / "papers" / "made2016" / "score.yaml"
    path.write_text(path.read_text().replace("statements: [s1, s4]", "statements: [s1, s6]"))
    (found,) = of_paper(catalogue)["headlines"]
    assert (found["verdict"], found["holds"]) == ("not judged", "unclear")


def test_a_headline_names_the_claims_of_which_some_suffice(catalogue_of, catalogue, tmp_path):
    (found,) = of_paper(catalogue)["headlines"]
    assert found["alternatives"] == []
    blocks = BLOCKS.replace("[s1.a]", "[s1.a, s1.slow], at_least: 1").replace(
        "s2.a:", "s1.top: {statement: more, artefact: a, test: refers, claims: [s1, s4]}\n  s2.a:"
    )
    claims = {claim.id: claim for claim in catalogue_of(blocks).claims}
    assert board.alternatives("s1.top", claims) == [(1, ["s1.a", "s1.slow"])]
    limit = "s4: {statement: said about s4, artefact: a, test: count, measure: {name: parameters}, "
    claims = {
        claim.id: claim
        for claim in catalogue_of(BLOCKS.replace(limit + "equals: 7}", limit + "at_least: -7}")).claims
    }
    assert claims["s4"].spec["at_least"] == -7
    assert board.alternatives("s4", claims) == []  # a limit of a number, not a number of claims


def test_a_paper_without_weights_has_rows_and_no_score(catalogue, tmp_path):
    (tmp_path / "papers" / "made2016" / "score.yaml").unlink()
    found = of_paper(catalogue)
    assert found["score"] is None
    assert found["headlines"] == []
    assert sum(row["statements"] for row in found["rows"]) == 6


def test_part_of_a_paper_has_no_score(catalogue):
    catalogue.left_out["made2016"] = 2
    assert of_paper(catalogue)["score"] is None


def test_a_row_that_only_questions_of_ours_are_asked_of_is_no_statement(catalogue):
    for claim in catalogue.claims:
        if claim.id in ("s2.a", "s3"):
            claim.spec["ours"] = True
    assert [one["statement"] for one in of_paper(catalogue)["statements"]] == ["s1", "s2", "s4", "s5", "v1"]
    for claim in catalogue.claims:
        if claim.id == "s2.b":
            claim.spec["ours"] = True
    assert [one["statement"] for one in of_paper(catalogue)["statements"]] == ["s1", "s4", "s5", "v1"]


def test_only_verdicts_with_an_interval_may_be_wrong_one_in_twenty():
    """A count of runs scatters and has none."""
    counted = Judgement("yes", "reproduced", statistical=True)
    made = board.totals([counted, replace(counted, interval="95 % t interval")], [])
    assert (made["judged"], made["by_interval"], made["expected_false"]) == (2, 1, 0.05)
