"""A claim rests on recorded runs where they give it a verdict, else on those at hand; both are named."""

import pytest

from tensor_rnns.analysis import stopping
from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.judge import judge, judge_claims
from tensor_rnns.files import read_csv
from tests.analysis.conftest import NLL, write_run_folder

BLOCKS = """
variants: {tgu: {cell: tgu, hidden: 5, rank: 3}, gru: {cell: gru, hidden: 5}}
scales: {paper: {seeds: 6}, laptop: {seeds: 2}, smoke: {seeds: 6}}
claims:
"""
CLAIMS = "".join(
    f"  {name}: {{statement: said about {name}, artefact: fig-1, {text}}}\n"
    for name, text in {
        "tgu": f"test: value, where: {{variant: tgu}}, {NLL}, paper: 3, tol: 0.1, why: w",
        "gru": f"test: value, where: {{variant: gru}}, {NLL}, paper: 4, tol: 0.1, why: w",
        "order": f"test: order, less: {{variant: tgu}}, than: {{variant: gru}}, {NLL}",
        "both": "test: refers, claims: [tgu, gru]",
        "one": "test: refers, claims: [tgu]",
        "none": "test: refers, claims: [absent]",
    }.items()
)


def outcome(tgu, gru):
    """Test values of both cells, with a small scatter between seeds."""
    return lambda replica: {
        "metrics": {
            ("test", "nll"): {"tgu": tgu, "gru": gru}[replica.variant]
            + 0.01 * replica.seed * (replica.variant == "tgu" or -1)
        }
    }


@pytest.fixture
def catalogue(catalogue_of):
    return catalogue_of(BLOCKS + CLAIMS)


@pytest.fixture
def record(catalogue, tmp_path):
    """Record the runs of some variants at the paper's scale."""

    def write(found, *variants, seeds=6):
        experiment = catalogue.experiments["made2016", "made"]
        replicas = [one for one in experiment.replicas("paper", "real", "final") if one.variant in variants]
        home = tmp_path / "results" / "recorded"
        folder = write_run_folder(
            home / "runs" / "made2016" / "made", [one for one in replicas if one.seed < seeds], found
        )
        collect([folder], home / "collected" / "made2016" / "made")

    return write


def judged(catalogue, tmp_path, scale="laptop"):
    return judge_claims(catalogue.claims, catalogue.experiments, scale, tmp_path / "results")


def said(found, *names):
    return [(found[name].verdict, found[name].source, found[name].here) for name in names]


def test_recorded_runs_win_where_they_give_a_verdict(catalogue, trained, record, tmp_path):
    trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="laptop")
    record(outcome(3, 4), "tgu")
    found = judged(catalogue, tmp_path)
    assert said(found, "tgu", "gru", "order", "one") == [
        ("reproduced", "recorded", "no"),
        ("not judged", "laptop", "yes"),
        ("not judged", "laptop", "no"),
        ("reproduced", "recorded", "no"),
    ]
    assert (found["tgu"].n, found["gru"].n) == (6, 2)


def test_a_claim_on_claims_names_all_that_its_parts_rest_on(catalogue, trained, record, tmp_path):
    trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="laptop")
    record(outcome(3, 4), "tgu")
    assert said(judged(catalogue, tmp_path), "both") == [("not judged", "recorded, laptop", "unclear")]


def test_the_two_sources_are_never_mixed_in_one_claim(catalogue, trained, record, tmp_path):
    """The order needs both cells: with one recorded it is judged on the laptop's runs of both."""
    trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="laptop")
    record(outcome(3, 4), "tgu")
    found = judged(catalogue, tmp_path)["order"]
    assert found.ours == pytest.approx(5, abs=0.1)
    record(outcome(3, 4), "tgu", "gru")
    found = judged(catalogue, tmp_path)["order"]
    assert (found.ours, found.source, found.here) == (pytest.approx(-1, abs=0.1), "recorded", "no")


def test_recorded_runs_without_a_verdict_give_way_to_the_run_at_hand(catalogue, trained, record, tmp_path):
    record(outcome(3, 4), "tgu", "gru", seeds=3)
    found = judged(catalogue, tmp_path)["tgu"]
    assert (found.source, found.here, found.n) == ("recorded", "", 3)
    assert found.reason.startswith("recorded, n = 3")
    trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="laptop")
    assert judged(catalogue, tmp_path)["tgu"].source == "laptop"


def test_recorded_runs_come_first_where_the_run_at_hand_has_a_verdict_too(
    catalogue, trained, record, tmp_path
):
    trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="smoke")
    record(outcome(3, 4), "tgu")
    assert said(judged(catalogue, tmp_path, "smoke"), "tgu", "gru") == [
        ("reproduced", "recorded", "no"),
        ("reproduced", "smoke", "yes"),
    ]


def test_at_the_paper_s_scale_the_run_at_hand_comes_first(catalogue, trained, record, tmp_path):
    record(outcome(3, 4), "tgu", "gru")
    trained(
        catalogue.experiments["made2016", "made"],
        outcome(9, 4),
        keep=lambda replica: replica.variant == "tgu",
    )
    # Partial reports read the tables of their scale.
    (tmp_path / "results" / "paper-partial").symlink_to("paper")
    for scale in ("paper", "paper-partial"):
        assert said(judged(catalogue, tmp_path, scale), "tgu", "gru", "both") == [
            ("not reproduced", scale, "no"),
            ("reproduced", "recorded", ""),
            ("undecided", f"recorded, {scale}", "unclear"),
        ]


def test_what_did_not_run_has_no_source(catalogue, tmp_path):
    assert said(judged(catalogue, tmp_path), "tgu", "both", "none") == [("not judged", "", "")] * 3


def test_the_table_says_both(catalogue, trained, record, tmp_path):
    results = trained(catalogue.experiments["made2016", "made"], outcome(9, 4), scale="laptop")
    record(outcome(3, 4), "tgu")
    judge(catalogue, "laptop", results)
    rows = {row["claim"]: row for row in read_csv(results / "laptop" / "claims.csv")}
    assert (rows["tgu"]["source"], rows["tgu"]["here"], rows["tgu"]["verdict"]) == (
        "recorded", "no", "reproduced"
    )  # fmt: skip


PARTS = """
  m1: {statement: any of several, artefact: a, test: refers, claims: [m1.tgu, m1.gru, m1.order], at_least: 1}
  m1.tgu: {statement: one of several, artefact: a, test: value, where: {variant: tgu}, NLL, paper: 3, TOL}
  m1.gru: {statement: one of several, artefact: a, test: value, where: {variant: gru}, NLL, paper: 9, TOL}
  m1.order: {statement: for m2 too, artefact: a, test: order, less: {variant: tgu}, than: {variant: gru}, NLL}
  m2: {statement: all of them hold, artefact: a, test: refers, claims: [m1.order, tgu]}
  m3: {statement: one of two others, artefact: a, test: refers, claims: [tgu, solo], at_least: 1}
  solo: {statement: it stands alone, artefact: a, test: value, where: {variant: gru}, NLL, paper: 9, TOL}
""".replace("NLL", NLL).replace("TOL", "tol: 0.1, why: w")


def test_a_part_of_which_only_some_are_asked_for_holds_without_a_verdict(catalogue_of, trained, tmp_path):
    """Its parent keeps its verdict; what another claim asks for, or stands by itself, keeps its own."""
    catalogue = catalogue_of(BLOCKS + CLAIMS + PARTS)
    trained(catalogue.experiments["made2016", "made"], outcome(3, 4))
    found = judged(catalogue, tmp_path, "paper")
    verdicts = {
        name: (found[name].holds, found[name].verdict) for name in ("m1", "m1.tgu", "m1.gru", "m1.order")
    }
    assert verdicts == {
        "m1": ("yes", "reproduced"), "m1.tgu": ("yes", "not judged"), "m1.gru": ("no", "not judged"),
        "m1.order": ("yes", "reproduced"),
    }  # fmt: skip
    assert found["m1.gru"].reason.startswith("a part of m1, no statement by itself")
    assert (found["tgu"].verdict, found["gru"].verdict) == ("reproduced", "reproduced")
    assert found["solo"].verdict == "not reproduced"


@pytest.mark.parametrize(
    ("rule", "n"), [("tgu,4,1", 5), ("gru,4,1", 6), ("tgu,4,2", 6), ("tgu,4,3", 4), ("tgu,3,2", 5)]
)
def test_a_claim_counts_the_seeds_of_its_own_stopping_rule(rule, n, catalogue, record, tmp_path):
    """Seeds that came for another claim do not count for it, nor do some of those that its rule asks for."""
    record(outcome(3, 4), "tgu")
    path = tmp_path / "results" / "recorded" / "stopping.csv"
    path.write_text(f"claim,before,seeds\n{rule}\n")
    assert judged(catalogue, tmp_path)["tgu"].n == n


def test_a_spread_is_one_among_the_seeds_that_count(catalogue_of, record, tmp_path):
    """Seeds that came for another claim do not move the median that the others are measured from."""
    claim = "test: value, where: {variant: tgu}, measure: {name: spread, update: 2}"
    line = f"  c1: {{statement: said of it, artefact: fig-1, {claim}, paper: 1.0, tol: 9.0, why: w}}\n"
    catalogue = catalogue_of(BLOCKS + line)
    record(lambda it: {"curves": {("train", "loss"): [0.0, it.seed**2.0, 0.0]}}, "tgu")
    whole = judged(catalogue, tmp_path)["c1"]
    assert (whole.n, whole.ours) == (6, pytest.approx((6.5 + 5.5 + 2.5 + 2.5 + 9.5 + 18.5) / 6))
    (tmp_path / "results" / "recorded" / "stopping.csv").write_text("claim,before,seeds\nc1,2,1\n")
    part = judged(catalogue, tmp_path)["c1"]
    assert (part.n, part.ours) == (3, pytest.approx((1 + 0 + 3) / 3))


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("tgu,4,1\ngru,4,1\ntgu,5,9", r"stopping\.csv:4: tgu: a second rule"),
        ("tgu,4,0", r"stopping\.csv:2: tgu: .*allowed: numbers of seeds, from 1 on"),
        ("tgu,4,-1", "allowed: numbers of seeds"),
        ("tgu,4,1.5", "allowed: numbers of seeds"),
        ("tgu,4", "allowed: numbers of seeds"),
        ("tgu,4,many", "allowed: numbers of seeds"),
    ],
)
def test_a_stopping_rule_that_is_none_is_named(rows, said, tmp_path):
    path = tmp_path / "stopping.csv"
    path.write_text(f"claim,before,seeds\n{rows}\n")
    with pytest.raises(ValueError, match=said):
        stopping.rules(path)
    path.write_text("claim,before\ntgu,4\n")
    with pytest.raises(
        ValueError, match=r"columns \['claim', 'before'\] given; allowed: claim, before, seeds"
    ):
        stopping.rules(path)
