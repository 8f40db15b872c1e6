"""Which finished jobs of an incomplete curve count, when the recorder goes on with it."""

import shutil
from pathlib import Path

import pytest

from tensor_rnns.experiments import Catalogue
from tensor_rnns.files import read_json, write_json
from tensor_rnns.recording import begun
from tensor_rnns.recording.units import Unit, units

OF = "made2024/addition/paper/only/gru/main/search"


@pytest.fixture(scope="module")
def unit(checkout) -> Unit:
    """A curve of the made-up paper with a search and no probe."""
    experiments = Catalogue.load([str(checkout.papers)], None, []).experiments.values()
    return next(unit for unit in units(experiments, 5) if unit.name.endswith("only/gru/main"))


@pytest.fixture
def run(undisturbed: Path, unit: Unit, tmp_path: Path) -> Path:
    """A copy of its first job."""
    return Path(shutil.copytree(unit.folder(undisturbed) / "search-0", tmp_path / "search-0"))


def test_a_job_counts_for_its_own_replicas_alone(run: Path, unit: Unit):
    first, second = unit.search
    assert begun.holds(run, first)
    assert not begun.holds(run, second)
    assert not begun.holds(run, first[:1])
    assert not begun.holds(run.parent / "search-1", second)


@pytest.mark.parametrize("name", ["hash", "code"])
def test_a_job_of_other_settings_or_other_code_does_not_count(run: Path, unit: Unit, name: str):
    record = read_json(run / "record.json", OF)
    record["replicas"][0][name] = "0123456789abcdef"
    write_json(run / "record.json", record, OF)
    assert not begun.holds(run, unit.search[0])


def test_a_damaged_job_does_not_count(run: Path, unit: Unit):
    text = (run / "record.json").read_text(encoding="utf-8")
    (run / "record.json").write_text(text.replace('"seed": ', '"seed": 1'), encoding="utf-8")
    assert not begun.holds(run, unit.search[0])


def test_a_kept_job_has_no_weights_where_no_probe_looks(run: Path, unit: Unit, tmp_path: Path, monkeypatch):
    begun.keep(unit, run, tmp_path)
    kept = begun.folder(unit, tmp_path) / "search-0"
    assert sorted(path.name for path in kept.iterdir()) == ["curves.csv.gz", "metrics.csv", "record.json"]
    assert begun.share(unit, tmp_path) == len(unit.search[0]) / sum(len(group) for _, _, group in unit.jobs)
    begun.bring(unit, tmp_path)
    assert begun.holds(unit.folder(tmp_path) / "search-0", unit.search[0])
    monkeypatch.setattr(begun, "code_parts", lambda settings: ("another trainer",))
    assert begun.share(unit, tmp_path) == 0, "what would be trained anew is not done"
    begun.drop(unit, tmp_path)
    assert not (tmp_path / "recorded").exists()
    assert begun.share(unit, tmp_path) == 0


def test_a_copy_that_is_cut_off_leaves_nothing_that_counts(
    run: Path, unit: Unit, tmp_path: Path, monkeypatch
):
    """However much of it was there: the run record is copied, and then the disk is full."""
    begun.keep(unit, run, tmp_path)
    copy = shutil.copy2

    def copy_until_full(source: Path, target: Path) -> None:
        if list(target.parent.glob("*")):
            raise OSError("no space left on device")
        copy(source, target)

    monkeypatch.setattr(begun.shutil, "copy2", copy_until_full)
    with pytest.raises(OSError, match="no space"):
        begun.bring(unit, tmp_path)
    assert not list(unit.folder(tmp_path).glob("*"))
    assert [path.name for path in begun.folder(unit, tmp_path).iterdir()] == ["search-0"]
    monkeypatch.undo()
    begun.bring(unit, tmp_path)
    assert begun.holds(unit.folder(tmp_path) / "search-0", unit.search[0])
