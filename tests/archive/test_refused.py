"""An archive that cannot be made is refused, and what is missing is said; nothing is left behind."""

import shutil
import zipfile
from pathlib import Path

import pytest

from tensor_rnns.archive.make import make
from tensor_rnns.files import Damaged

ROOTS = ["workflow/papers"]


@pytest.fixture
def inside(checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The checkout as working folder, and a copy of its results that a test may change."""
    monkeypatch.chdir(checkout)
    return shutil.copytree(checkout / "results", tmp_path / "results")


def refused(results: Path, out: Path, scale: str = "smoke", **options: bool) -> str:
    """What is said."""
    with pytest.raises(ValueError) as error:
        make(ROOTS, scale, results, out, **options)
    assert not out.parent.exists() or not list(out.parent.iterdir())
    return str(error.value)


def test_without_a_report(inside, tmp_path) -> None:
    (inside / "smoke" / "report" / "index.html").unlink()
    said = refused(inside, tmp_path / "out" / "a.zip")
    assert "report/index.html: make it by `make report SCALE=smoke`" in said


def test_everything_that_is_missing_is_said_at_once(inside, tmp_path) -> None:
    said = refused(inside, tmp_path / "out" / "a.zip", scale="laptop")
    assert "laptop/report/index.html" in said
    assert "laptop/claims.csv" in said


def test_results_of_another_scale(inside, tmp_path) -> None:
    (inside / "smoke").rename(inside / "laptop")
    with pytest.raises(Damaged, match="it holds 'smoke'; asked for was 'laptop'"):
        make(ROOTS, "laptop", inside, tmp_path / "a.zip")


def test_changed_files_unless_they_are_meant(checkout, inside, tmp_path) -> None:
    changed = checkout / "README.md"
    before = changed.read_bytes()
    try:
        changed.write_bytes(before + b"\n")
        said = refused(inside, tmp_path / "out" / "a.zip")
        assert "tracked files differ from commit" in said
        assert "--dirty" in said
        made = make(ROOTS, "smoke", Path("results"), tmp_path / "a.zip", dirty=True)
        with zipfile.ZipFile(made) as archive:
            assert b"with uncommitted changes" in archive.read("a/ro-crate-metadata.json")
    finally:
        changed.write_bytes(before)


def test_without_snakemakes_record_of_the_report(checkout, inside, tmp_path) -> None:
    shutil.move(checkout / ".snakemake" / "metadata", checkout / ".snakemake" / "elsewhere")
    try:
        assert "Snakemake has no record of results/smoke/report/index.html" in refused(
            inside, tmp_path / "out" / "a.zip"
        )
    finally:
        shutil.move(checkout / ".snakemake" / "elsewhere", checkout / ".snakemake" / "metadata")
