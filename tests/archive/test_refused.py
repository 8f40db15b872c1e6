"""An archive that cannot be made is refused, and what is missing is said; nothing is left behind."""

import shutil
import zipfile
from pathlib import Path

import pytest

from tensor_rnns.archive import layout, provenance
from tensor_rnns.archive import make as making
from tensor_rnns.archive.make import make, write
from tensor_rnns.files import Damaged, write_csv

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


@pytest.mark.parametrize(
    ("setting", "path"),
    [
        ("guests", "left.py"),
        ("guests", "../left.py"),
        ("guests", "{home}/docs/my_cell.py"),
        ("roots", "left"),
        ("roots", "workflow/pap"),
        ("roots", "{home}/workflow/papers"),
    ],
)
def test_guests_and_papers_that_would_stay_out(
    setting, path, checkout, inside, tmp_path, monkeypatch
) -> None:
    """Only tracked files are in the archive, by their paths in the checkout: nobody could verify others."""
    path = path.format(home=checkout)
    real = provenance.configuration
    changed = {"guests": "docs/my_cell.py", "roots": "workflow/papers", setting: path}
    monkeypatch.setattr(provenance, "configuration", lambda *asked: real(*asked) | changed)
    said = refused(inside, tmp_path / "out" / "a.zip")
    assert said == (
        f"the report was made with {path}; allowed are tracked files and folders of the checkout, by their "
        "paths in it"
    )


def test_a_file_of_a_paper_that_is_not_tracked(checkout, inside, tmp_path) -> None:
    """It is of the report, and would not be in the archive."""
    added = Path("workflow/papers/mathews2016/captions/xor-later.md")
    (checkout / added).write_text("Later.\n")
    try:
        assert refused(inside, tmp_path / "out" / "a.zip").startswith(f"the report was made with {added}; ")
    finally:
        (checkout / added).unlink()


def test_verdicts_of_other_claims_than_those_that_stand(inside, tmp_path) -> None:
    """They would differ from those that whoever verifies the archive makes."""
    write_csv(inside / "recorded" / "claims.csv", [{"claim": "m9.9-9"}], ["claim"], "recorded")
    said = refused(inside, tmp_path / "out" / "a.zip")
    assert "claims.csv: " in said
    assert said.endswith("write it anew: `tensor-rnns recorded`, and commit it")


def test_tracked_guests_and_papers_are_taken(inside, tmp_path, monkeypatch) -> None:
    real, given = provenance.configuration, {"guests": "docs/my_cell.py", "roots": "./workflow/papers"}
    monkeypatch.setattr(provenance, "configuration", lambda *asked: real(*asked) | given)
    assert make(ROOTS, "smoke", inside, tmp_path / "a.zip").exists()


def test_a_file_that_changes_while_it_is_archived(tmp_path, monkeypatch) -> None:
    """As one that a job writes: its sum in the manifest would be that of another content."""
    member, entry = tmp_path / "curves.csv", making.entry
    member.write_text("1")

    def later(*arguments):
        member.write_text("2")
        return entry(*arguments)

    monkeypatch.setattr(making, "entry", later)
    with pytest.raises(
        ValueError, match=r"curves\.csv changed while it was archived; wait until no job runs"
    ):
        write({"results/curves.csv": member}, tmp_path / "a.zip", 1479686400)
    assert [path.name for path in tmp_path.iterdir()] == ["curves.csv"]


@pytest.mark.parametrize(("limit", "most"), [("MOST_MEMBERS", 3), ("MOST_BYTES", 20)])
def test_more_than_may_be_read(limit, most, tmp_path, monkeypatch) -> None:
    members = {"a": b"a" * 10, "b": b"b" * 10}
    monkeypatch.setattr(layout, limit, most)
    write(members, tmp_path / "a.zip", 1479686400)
    with open(tmp_path / "a.zip", "rb") as raw, zipfile.ZipFile(raw) as archive:
        assert len(archive.infolist()) == len(members) + 1
    with pytest.raises(ValueError, match="an archive of 3 members, 30 bytes, asked for; allowed are fewer"):
        write(members | {"c": b"c" * 10}, tmp_path / "b.zip", 1479686400)
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]
