"""An archive holds the report and all that it rests on, and no data; equal inputs give equal bytes."""

import hashlib
import shutil
import subprocess
import zipfile
from pathlib import Path

from tensor_rnns.archive import layout
from tensor_rnns.files import read_csv, read_json, write_csv


def members(path) -> dict[str, bytes]:
    """{path below the top folder: content} of an archive."""
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}


def test_equal_inputs_give_equal_bytes(archived, plain) -> None:
    again = archived("again/plain.zip")
    assert again.read_bytes() == plain.read_bytes()


def test_leftovers_of_other_papers_change_nothing(checkout, archived, plain) -> None:
    """Joined tables that the report does not rest on are not in the archive, nor what they say of data."""
    [table] = (checkout / "results" / "smoke" / "collected").rglob("runs.csv")
    rows = [row | {"dataset": "mnist"} for row in read_csv(table)]
    homes = [checkout / "results" / scale / "collected" / "other2020" for scale in ("smoke", "recorded")]
    try:
        for home in homes:
            write_csv(home / "one" / "runs.csv", rows, tuple(rows[0]), "other2020/one/smoke")
        assert archived("left/plain.zip").read_bytes() == plain.read_bytes()
    finally:
        for home in homes:
            shutil.rmtree(home, ignore_errors=True)


def test_manifest_names_every_other_member(plain, unpacked) -> None:
    rows = list(read_csv(unpacked / layout.MANIFEST, layout.MANIFEST_COLUMNS, layout.holds(layout.MANIFEST)))
    held = members(plain)
    assert [row["path"] for row in rows] == sorted(held.keys() - {layout.MANIFEST})
    for row in rows:
        content = held[row["path"]]
        assert (row["bytes"], row["sha256"]) == (str(len(content)), hashlib.sha256(content).hexdigest())


def test_members_are_sorted_in_one_folder_at_one_time(plain) -> None:
    with zipfile.ZipFile(plain) as archive:
        names = archive.namelist()
        assert names == sorted(names)
        assert {name.partition("/")[0] for name in names} == {"plain"}
        assert {member.date_time for member in archive.infolist()} == {(2016, 11, 21, 0, 0, 0)}


def test_it_holds_code_report_runs_and_how_they_were_made(checkout, unpacked) -> None:
    tracked = subprocess.run(
        ["git", "-C", checkout, "ls-files"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    code = [name for name in tracked if not name.startswith("results/recorded/")]
    assert len(code) > 300
    for name in code:
        assert (unpacked / "code" / name).read_bytes() == (checkout / name).read_bytes(), name
    for name in tracked:
        if name not in code:
            assert (unpacked / name).read_bytes() == (checkout / name).read_bytes(), name
    smoke = unpacked / "results" / "smoke"
    assert (smoke / "report" / "index.html").is_file()
    runs = list(smoke.glob("runs/**/record.json"))
    assert len(runs) >= 8
    assert all((run.parent / name).is_file() for run in runs for name in ("metrics.csv", "curves.csv.gz"))
    settings = read_json(unpacked / layout.CONFIG, layout.holds(layout.CONFIG))
    papers = "mathews2016/xor,mathews2016/sizes"
    assert settings == {"data": "embedded", "guests": "", "papers": papers, "roots": "", "scale": "smoke"}


def test_what_other_reports_have_left_is_not_in_it(archived, checkout, plain) -> None:
    """A variant, a table and a figure that this report has not, and a file beside the recorded runs."""
    results = checkout / "results"
    run = next((results / "smoke" / "runs" / "mathews2016" / "xor").glob("*/*"))
    left = [
        Path(shutil.copytree(run, run.with_name("guest-left"))),
        Path(shutil.copytree(results / "smoke" / "collected" / "mathews2016" / "xor",
                             results / "smoke" / "collected" / "mathews2016" / "left")),
    ]  # fmt: skip
    for name in ("smoke/figures/mathews2016/fig-left.svg", "recorded/left.json"):
        assert not (results / name).exists()
        (results / name).write_text("left")
        left.append(results / name)
    try:
        assert archived("beside/plain.zip").read_bytes() == plain.read_bytes()
    finally:
        for path in left:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
