"""What the recorder does before it trains: a data set comes from its source or from installed packages."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns import functions
from tensor_rnns.cli.commands import main
from tensor_rnns.experiments import Catalogue
from tensor_rnns.recording.record import Settings, preparations
from tensor_rnns.recording.units import units

ROOTS = "workflow/papers"


@pytest.fixture(scope="module")
def found():
    """A unit of each of three experiments at the paper's scale, by experiment."""
    names = ("addition", "fonts", "polyphony")
    catalogue = Catalogue.load(ROOTS, [f"mathews2016/{name}" for name in names])
    return {unit.experiment.name: unit for unit in units(catalogue.experiments.values(), 5)}


def settings(results, mirrors=("file:///one", "file:///two")):
    return Settings(Path(results), Path("state"), ROOTS, mirrors, 5, "auto", 1, None, False)


def test_a_public_data_set_is_downloaded_from_every_mirror_and_prepared(found, tmp_path):
    unit = found["polyphony"]
    name = unit.final[0][0].settings["dataset"]
    download, prepare = preparations(unit, settings(tmp_path))
    mirrors = ["--mirror", "file:///one", "--mirror", "file:///two"]
    raw, ready = f"{tmp_path}/data/raw", f"{tmp_path}/data/ready"
    assert download == ["--roots", ROOTS, "download", name, *mirrors, "--into", raw]
    assert prepare == ["--roots", ROOTS, "prepare", name, "--raw", raw, "--into", ready]


def test_a_data_set_of_packages_is_prepared_alone(found, tmp_path):
    (prepare,) = preparations(found["fonts"], settings(tmp_path))
    assert prepare[2:4] == ["prepare", found["fonts"].final[0][0].settings["dataset"]]


def asked(unit, results):
    """The commands of the preparations by name."""
    return [line[2] for line in preparations(unit, settings(results))]


def test_what_is_generated_needs_nothing(found, tmp_path):
    assert asked(found["addition"], tmp_path) == []


@pytest.mark.parametrize("experiment", ["polyphony", "fonts"])
def test_what_was_prepared_by_other_code_or_who_knows_by_which_is_prepared_again(
    experiment, found, tmp_path, monkeypatch
):
    unit = found[experiment]
    commands = ["download", "prepare"] if experiment == "polyphony" else ["prepare"]
    name, ready = unit.final[0][0].settings["dataset"], tmp_path / "data" / "ready"
    ready.mkdir(parents=True)
    (ready / f"{name}.json").touch()
    assert asked(unit, tmp_path) == commands
    (ready / f"{name}.made").write_text(functions.dataset_digest(name))
    assert asked(unit, tmp_path) == []
    monkeypatch.setattr(functions, "dataset_digest", lambda name: "another")
    assert asked(unit, tmp_path) == commands
    (ready / f"{name}.made").write_text("another")
    assert asked(unit, tmp_path) == []
    (ready / f"{name}.json").unlink()
    assert asked(unit, tmp_path) == commands


def test_the_command_that_prepares_says_by_which_code(found, tmp_path):
    """Whoever calls it, the recorder or the workflow."""
    (line,) = preparations(found["fonts"], settings(tmp_path))
    assert CliRunner().invoke(main, line).exit_code == 0
    assert asked(found["fonts"], tmp_path) == []
