"""Which tables of computed experiments are recorded, and that those recorded are of the code of today."""

from collections import Counter
from pathlib import Path

from tensor_rnns import functions, papers
from tensor_rnns.analysis.judge import CLAIMS
from tensor_rnns.compute import run
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv, read_json, write_csv
from tensor_rnns.recording import store
from tests.workflow.conftest import ROOT


def test_a_computed_table_is_recorded_as_it_is_set_today_or_refused(checkout, tmp_path):
    source, home = "paper-of-tables", "computed/made2024/forgetting.csv"
    asked = ("--scale", "paper", "--paper", "made2024", "--experiment", "forgetting")
    path = checkout.folder / source / home
    assert checkout.run("compute", *asked, "--out", str(path))[0] == 0
    (checkout.folder / "results").mkdir(exist_ok=True)
    assert "0 of 1 recorded by today's code; not made2024/forgetting (missing)" in checkout.run("status")[1]
    _, said = checkout.run("record", "--from", source, results="tables")
    assert "recorded curves: 0, computed tables: 1; refused: 0" in said
    assert (checkout.folder / "tables" / "recorded" / home).read_bytes() == path.read_bytes()
    file = checkout.papers / "made2024" / "forgetting.yaml"
    before = file.read_text(encoding="utf-8")
    try:
        file.write_text(before.replace("steps: 8", "steps: 9"), encoding="utf-8")
        _, said = checkout.run("record", "--dirty", "--from", source, results="tables")
        _, status = checkout.run("status", results="tables")
    finally:
        file.write_text(before, encoding="utf-8")
    assert f"{source}/{home}: made by other code, arguments or data than today's; compute it again" in said
    assert "recorded curves: 0, computed tables: 0; refused: 1" in said
    assert "0 of 1 recorded by today's code; not made2024/forgetting (made by other code" in status
    assert "1 of 1 recorded by today's code\n" in checkout.run("status", results="tables")[1]
    path.write_bytes(path.read_bytes().replace(b"made2024/forgetting", b"made2024/forgotten"))
    _, said = checkout.run("record", "--from", source, results="tables")
    assert f"{source}/{home}: damaged" in said
    assert "recorded curves: 0, computed tables: 0; refused: 1" in said


def test_a_table_that_is_recorded_as_it_is_set_today_stays(catalogue, checkout, tmp_path):
    """A run time that was measured alone is not overwritten by one of a loaded machine."""
    papers.look_in([checkout.papers])
    experiment, home = (
        catalogue.experiments["made2024", "forgetting"],
        Path("computed/made2024/forgetting.csv"),
    )
    by = functions.computed_digest(experiment, "paper", "real")

    def imported(value: float) -> list[tuple[bool, str]]:
        rows = [{"item": "kept", "name": "value", "index": 0, "value": value}]
        write_csv(tmp_path / "paper" / home, rows, run.COLUMNS, "made2024/forgetting/paper", by)
        experiments = catalogue.experiments.values()
        return list(store.import_computed(experiments, tmp_path / "paper", tmp_path))

    recorded = tmp_path / "recorded" / home
    assert imported(0.25) == [(True, str(recorded))]
    first = recorded.read_bytes()
    assert imported(0.75) == []
    assert recorded.read_bytes() == first
    write_csv(recorded, [], run.COLUMNS, "made2024/forgetting/paper", "0123456789abcdef")
    assert imported(0.75) == [(True, str(recorded))]
    assert recorded.read_bytes() == (tmp_path / "paper" / home).read_bytes() != first


def test_a_digest_of_what_is_computed_holds_its_data(catalogue):
    """Of a computed experiment that counts on data; arguments and code are altered in another test."""
    documents = Catalogue.load([str(ROOT / "workflow" / "papers")], ["kelley2016", "mathews2016"], [])
    asked = documents.experiments["kelley2016", "counts"], documents.experiments["mathews2016", "sizes"]
    digests = [
        [functions.computed_digest(one, "paper", data) for data in ("real", "embedded")] for one in asked
    ]
    assert [len(set(pair)) for pair in digests] == [2, 1]


def test_what_is_recorded_of_the_documents_was_computed_by_todays_code():
    """docs/record.md says how one that is not is made again."""
    documents = Catalogue.load([str(ROOT / "workflow" / "papers")], None, [])
    tables = list(store.computed_tables(documents.experiments.values(), ROOT / "results" / "recorded"))
    assert len(tables) == 39
    assert [f"{name}: {problem}" for name, _, problem in tables if problem] == []


def test_the_recorded_board_is_that_of_the_recorded_claims():
    home = ROOT / "results" / "recorded"
    verdicts = Counter(row["verdict"] for row in read_csv(home / "claims.csv", CLAIMS, "recorded"))
    counted = read_json(home / "board.json", "recorded")["claims"]
    assert {name: count for name, count in counted["verdicts"].items() if count} == verdicts
    assert counted["claims"] == sum(verdicts.values())
