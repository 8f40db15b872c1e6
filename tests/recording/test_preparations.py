"""What the recorder does before it trains: a data set comes from its source or from installed packages."""

from pathlib import Path

import pytest

from tensor_rnns import functions
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


def test_what_is_prepared_or_generated_needs_nothing(found, tmp_path, monkeypatch):
    """Until the code that prepares it is another."""
    assert list(preparations(found["addition"], settings(tmp_path))) == []
    name = found["polyphony"].final[0][0].settings["dataset"]
    (tmp_path / "data" / "ready").mkdir(parents=True)
    (tmp_path / "data" / "ready" / f"{name}.json").touch()
    assert list(preparations(found["polyphony"], settings(tmp_path))) == []
    monkeypatch.setattr(functions, "dataset_digest", lambda name: "another")
    assert [line[2] for line in preparations(found["polyphony"], settings(tmp_path))] == [
        "download",
        "prepare",
    ]


def test_what_other_code_prepared_is_prepared_again(found, tmp_path, monkeypatch):
    """Only what was done is remembered: a command that fails ends the list."""
    name = found["polyphony"].final[0][0].settings["dataset"]
    ready = tmp_path / "data" / "ready"
    for line in preparations(found["polyphony"], settings(tmp_path)):
        assert not (ready / f"{name}.made").exists()
        if line[2] == "prepare":
            ready.mkdir(parents=True)
            (ready / f"{name}.json").touch()
    assert list(preparations(found["polyphony"], settings(tmp_path))) == []
    monkeypatch.setattr(functions, "dataset_digest", lambda name: "another")
    assert next(preparations(found["polyphony"], settings(tmp_path)))[2] == "download"
    assert [line[2] for line in preparations(found["polyphony"], settings(tmp_path))] == [
        "download",
        "prepare",
    ]
    assert list(preparations(found["polyphony"], settings(tmp_path))) == []
