"""A kind of drawing is a module with a function `draw`; render finds it and writes its two files."""

from pathlib import Path

import pytest

from tensor_rnns.analysis.tables import COMPUTED
from tensor_rnns.drawing.render import draw_artefact, kinds, paths, render
from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import write_csv

FILE = """
title: Windows
source: {section: 4}
kind: compute
compute: {function: windows.windows}
artefacts:
  fig-2: {draw: windows}
  table-2: {draw: table, rows: [item], columns: name, where: {index: 1.0}}
  fig-3: {draw: pie}
"""


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    folder = tmp_path / "papers" / "made2016"
    folder.mkdir(parents=True)
    (folder / "windows.yaml").write_text(FILE)
    rows = [{"item": "a", "name": "slow", "index": k, "value": 0.9**k} for k in range(5)]
    write_csv(tmp_path / "results" / "smoke" / "computed" / "made2016" / "windows.csv", rows, COMPUTED)
    return Catalogue.load(tmp_path / "papers")


def test_the_kinds_are_the_modules_that_draw():
    assert {"curves", "table", "windows"} <= set(kinds())
    assert not {"render", "style", "tables", "data", "layout", "series", "beside"} & set(kinds())


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
    assert (results / "smoke" / "tables" / "made2016" / "table-2.csv").read_text().splitlines()[
        1
    ] == "a,slow,,0.9,,,1,0"


def test_errors_name_what_is_allowed(catalogue, data, tmp_path):
    results = tmp_path / "results"
    with pytest.raises(ValueError, match=r"unknown kind of drawing 'pie'; allowed: .*curves.*table.*windows"):
        render(catalogue, "smoke", "made2016", "fig-3", results)
    with pytest.raises(ValueError, match="allowed: fig-2, fig-3, table-2"):
        render(catalogue, "smoke", "made2016", "fig-9", results)
    with pytest.raises(ValueError, match="windows was not run at scale paper"):
        render(catalogue, "paper", "made2016", "fig-2", results)
    with pytest.raises(ValueError, match="written as pdf or svg"):
        render(catalogue, "smoke", "made2016", "fig-2", results, [tmp_path / "a.png"])
    with pytest.raises(ValueError, match="unknown kind"):
        draw_artefact(data, catalogue.artefacts["made2016", "fig-3"])
