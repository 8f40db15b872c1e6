"""What of the recorded runs is drawn again: what a report of another scale shows, and no more."""

import shutil
from pathlib import Path

from tensor_rnns.archive.recompute import Scale
from tensor_rnns.experiments import Catalogue

ROOT = Path(__file__).parents[2]
TABLE = Path("recorded", "computed", "mathews2016", "radial.csv")


def test_a_computed_table_is_no_drawing_of_the_artefact_of_its_name(tmp_path) -> None:
    (tmp_path / TABLE).parent.mkdir(parents=True)
    shutil.copy(ROOT / "results" / TABLE, tmp_path / TABLE)
    catalogue = Catalogue.load([ROOT / "workflow" / "papers"], ["mathews2016/radial"])
    assert ("mathews2016", "radial") in catalogue.artefacts
    for again, drawn, expected in (("none", (), []), ("one", ("radial.svg",), ["mathews2016 radial"])):
        for name in drawn:
            (tmp_path / "recorded" / "figures" / "mathews2016").mkdir(parents=True)
            (tmp_path / "recorded" / "figures" / "mathews2016" / name).touch()
        made = Scale(catalogue, "recorded", "real", tmp_path, tmp_path / again, ROOT / "report" / "templates")
        assert list(made.drawings()) == expected
