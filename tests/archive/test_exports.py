"""What a checker, a register and a lawyer take from an archive: ten numbers, verdicts, where the data are."""

import shutil
import zipfile
from collections import Counter

import pytest

from tensor_rnns import datasets, yaml_files
from tensor_rnns.analysis.judge import CLAIMS, judge
from tensor_rnns.archive import contents, layout
from tensor_rnns.archive.contents import DATA_COLUMNS
from tensor_rnns.archive.exports import FORRT_COLUMNS, NUMBERS, OUTCOMES, again, to_check
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_csv, read_json


@pytest.fixture(scope="module")
def claims(unpacked) -> dict[str, dict[str, str]]:
    """The rows of claims.csv by claim."""
    rows = read_csv(unpacked / "results" / "smoke" / "claims.csv", CLAIMS, "smoke")
    return {row["claim"]: row for row in rows}


@pytest.fixture(scope="module")
def asked(unpacked) -> dict:
    """codecheck.yml."""
    return yaml_files.read(unpacked / layout.CODECHECK).content


def test_ten_numbers_are_named_exactly_and_their_files_are_there(unpacked, claims, asked) -> None:
    assert len(asked["numbers"]) == NUMBERS == 10
    for one in asked["numbers"]:
        assert one["exactly"] == claims[one["claim"]]["ours"]
        assert str(one["n"]) == claims[one["claim"]]["n"]
        assert "make report SCALE=smoke" in one["command"]
    for entry in asked["manifest"]:
        assert (unpacked / entry["file"]).is_file()


def test_the_ten_numbers_come_back_from_the_archive_alone(unpacked, asked, tmp_path) -> None:
    """Judged again from the tables of the archive, by its own claims."""
    for place in ("smoke", "recorded"):
        for folder in ("collected", "computed"):
            home = unpacked / "results" / place / folder
            if home.exists():
                shutil.copytree(home, tmp_path / place / folder)
    papers = read_json(unpacked / layout.CONFIG)["papers"].split(",")
    judge(Catalogue.load(unpacked / "code" / "workflow" / "papers", papers), "smoke", tmp_path)
    made = {row["claim"]: row["ours"] for row in read_csv(tmp_path / "smoke" / "claims.csv")}
    assert {one["claim"]: one["exactly"] for one in asked["numbers"]}.items() <= made.items()


def test_the_command_makes_the_report_of_the_same_papers_and_cells() -> None:
    settings = {"scale": "smoke", "data": "embedded", "roots": "a,b", "papers": "made2024", "guests": "my.py"}
    made = "make report SCALE=smoke DATA=embedded"
    whole = f'{made} CONFIG="paper_roots=a,b papers=made2024 guest_cells=my.py"'
    assert again(settings).endswith(f"&& {whole}")
    assert again(settings | {"roots": "", "papers": "", "guests": ""}).endswith(f"&& {made}")
    assert {"paper_roots", "papers", "guest_cells"} <= yaml_files.read("config.yaml").content.keys()


def test_headline_findings_come_first_and_verdicts_before_none() -> None:
    rows = [
        {"claim": name, "ours": ours, "verdict": verdict}
        for name, ours, verdict in (
            ("a", "1", "not judged"), ("b", "2", "reproduced"), ("c", "", "reproduced"),
            ("d", "3", "not judged"), ("e", "4", "undecided"),
        )
    ]  # fmt: skip
    board = {"papers": {"made": {"headlines": [{"claims": ["d", "c"]}, {"claims": ["e"]}]}}}
    assert [row["claim"] for row in to_check(rows, board)] == ["d", "e", "b", "a"]
    assert len(to_check(rows * 9, board)) == NUMBERS


def test_verdicts_are_exported_as_claim_study_outcome_and_relation(unpacked, claims) -> None:
    rows = list(read_csv(unpacked / layout.FORRT, FORRT_COLUMNS, layout.holds(layout.FORRT)))
    assert [row["claim.claim"] for row in rows] == list(claims)
    for row in rows:
        own = claims[row["claim.claim"]]
        status, relation = OUTCOMES[own["verdict"]]
        assert row["outcome.validationStatus"].endswith(f"/{status}")
        assert row["citation.cites"].endswith(f"/{relation}")
        assert row["claim.aida"].rstrip(".") == own["statement"].rstrip(".")
        assert row["citation.cited"]
    assert len(Counter(row["outcome.validationStatus"] for row in rows)) > 1


def test_no_data_are_passed_on_and_every_data_set_is_named(checkout, unpacked) -> None:
    ready = checkout / "results" / "data"
    arrays = {path.read_bytes() for path in ready.rglob("*") if path.is_file() and path.suffix != ".json"}
    assert arrays
    held = [path for path in unpacked.rglob("*") if path.is_file()]
    assert not [path for path in held if path.suffix == ".npz" and path.read_bytes() in arrays]
    assert {path.suffix for path in (unpacked / "results" / "data").rglob("*.*")} == {".json"}
    assert {path.name for path in (unpacked / "data").iterdir()} == {"manifest.csv"}
    rows = list(read_csv(unpacked / layout.DATA_TABLE, DATA_COLUMNS, layout.holds(layout.DATA_TABLE)))
    assert {row["dataset"] for row in rows} == set(datasets.names())
    for row in rows:
        card = datasets.card(row["dataset"])
        assert row["may be passed on"] == card["archive"]
        assert row["licence"]
        assert row["sha256"] or row["file"].startswith("in ")
    (mnist, *_) = [row for row in rows if row["dataset"] == "mnist"]
    assert mnist["stood in by"] == "digits"


def test_of_prepared_data_only_facts_are_taken(tmp_path) -> None:
    ready = tmp_path / "data" / "ready"
    ready.mkdir(parents=True)
    for name in ("jsb.json", "jsb.npz"):
        (ready / name).write_bytes(b"x")
    assert list(contents.outcomes(tmp_path, "smoke", False, ())) == ["results/data/ready/jsb.json"]


def test_weights_only_on_request(archived, unpacked) -> None:
    assert not list(unpacked.rglob(layout.WEIGHTS))
    with zipfile.ZipFile(archived("heavy.zip", "--weights")) as archive:
        names = [name for name in archive.namelist() if name.endswith(layout.WEIGHTS)]
    assert len(names) == len(list((unpacked / "results" / "smoke" / "runs").rglob("record.json")))
