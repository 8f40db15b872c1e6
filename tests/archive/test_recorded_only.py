"""An archive of recorded runs alone is verified like one of a scale."""

import shutil
import zipfile
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import CLAIMS, judge
from tensor_rnns.archive import exports, layout, make
from tensor_rnns.archive.contents import data_table, used_data
from tensor_rnns.archive.crate import metadata
from tensor_rnns.archive.provenance import JOBS_COLUMNS
from tensor_rnns.archive.verify import verify
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import read_csv, read_json, write_json
from tensor_rnns.report import build as building
from tensor_rnns.report.provenance import Commit

EPOCH = 1479686400
SETTINGS = {"roots": "", "scale": RECORDED, "data": "real", "papers": "mathews2016/xor", "guests": ""}


@pytest.fixture
def recorded_only(unpacked, tmp_path, monkeypatch) -> Path:
    """The archive's recorded runs of one experiment, judged and reported by themselves, as an archive."""
    top = Path(shutil.copytree(unpacked, tmp_path / "recorded"))
    shutil.rmtree(top / layout.RESULTS / "smoke")
    home = top / layout.RESULTS / RECORDED
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(EPOCH))
    monkeypatch.setattr(building, "compile_pdf", lambda *_: None)
    with monkeypatch.context() as patch:
        patch.chdir(top / layout.CODE)
        catalogue = Catalogue.load("workflow/papers", ["mathews2016/xor"])
        judge(catalogue, RECORDED, home.parent)
        building.build(catalogue, RECORDED, "real", home.parent)
    claims = list(read_csv(home / "claims.csv", CLAIMS, RECORDED))
    board = read_json(home / "board.json", RECORDED)
    write_json(top / layout.CONFIG, SETTINGS, layout.holds(layout.CONFIG))
    for name in (layout.MANIFEST, layout.CRATE):
        (top / name).unlink()
    names = [path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()]
    title = make.cited({name: top / name for name in names})["title"]
    written = {
        layout.README: exports.readme(title, SETTINGS),
        layout.CODECHECK: exports.codecheck(claims, board, catalogue, SETTINGS, names),
        layout.FORRT: exports.forrt(claims, catalogue, "2016-11-21"),
        layout.DATA_TABLE: data_table(used_data({name: top / name for name in names})),
    }
    members = {name: top / name for name in names} | written
    facts = make.facts_of(members, SETTINGS, RECORDED, Commit("0" * 40, False, EPOCH))
    members[layout.CRATE] = metadata(facts, list(read_csv(top / layout.JOBS_TABLE, JOBS_COLUMNS)))
    make.write(members, tmp_path / "r.zip", EPOCH)
    return tmp_path / "r.zip"


def test_recorded_runs_alone_are_verified(recorded_only) -> None:
    outcome = verify(recorded_only, lambda told: None)
    assert outcome.differences == []
    assert outcome.checked["claims, judged again"] == 20
    assert outcome.checked["figures and tables, drawn again"] == 2
    assert outcome.checked["files, made again and compared"] >= 15
    assert len(outcome.numbers) == 10
    assert not any("PDF" in name for name in outcome.unchecked)


def test_a_board_that_is_missing_beside_the_verdicts_is_named(recorded_only, tmp_path) -> None:
    with zipfile.ZipFile(recorded_only) as archive:
        held = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    board = f"{layout.RESULTS}/{RECORDED}/board.json"
    make.write(
        {name: held[name] for name in held.keys() - {board, layout.MANIFEST}}, tmp_path / "b.zip", EPOCH
    )
    found = verify(tmp_path / "b.zip", lambda told: None).differences
    assert f"{board}: not in the archive, though its runs give it" in found
