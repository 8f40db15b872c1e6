"""A catalogue's claims become a table and a board, from partial results too; wrong numbers turn it red."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tensor_rnns.analysis.board import totals
from tensor_rnns.analysis.judge import CLAIMS, adjusted, judge, judge_claims
from tensor_rnns.analysis.rules import IRREFUTABLE
from tensor_rnns.analysis.verdicts import Judgement, joined
from tensor_rnns.files import read_csv, read_json
from tests.analysis.conftest import NLL, claim, refers, why

SIZES = range(2, 14)
VARIANTS = "variants:\n" + "".join(f"  gru{h}: {{cell: gru, hidden: {h}}}\n" for h in SIZES)
SCALES = "scales: {paper: {seeds: 5}, smoke: {seeds: 1}}\nclaims:\n"


def value(h, paper):
    return claim(f"v{h}", f"test: value, where: {{variant: gru{h}}}, {NLL}, paper: {paper}, tol: 0.1, why: w")


def order(name, less, than, artefact="fig-1", extra=""):
    sides = f"less: {{variant: gru{less}}}, than: {{variant: gru{than}}}"
    return claim(name, f"test: order, {sides}, {NLL}{extra}", artefact)


CLAIM_LINES = (
    "".join(value(h, h + 0.01) for h in SIZES)
    + order("o1", 2, 3)
    + order("o2", 5, 4)
    + refers("r1", "v2, o1")
    + refers("r2", "r1, o2")
    + refers("r3", "r1, o2, absent", ", at_least: 1")
    + refers("r4", "r1, absent")
)


def outcome(replica):
    """A test value equal to the width, with a scatter of 0.03 between seeds."""
    width = replica.settings["cell"]["hidden"]
    draw = np.random.Generator(np.random.Philox([replica.seed, width]))
    return {"metrics": {("test", "nll"): width + float(draw.normal(0, 0.03))}}


@pytest.fixture
def catalogue(catalogue_of):
    return catalogue_of(VARIANTS + SCALES + CLAIM_LINES)


@pytest.fixture
def results(catalogue, trained):
    return trained(catalogue.experiments["made2016", "made"], outcome)


def test_a_true_paper_is_reproduced_and_the_table_says_so(catalogue, results):
    judgements = judge(catalogue, "paper", results)
    rows = {row["claim"]: row for row in read_csv(results / "paper" / "claims.csv")}
    assert tuple(rows["v2"]) == CLAIMS
    assert [row["claim"] for row in rows.values()] == [one.id for one in catalogue.claims]
    assert all(rows[f"v{h}"]["verdict"] == "reproduced" for h in SIZES)
    assert (rows["v7"]["paper_value"], rows["v7"]["n"], rows["v7"]["holds"]) == ("7.01", "5", "yes")
    assert (rows["v7"]["tolerance"], rows["o1"]["tolerance"], rows["v7"]["open"]) == ("0.1", "", "")
    assert float(rows["v7"]["low"]) < 7.01 < float(rows["v7"]["high"])
    assert (rows["o1"]["verdict"], rows["o2"]["verdict"]) == ("reproduced", "not reproduced")
    assert len(judgements) == len(rows) == 18


def test_holm_is_within_the_artefact(catalogue, results):
    judgements = judge(catalogue, "paper", results)
    p = {one.id: judgement.p for one, judgement in zip(catalogue.claims, judgements, strict=True)}
    adjusted = {row["claim"]: row["holm_p"] for row in read_csv(results / "paper" / "claims.csv")}
    smallest = min(SIZES, key=lambda h: p[f"v{h}"])
    assert float(adjusted[f"v{smallest}"]) == pytest.approx(min(1, 12 * p[f"v{smallest}"]))
    assert float(adjusted["o1"]) == pytest.approx(max(2 * min(p["o1"], p["o2"]), p["o1"]))
    assert adjusted["r1"] == ""


def test_holm_is_within_one_document_and_without_questions_of_ours():
    """Figure 1 of two documents is two families; what is ours is in none."""
    placed = (("a", "one", {}), ("b", "one", {}), ("c", "two", {}), ("d", "one", {"ours": True}))
    claims = [
        SimpleNamespace(id=name, paper=paper, artefact="fig-1", spec=spec) for name, paper, spec in placed
    ]
    found = adjusted(claims, {claim.id: Judgement("yes", p=0.01) for claim in claims})
    assert found == pytest.approx({"a": 0.02, "b": 0.02, "c": 0.01})


def test_claims_that_refer_follow_the_others(catalogue, results):
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    assert found["r1"].verdict == "reproduced"
    assert found["r2"].verdict == "undecided"
    assert found["r3"].verdict == "reproduced"
    assert why(found["r4"]) == "paper, without a verdict on absent"
    assert found["r2"].reason == "r1: yes, o2: no"


@pytest.mark.parametrize(
    ("parts", "at_least", "n"),
    [
        ([("yes", 5), ("unclear", 0)], 1, 5),
        ([("yes", 5), ("yes", 3), ("unclear", 1)], 2, 3),
        ([("unclear", 7), ("unclear", 0), ("yes", 2)], None, 7),
        ([("no", 4), ("yes", 6)], None, 4),
        ([("unclear", 0)], None, 0),
    ],
)
def test_the_n_of_a_claim_on_claims_is_the_least_of_those_that_decide_it(parts, at_least, n):
    referred = {f"c{k}": Judgement(*part[:1], n=part[1]) for k, part in enumerate(parts)}
    assert joined(referred, "paper", at_least).n == n


def test_two_parts_refute_what_one_does_not(catalogue_of, trained):
    lines = order("o1", 2, 3) + order("o2", 5, 4) + order("o3", 9, 7) + refers("r1", "o1, o2")
    lines += refers("r2", "o1, o2, o3") + refers("r3", "o2") + refers("r4", "o1, o2, o3", ", at_least: 1")
    catalogue = catalogue_of(VARIANTS + SCALES + lines)
    results = trained(catalogue.experiments["made2016", "made"], outcome)
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    verdicts = [found[f"r{i}"].verdict for i in range(1, 5)]
    assert verdicts == ["undecided", "not reproduced", "not reproduced", "reproduced"]


def test_a_claim_on_claims_may_be_open_too(catalogue_of, trained):
    lines = order("o1", 5, 4) + order("o2", 9, 7) + refers("r1", "o1, o2", ", open: no is no answer")
    catalogue = catalogue_of(VARIANTS + SCALES + lines + refers("r2", "r1, o1, o2"))
    results = trained(catalogue.experiments["made2016", "made"], outcome)
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    judge(catalogue, "paper", results)
    rows = {row["claim"]: row["open"] for row in read_csv(results / "paper" / "claims.csv")}
    assert rows == {"o1": "", "o2": "", "r1": "no is no answer", "r2": ""}
    assert (found["r1"].verdict, found["r1"].reason) == ("undecided", "no is no answer")
    assert (found["r1"].holds, found["r2"].reason) == ("no", "r1: no, o1: no, o2: no")


def test_a_question_of_ours_has_no_verdict(catalogue_of, trained):
    catalogue = catalogue_of(VARIANTS + SCALES + order("o1", 2, 3, extra=", ours: true") + order("o2", 2, 3))
    results = trained(catalogue.experiments["made2016", "made"], outcome)
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    assert (found["o1"].holds, found["o1"].verdict) == ("yes", "not judged")
    assert found["o1"].reason.startswith("a question of ours")
    assert found["o2"].verdict == "reproduced"
    judge(catalogue, "paper", results)
    statements = read_json(results / "paper" / "board.json")["papers"]["made2016"]["statements"]
    assert [one["statement"] for one in statements] == ["o2"]


def test_parts_that_are_open_do_not_refute_what_rests_on_them(catalogue_of, trained):
    """Two parts that fail refute it, unless their failures refute nothing; that it fails is shown, also of
    what rests on it in turn."""
    for of_parts, verdict in (("", "not reproduced"), (", open: no is no answer", "undecided")):
        parts = (order(name, *sides, extra=of_parts) for name, sides in (("o1", (5, 4)), ("o2", (9, 7))))
        above = refers("r1", "o1, o2") + refers("r2", "r1")
        catalogue = catalogue_of("".join([VARIANTS, SCALES, *parts, above]))
        results = trained(catalogue.experiments["made2016", "made"], outcome)
        found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
        assert (found["r1"].holds, found["r1"].verdict) == ("no", verdict)
        assert (found["r2"].holds, found["r2"].verdict) == ("no", verdict)


def test_no_trained_outcome_is_an_erratum(catalogue_of, trained):
    lines = claim(
        "e1", f"test: value, where: {{variant: gru7}}, {NLL}, paper: 9, tol: 0.1, why: w, erratum: 7"
    )
    catalogue = catalogue_of(VARIANTS + SCALES + lines.replace("erratum: 7", "erratum: seven is meant"))
    results = trained(catalogue.experiments["made2016", "made"], outcome)
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    assert found["e1"].verdict == "not reproduced"


def test_a_circle_of_claims_is_an_error(catalogue_of, tmp_path):
    circle = catalogue_of(VARIANTS + SCALES + refers("a", "b") + refers("b", "a"))
    with pytest.raises(ValueError, match=r"in a cycle.*'a', 'b'"):
        judge(circle, "paper", tmp_path)


def test_the_board_counts_claims_and_says_how_far_to_trust_them(catalogue, results):
    judge(catalogue, "paper", results)
    board = read_json(results / "paper" / "board.json")
    assert board["scale"] == "paper"
    assert board["claims"]["verdicts"] == {
        "reproduced": 15, "not reproduced": 1, "undecided": 1, "erratum": 0, "not judged": 1,
    }  # fmt: skip
    assert (board["claims"]["claims"], board["claims"]["judged"], board["claims"]["by_interval"]) == (
        18,
        17,
        14,
    )
    assert board["claims"]["expected_false"] == 0.7
    assert board["claims"]["irrefutable"] == 0
    assert board["claims"]["open"] == 0
    few = Judgement("yes", "reproduced", reason=IRREFUTABLE.format(5))
    found = totals([few, Judgement("yes", "reproduced")], [few])
    assert (found["irrefutable"], found["open"]) == (1, 1)


def test_nothing_run_gives_a_table_without_verdicts(catalogue, tmp_path):
    judgements = judge(catalogue, "laptop", tmp_path)
    assert {why(one) for one in judgements[:14]} == {"not run at laptop"}
    assert all(one.holds == "unclear" for one in judgements)
    assert read_json(tmp_path / "laptop" / "board.json")["claims"]["judged"] == 0


def test_part_of_the_runs_gives_part_of_the_verdicts(catalogue, trained):
    experiment = catalogue.experiments["made2016", "made"]
    results = trained(experiment, outcome, keep=lambda replica: replica.variant in ("gru2", "gru3"))
    found = judge_claims(catalogue.claims, catalogue.experiments, "paper", results)
    assert [name for name, one in found.items() if one.judged] == ["v2", "v3", "o1", "r1", "r3"]
    assert why(found["v4"]) == "not run at paper: no run of variant gru4, option main, stage final"


def test_one_seed_is_tabled_without_a_verdict(catalogue, trained):
    results = trained(catalogue.experiments["made2016", "made"], outcome, scale="smoke")
    found = judge_claims(catalogue.claims, catalogue.experiments, "smoke", results)
    assert why(found["v2"]) == "smoke, n = 1"
    assert found["o1"].ours == pytest.approx(-1, abs=0.2)


def shifted(claims):
    """The claims with the paper's numbers dealt around one place among the value claims of each artefact."""
    families = {}
    for one in claims:
        if one.test == "value":
            families.setdefault((one.paper, one.artefact), []).append(one)
    dealt = {
        one.id: other.spec["paper"]
        for family in families.values()
        for one, other in zip(family, [*family[1:], family[0]], strict=True)
    }
    return [
        replace(one, spec={**one.spec, "paper": dealt[one.id]}) if one.id in dealt else one for one in claims
    ]


def test_paper_numbers_in_the_wrong_places_turn_the_board_red(catalogue, results):
    found = judge_claims(shifted(catalogue.claims), catalogue.experiments, "paper", results)
    values = [judgement for name, judgement in found.items() if name.startswith("v")]
    assert [judgement.verdict for judgement in values] == ["not reproduced"] * 12
    assert found["o1"].verdict == "reproduced"
