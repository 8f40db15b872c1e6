"""A kind of drawing is a module with a function `draw`; render finds it and writes its two files."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.drawing.render import kinds, paths, render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import write_csv

FILE = """
title: Windows
source: {section: 4}
kind: compute
compute: {function: windows.windows}
artefacts:
  fig-2: {draw: windows}
  table-2: {draw: table, rows: [item], columns: name, where: {index: 1}}
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    folder = tmp_path / "papers" / "made2016"
    folder.mkdir(parents=True)
    (folder / "windows.yaml").write_text(FILE)
    rows = [{"item": "a", "name": "slow", "index": k, "value": 0.9**k} for k in range(5)]
    path = tmp_path / "results" / "smoke" / "computed" / "made2016" / "windows.csv"
    write_csv(path, rows, COMPUTED, "made2016/windows/smoke")
    return Catalogue.load(tmp_path / "papers")


def test_the_kinds_are_the_modules_that_draw():
    assert {"curves", "table", "windows"} <= set(kinds())
    assert not {"render", "style", "tables", "data", "layout", "groups", "beside", "entrants"} & set(kinds())


def test_figures_and_tables_are_written_where_they_are_looked_for(catalogue, tmp_path):
    results = tmp_path / "results"
    for name, folder, suffixes in (
        ("fig-2", "figures", [".pdf", ".svg"]),
        ("table-2", "tables", [".tex", ".csv"]),
    ):
        written = render(catalogue, "smoke", "made2016", name, results)
        assert written == paths(results, "smoke", catalogue.artefacts["made2016", name])
        assert [path.suffix for path in written] == suffixes
        assert all(
            path.parent == results / "smoke" / folder / "made2016" and path.stat().st_size for path in written
        )
    lines = (results / "smoke" / "tables" / "made2016" / "table-2.csv").read_text().splitlines()
    assert lines[-1] == "a,a,slow,,0.9,,,,1,0,0.9,Scale: smoke."


def test_a_roll_that_is_played_is_written_as_music_too(probed, artefact, tmp_path, monkeypatch):
    """The folders are told apart, so that two jobs write the figure and the music."""
    spec = {
        "probe": "inside",
        "where": {"condition": "T250"},
        "rows": [{"array": "notes", "lowest": 60, "play": True}],
    }
    played = artefact("roll", **spec)
    silent = artefact("roll", **spec | {"rows": [{"array": "notes"}]})
    home = Path("results")
    assert [path.name for path in paths(home, "laptop", silent)] == ["fig-1.pdf", "fig-1.svg"]
    assert paths(home, "laptop", played)[2] == home / "laptop" / "music" / "made2016" / "fig-1.mid"
    known = SimpleNamespace(
        artefacts={("made2016", "fig-1"): played}, experiment_of=lambda one: probed.experiment
    )
    monkeypatch.setattr("tensor_rnns.drawing.render.ArtefactData.load", lambda *_, **__: probed)
    written = render(known, "laptop", "made2016", "fig-1", tmp_path, only="music")
    assert [path.relative_to(tmp_path).as_posix() for path in written] == ["laptop/music/made2016/fig-1.mid"]
    assert written[0].read_bytes().startswith(b"MThd")
    assert not (tmp_path / "laptop" / "figures").exists()


def test_errors_name_what_is_allowed(catalogue, tmp_path):
    results = tmp_path / "results"
    with pytest.raises(ValueError, match="allowed are fig-2, table-2"):
        render(catalogue, "smoke", "made2016", "fig-9", results)
    with pytest.raises(ValueError, match="windows was not run at scale paper"):
        render(catalogue, "paper", "made2016", "fig-2", results)
