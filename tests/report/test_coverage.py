"""Coverage: what stands is read from the files, and a coverage file refuses to lose it."""

import pytest
from click.testing import CliRunner

from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import KEY, Catalogue
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import write_csv, write_json
from tensor_rnns.report import coverage

LEDGER = """\
id,section,where,statement,untested
made-1,2,table 1,the TGU's loss,
made-2,2,table 1,"TGU, then GRU",
made-3,2,ch. 2,a statement that nothing judges,
made-4,2,ch. 2,a statement on other people,it needs the literature
"""
ABROAD = "not testable: it needs the literature"


@pytest.fixture
def made(checkout):
    """The checkout with a ledger of four statements, two of which have claims."""
    catalogue, results = checkout
    (catalogue.folders["made2016"] / "ledger.csv").write_text(LEDGER)
    return catalogue, results


def states(catalogue, results):
    """{(kind, id): state} of the paper that has run."""
    return {
        (row.kind, row.id): row.state for row in coverage.rows(catalogue, results) if row.paper == "made2016"
    }


def test_states_follow_the_files(made):
    """Drawn and judged at smoke, planned without a run, absent, and not testable are told apart."""
    found = states(*made)
    assert found["artefact", "fig-1"] == found["claim", "made-1"] == found["claim", "made-2"] == "smoke"
    assert found["artefact", "fig-9"] == found["claim", "made-3"] == "absent"
    assert found["claim", "made-4"] == ABROAD
    catalogue, results = made
    (results / "smoke" / "figures" / "made2016" / "fig-1.svg").unlink()
    (results / "smoke" / "claims.csv").unlink()
    found = states(catalogue, results)
    assert found["artefact", "fig-1"] == found["claim", "made-1"] == "planned, not run"


def test_of_one_experiment_only_what_is_its_own_is_listed(made):
    """What another experiment has, or none, was not asked for; the whole paper still lists it."""
    catalogue, results = made
    home = catalogue.folders["made2016"].parent
    part = states(Catalogue.load(home, ["made2016/windows"]), results)
    assert part == {("artefact", "fig-2"): "smoke", ("claim", "made-4"): ABROAD}
    whole = states(Catalogue.load(home, ["made2016"]), results)
    assert {state for name, state in whole.items() if name not in part} == {"smoke", "absent"}


def test_claims_of_other_columns_are_named_with_what_to_do(made):
    catalogue, results = made
    old = [name for name in CLAIMS if name != "here"]
    write_csv(results / "smoke" / "claims.csv", [], old, "smoke")
    with pytest.raises(ValueError, match=r"smoke/claims\.csv.*its columns are .*remove it"):
        states(catalogue, results)


def test_a_claim_that_was_not_run_does_not_count(made):
    """A row of claims.csv that says `not run` is no evidence."""
    catalogue, results = made
    path = results / "smoke" / "claims.csv"
    row = dict.fromkeys(CLAIMS, "") | {"paper": "made2016", "claim": "made-2", "artefact": "table-1"}
    write_csv(path, [row | {"verdict": "not judged", "reason": "not run at smoke"}], CLAIMS, "smoke")
    assert states(catalogue, results)["claim", "made-2"] == "planned, not run"


def test_a_verdict_of_recorded_runs_does_not_count_for_the_run_at_hand(made):
    """At smoke only what smoke ran stands; a claim on claims does so as soon as it is listed."""
    catalogue, results = made
    row = dict.fromkeys(CLAIMS, "") | {"paper": "made2016", "verdict": "reproduced", "source": "recorded"}
    rows = [row | {"claim": "made-1", "test": "value"}, row | {"claim": "made-2", "test": "refers"}]
    write_csv(results / "smoke" / "claims.csv", rows, CLAIMS, "smoke")
    found = states(catalogue, results)
    assert (found["claim", "made-1"], found["claim", "made-2"]) == ("planned, not run", "smoke")


def test_a_report_counts_its_own_scale_and_the_record_alone(made):
    catalogue, results = made
    row = dict.fromkeys(CLAIMS, "") | {"paper": "made2016", "claim": "made-1", "test": "refers"}
    for scale in ("laptop", "recorded"):
        write_csv(results / scale / "claims.csv", [row], CLAIMS, scale)
    everywhere = next(row for row in coverage.statements(catalogue, "made2016", results))
    alone = next(row for row in coverage.statements(catalogue, "made2016", results, ["smoke"]))
    assert everywhere.state == "smoke; laptop; recorded n = 1"
    assert alone.state == "smoke; recorded n = 1"


def test_recorded_seeds_are_those_of_the_weakest_recorded_curve(made):
    """Three seeds of one curve and two of another are `recorded n = 2–3`, and the curves are counted."""
    catalogue, results = made
    home = results / "recorded" / "runs" / "made2016" / "addition" / "T20"
    for variant, folders in {"tgu": [(0, 1), (2,)], "gru": [(0, 1)]}.items():
        for chunk, seeds in enumerate(folders):
            path = home / variant / "main" / f"final-{chunk}" / "record.json"
            path.parent.mkdir(parents=True)
            names = ("made2016", "addition", "paper", "T20", variant, "main", "final")
            key = dict(zip(KEY[:7], names, strict=True))
            found = [key | {"point": 0, "seed": seed, "dataset": ""} for seed in seeds]
            write_json(path, {"replicas": found}, run_name(key))
    assert states(catalogue, results)["artefact", "fig-1"] == "smoke; recorded n = 2–3 (2 of 4 curves)"


def test_what_is_computed_is_recorded_by_its_table(made):
    catalogue, results = made
    table = results / "recorded" / "computed" / "made2016" / "windows.csv"
    table.parent.mkdir(parents=True)
    table.touch()
    assert states(catalogue, results)["artefact", "fig-2"] == "smoke; recorded (computed)"


def test_the_guard_names_what_fell_back(made, tmp_path):
    """A drawing that is gone, fewer seeds and a row that left the catalogue are named; a gain is not."""
    catalogue, results = made
    path = tmp_path / "coverage.csv"
    coverage.write(path, coverage.rows(catalogue, results))
    assert coverage.regressions(path, coverage.rows(catalogue, results), ["smoke", "recorded"]) == []
    path.write_text(
        path.read_text().replace("made2016,artefact,table-1,yes,,,", "made2016,artefact,table-1,yes,,,5")
        + "made2016,claim,gone-1,yes,,,\n"
    )
    (results / "smoke" / "figures" / "made2016" / "fig-1.pdf").unlink()
    assert coverage.regressions(path, coverage.rows(catalogue, results), ["smoke", "recorded"]) == [
        "made2016 artefact fig-1: smoke was yes, is nothing",
        "made2016 artefact table-1: recorded was 5, is nothing",
        "made2016 claim gone-1: smoke was yes, is nothing",
    ]
    with pytest.raises(ValueError, match="--scales 'tiny' given; allowed are smoke, laptop, paper, recorded"):
        coverage.check_scales(["tiny"])


def test_the_command_prints_and_guards(made, monkeypatch):
    """`tensor-rnns coverage` lists every row, and ends with an error where the guard has more."""
    _, results = made
    monkeypatch.chdir(results.parent)
    command = ["coverage", "--papers", "made2016"]
    shown = CliRunner().invoke(main, [*command, "--write", "coverage.csv"])
    assert shown.exit_code == 0
    assert "4 artefacts: 3 smoke, 0 laptop, 0 paper, 0 recorded, 0 not testable, 1 absent" in shown.output
    unknown = CliRunner().invoke(main, [*command, "--scales", "smok"])
    assert unknown.exit_code == 2
    assert "'smok' given; allowed are smoke, laptop, paper, recorded" in unknown.output
    only = CliRunner().invoke(main, [*command, "--absent", "--guard", "coverage.csv"])
    assert only.exit_code == 0
    assert [line.split()[2] for line in only.output.splitlines()[:-1]] == ["fig-9", "made-3"]
    (results / "smoke" / "tables" / "made2016" / "table-1.csv").unlink()
    lost = CliRunner().invoke(main, [*command, "--guard", "coverage.csv"])
    assert lost.exit_code == 2
    assert "artefact table-1: smoke was yes, is nothing" in lost.output
