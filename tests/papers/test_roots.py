"""Papers are found below the configured folders, with their own Python, and depend on no other paper."""

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns import functions, papers
from tensor_rnns.checking import calls
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import Catalogue, digest

MADE_UP = Path(__file__).parent / "made_up"


@pytest.fixture
def root(tmp_path) -> Path:
    """A folder with the made-up paper, named anew so that no other test has imported its modules."""
    shutil.copytree(MADE_UP / "made2024", tmp_path / tmp_path.name / "other2025")
    return tmp_path / tmp_path.name


def test_a_paper_of_another_root_is_found_with_its_functions(root):
    """Names of both kinds join those of the package; the rows are those of the folder's own code."""
    assert "other2025.powers" not in functions.sources("compute")
    papers.look_in([root])
    assert functions.sources("compute")["other2025.powers"] == root / "other2025" / "powers.py"
    assert functions.sources("probe").keys() >= {"mean_gates", "mathews2016.letters", "other2025.reach"}
    rows = functions.computed("other2025.powers")({"gate": 0.5, "steps": 2})
    assert [row["value"] for row in rows] == [0.5, 0.25, 0.0, 0.25]


def test_unknown_function_is_refused_with_the_allowed_names():
    with pytest.raises(ValueError, match=r"no compute 'theory'; allowed are texts, .* mathews2016\.bu"):
        functions.computed("theory")
    with pytest.raises(ValueError, match=r"no probe 'mathews2016.theory'; allowed are .*mean_gates"):
        functions.probe("mathews2016.theory")


def test_code_of_two_papers_of_one_name_is_refused(root):
    (root / "mathews2016").mkdir()
    (root / "mathews2016" / "theory.py").write_text("")
    with pytest.raises(ValueError, match="both hold code of one paper"):
        papers.look_in([root])
    with pytest.raises(ValueError, match="both hold code of one paper"):
        papers.look_in([shutil.copytree(root / "other2025", root / "a" / "other2025").parent, root])


def test_a_paper_below_two_roots_is_refused(root):
    shutil.copytree(root / "other2025", root / "a" / "other2025")
    with pytest.raises(ValueError, match="are one paper; allowed is one folder"):
        Catalogue.load([root, root / "a"])


def test_roots_without_papers_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"no papers below .*/empty"):
        Catalogue.load([tmp_path / "empty"])
    with pytest.raises(ValueError, match="no folder of papers given"):
        Catalogue.load([])


def test_a_misspelt_root_beside_a_good_one_is_refused_by_every_command(root):
    roots = f"--roots={root},{root}x"
    for command in (["check"], ["target", "a"], ["coverage"]):
        done = CliRunner().invoke(main, [roots, *command])
        said = f"tensor-rnns: no papers below {root}x; each is a folder of experiment files\n"
        assert (done.exit_code, done.stderr) == (2, said), command


def test_a_change_in_the_code_of_one_paper_leaves_the_others_alone(root):
    """What a function imports of its own paper's folder counts; another file beside it does not."""
    for name in ("powers", "reach"):
        with (root / "other2025" / f"{name}.py").open("a") as stream:
            stream.write("\n\nfrom tensor_rnns.papers.other2025 import helper\n")
    (root / "other2025" / "helper.py").write_text("FACTOR = 2\n")
    papers.look_in([root])
    asked = [("compute", "other2025.powers"), ("probe", "other2025.reach"), ("compute", "mathews2016.theory"),
             ("probe", "mathews2016.letters"), ("compute", "texts")]  # fmt: skip
    before = [functions.code_of(*one) for one in asked]
    assert len(set(before)) == len(before)
    (root / "other2025" / "beside.py").write_text("FACTOR = 2\n")
    digest.of_source.cache_clear()
    assert [functions.code_of(*one) for one in asked] == before
    (root / "other2025" / "helper.py").write_text("FACTOR = 3\n")
    digest.of_source.cache_clear()
    after = [functions.code_of(*one) for one in asked]
    assert [old != new for old, new in zip(before, after, strict=True)] == [True, True, False, False, False]


def test_a_table_that_code_reads_beside_itself_counts(root):
    """It is named in the code; another beside it, or one of that name elsewhere, does not count."""
    home = root / "other2025"
    with (home / "powers.py").open("a") as stream:
        stream.write('\n\nTABLE = Path(__file__).with_name("table.csv")\n')
    papers.look_in([root])
    found = []
    for name, text in (("none", ""), ("table.csv", "1"), ("table.csv", "2"), ("other.csv", "3")):
        (home / name).write_text(text)
        (root / name).write_text(text)
        found.append(functions.code_of("compute", "other2025.powers"))
    (home / "table.csv").write_text("1")
    found.append(functions.code_of("compute", "other2025.powers"))
    assert [found.index(one) for one in found] == [0, 1, 2, 2, 1]


BUILDER = """
from tensor_rnns import cells

def compute(*, kind: str):
    return cells.build({"name": kind, "hidden": 3}, 2)
"""


def test_what_a_function_builds_by_name_counts(root):
    """A name in the arguments or in the code makes the cell's module count, with what that imports."""
    (root / "other2025" / "builder.py").write_text(BUILDER)
    (root / "other2025" / "sure.py").write_text(
        BUILDER.replace("kind}", '"lr_gru"}').replace("kind,", '"lr_gru",')
    )
    papers.look_in([root])

    def cells_of(name: str, kind: str) -> set[str]:
        files = functions.called("compute", f"other2025.{name}", {"arguments": {"kind": kind}})
        return {file.stem for file in files if file.parent.name == "cells"}

    plain = {"__init__", "base", "named"}
    assert cells_of("builder", "none") == plain
    assert cells_of("builder", "gru") == plain | {"gated"}
    assert cells_of("builder", "trnn") >= plain | {"tensorized"}
    assert "low_rank" in cells_of("sure", "none")
    assert "low_rank" not in cells_of("builder", "gru")
    (root / "other2025" / "sure.py").write_text(
        BUILDER.replace('{"name": kind', '{"name": min(cells.families())')
    )
    functions.contents.cache_clear()
    assert functions.located("tensor_rnns.papers.nobody2020.powers", ("papers",), ()) is None
    assert cells_of("sure", "none") >= {path.stem for path in digest.sources("cells").values()}


@pytest.mark.parametrize("asks", ["from . import powers", "from .powers import compute"])
def test_a_relative_import_is_refused_where_code_is_counted(root, asks):
    """What it leads to would not count."""
    (root / "other2025" / "relative.py").write_text(f"{asks}\n\n\ndef compute():\n    return []\n")
    papers.look_in([root])
    with pytest.raises(ValueError, match=r"relative.py:1: a relative import; allowed are whole names"):
        functions.code_of("compute", "other2025.relative")
    (problem,) = calls.called(("compute",), "compute", "other2025.relative", {})
    assert "a relative import; allowed are whole names" in problem[1]


def test_a_name_counts_wherever_it_stands_in_the_arguments():
    found = set(functions.texts({'a "b': ['5" wide', {"kind": ("gru", 3, None)}]}))
    assert found == {'a "b', '5" wide', "kind", "gru"}
