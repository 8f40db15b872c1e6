"""An archive of recorded runs alone is verified like one of a scale."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns.analysis.judge import CLAIMS, judge
from tensor_rnns.archive import exports, layout, make
from tensor_rnns.archive.verify import verify
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.files import read_csv, read_json, write_json
from tensor_rnns.report import build as building

SETTINGS = {"roots": "", "scale": RECORDED, "data": "real", "papers": "mathews2016/xor", "guests": ""}


@pytest.fixture
def recorded_only(unpacked, tmp_path, monkeypatch) -> Path:
    """The archive's recorded runs of one experiment, judged and reported by themselves, as an archive."""
    top = Path(shutil.copytree(unpacked, tmp_path / "recorded"))
    for name in ("smoke", "data"):
        shutil.rmtree(top / layout.RESULTS / name, ignore_errors=True)
    home = top / layout.RESULTS / RECORDED
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1479686400")
    monkeypatch.setattr(building, "compile_pdf", lambda *_: None)
    with monkeypatch.context() as patch:
        patch.chdir(top / layout.CODE)
        catalogue = Catalogue.load("workflow/papers", ["mathews2016/xor"])
        judge(catalogue, RECORDED, home.parent)
        building.build(catalogue, RECORDED, "real", home.parent)
    claims = list(read_csv(home / "claims.csv", CLAIMS, RECORDED))
    board = read_json(home / "board.json", RECORDED)
    write_json(top / layout.CONFIG, SETTINGS, layout.holds(layout.CONFIG))
    (top / layout.MANIFEST).unlink()
    names = [path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()]
    (top / layout.CODECHECK).write_bytes(exports.codecheck(claims, board, catalogue, SETTINGS, names))
    (top / layout.FORRT).write_bytes(exports.forrt(claims, catalogue, "2016-11-21"))
    make.write(
        {name: top / name for name in {*names, layout.CODECHECK, layout.FORRT}},
        tmp_path / "r.zip",
        1479686400,
    )
    return tmp_path / "r.zip"


def test_recorded_runs_alone_are_verified(recorded_only) -> None:
    outcome = verify(recorded_only, lambda told: None)
    assert outcome.differences == []
    assert outcome.checked["claims, judged again"] == 14
    assert outcome.checked["figures and tables, drawn again"] == 2
    assert outcome.checked["files, made again and compared"] >= 15
    assert len(outcome.numbers) == 9
    assert not any("PDF" in name for name in outcome.unchecked)
