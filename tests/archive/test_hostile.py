"""An archive that is none, or would harm whoever unpacks it, is refused by name before a byte is written."""

import io
import struct
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tensor_rnns.archive import layout, make, reading
from tensor_rnns.cli.commands import main
from tensor_rnns.datasets import unpack
from tensor_rnns.files import seal, unsealed

TOP = "made"
TIME = (2016, 11, 21, 0, 0, 0)


def whole(folder: Path) -> Path:
    """A small archive as it is made."""
    path = folder / f"{TOP}.zip"
    make.write({"code/a.py": b"a = 1\n", "results/b.txt": b"b" * 50}, path, 1479686400)
    return path


def zipped(*entries, method=zipfile.ZIP_DEFLATED, mode=0o100644) -> bytes:
    """A zip file of (name, content) in the form of an archive, whatever it holds."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w") as archive:
        warnings.simplefilter("ignore")
        for name, content in entries:
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type, entry.create_system, entry.external_attr = method, 3, mode << 16
            with archive.open(entry, "w", force_zip64=True) as out:
                out.write(content)
        archive.comment = b"0" * 64
    return stream.getvalue()


def patched(content: bytes, at: int, form: str, value: int, in_directory: bool = True) -> bytes:
    """`content` with another number, `at` bytes into its first entry in the directory or into its header."""
    begin = content.index(b"PK\1\2") if in_directory else 0
    value_bytes = struct.pack(form, value)
    return content[: begin + at] + value_bytes + content[begin + at + len(value_bytes) :]


def overlapping() -> bytes:
    """Two members that share their bytes: the second is said to begin where the first does."""
    content = zipped((f"{TOP}/a", b"x" * 90), (f"{TOP}/b", b"x" * 90), method=zipfile.ZIP_STORED)
    second = content.rindex(b"PK\1\2")
    return content[: second + 42] + bytes(4) + content[second + 46 :]


def with_extra_field(content: bytes) -> bytes:
    """`content` with four more bytes behind its only entry in the directory, whose size is mended."""
    begin, end = content.index(b"PK\1\2"), content.index(b"PK\5\6")
    content = patched(content, 30, "<H", 4)
    size = struct.pack("<L", end - begin + 4)
    return content[:end] + b"\7\0\0\0" + content[end : end + 12] + size + content[end + 16 :]


ONE = zipped((f"{TOP}/a", b"x"))
HOSTILE = {
    "no zip": (b"<html>not here</html>", "File is not a zip file"),
    "nothing": (b"", "File is not a zip file"),
    "cut off": (ONE[:-90], "File is not a zip file"),
    "no manifest": (ONE, r"it has no MANIFEST\.csv"),
    "upwards": (zipped((f"{TOP}/../../a", b"x")), "leads out of the archive"),
    "absolute": (zipped(("/etc/passwd", b"x")), "leads out of the archive"),
    "backslash": (zipped((f"{TOP}\\..\\a", b"x")), "leads out of the archive"),
    "link": (zipped((f"{TOP}/a", b"/etc/passwd"), mode=0o120777), "'made/a' is a link"),
    "device": (zipped((f"{TOP}/a", b""), mode=0o020666), "'made/a' has attributes that no archive has"),
    "set user": (zipped((f"{TOP}/a", b"x"), mode=0o104755), "'made/a' has attributes that no archive has"),
    "folder": (zipped((f"{TOP}/a", b"x"), (f"{TOP}/b/", b"")), "'made/b/' is not where or what"),
    "bomb": (zipped((f"{TOP}/a", bytes(5_000_000))), "'made/a' declares 5,000,000 bytes out of"),
    "bomb of many": (
        zipped(*((f"{TOP}/{n}", bytes(150_000)) for n in range(9))),
        "more than 1,000,000 bytes",
    ),
    "twice": (zipped((f"{TOP}/a", b"x"), (f"{TOP}/a", b"y")), "'made/a' is there twice"),
    "case": (zipped((f"{TOP}/README", b"x"), (f"{TOP}/readme", b"y")), "one file where case does not count"),
    "spelling": (
        zipped((f"{TOP}/e\u0301", b"x"), (f"{TOP}/\xe9", b"y")),
        "one file where case does not count",
    ),
    "file and folder": (zipped((f"{TOP}/a", b"x"), (f"{TOP}/a/b", b"y")), "is both a file and a folder"),
    "encrypted": (patched(ONE, 8, "<H", 1), "'made/a' is encrypted"),
    "control": (zipped((f"{TOP}/a\x1b[2J", b"x")), r"a\\x1b\[2J' holds a control character"),
    "right to left": (zipped((f"{TOP}/a\u202egpj", b"x")), r"a\\u202egpj' holds a control character"),
    "overlap": (overlapping(), "share bytes"),
    "size in zip64": (patched(ONE, 36, "<Q", 9, in_directory=False), "'made/a' is not where or what"),
    "name in header": (patched(ONE, 30, "<B", 66, in_directory=False), "'made/a' is not where or what"),
    "extra field": (with_extra_field(ONE), "'made/a' has attributes that no archive has"),
    "before": (b"#!/bin/sh\n" + ONE, "is not where or what the directory says"),
    "no digest": (ONE[:-66] + bytes(2), "the directory is not behind"),
    "behind": (ONE + b"more", "the directory is not behind|not a zip file"),
    "comment": (ONE[:-66] + b"\4\0more", "the directory is not behind"),
    "two tops": (zipped(("a/x", b"1"), ("b/x", b"2")), r"one top folder; there are \['a', 'b'\]"),
    "no top": (zipped(("a", b"1")), r"one top folder; there are \['a'\]"),
    "unsorted": (zipped((f"{TOP}/b", b"1"), (f"{TOP}/a", b"2")), "'made/a' is not where or what"),
    "many": (zipped(*((f"{TOP}/{n}", b"") for n in range(30))), "30 members; at most 20 are read"),
    "method": (
        patched(patched(ONE, 10, "<H", 99), 8, "<H", 99, False),
        "'made/a' has attributes that no archive has",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_archive_is_refused_before_a_byte_is_written(case, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(layout, "MOST_BYTES", 1_000_000 if case == "bomb of many" else layout.MOST_BYTES)
    monkeypatch.setattr(layout, "MOST_MEMBERS", 20)
    content, reason = HOSTILE[case]
    path = tmp_path / f"{TOP}.zip"
    path.write_bytes(content)
    with pytest.raises(
        reading.NotAnArchive, match=rf"made\.zip: no archive that can be verified: .*(?:{reason})"
    ):
        reading.unpacked(path, tmp_path / "out")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("added", [("results/extra.txt",), ("results/c.txt", "code/b.py")])
def test_what_was_added_with_another_program_is_named(added, tmp_path) -> None:
    """That program writes the directory anew, so that untouched members are in another form, too."""
    path = whole(tmp_path)
    with zipfile.ZipFile(path, "a") as archive:
        for name in added:
            archive.writestr(f"{TOP}/{name}", "more")
    lines = "; ".join(f"{name}: in the archive, not in MANIFEST.csv" for name in sorted(added))
    with pytest.raises(reading.NotAnArchive) as error:
        reading.unpacked(path, tmp_path / "out")
    assert str(error.value) == f"{path}: no archive that can be verified: {lines}"
    assert not (tmp_path / "out").exists()


def test_whole_archive_is_unpacked_once(tmp_path) -> None:
    path = whole(tmp_path)
    names, faults = reading.unpacked(path, tmp_path / "out")
    assert (names, faults) == ([layout.MANIFEST, "code/a.py", "results/b.txt"], [])
    assert (tmp_path / "out" / "results" / "b.txt").read_bytes() == b"b" * 50
    with pytest.raises(FileExistsError):
        reading.unpacked(path, tmp_path / "out")


def test_archive_of_more_members_than_a_plain_zip_file_counts(tmp_path) -> None:
    path = tmp_path / f"{TOP}.zip"
    make.write({f"results/{n}": b"%d" % n for n in range(65_535)}, path, 1479686400)
    assert path.read_bytes().count(b"PK\6\6") == 1
    with open(path, "rb") as raw, zipfile.ZipFile(raw) as archive:
        entries = reading.entries_of(archive, raw)
        assert len(entries) == 65_536
        assert list(reading.faults(archive, entries)) == []


@pytest.mark.parametrize(
    ("limit", "extra"),
    {20: [20, 12, 28], 60: [20, 12, 12], 305: [0, 0, 12], 400: [0, 0, 0], 5_000: [0, 0, 0]}.items(),
)
def test_every_byte_of_the_directory_counts_also_beyond_2_gigabytes(
    limit, extra, tmp_path, monkeypatch
) -> None:
    """There sizes and places stand in fields of their own, in the directory and behind it; `limit` is where
    that begins, for writer and reader."""
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", limit)
    path = whole(tmp_path)
    with zipfile.ZipFile(path) as archive:
        assert [len(entry.extra) for entry in archive.infolist()] == extra
        begin = archive.start_dir
    content = path.read_bytes()
    assert content.count(b"PK\6\6") == content.count(b"PK\6\7") == (begin > limit)
    assert reading.unpacked(path, tmp_path / "out")[1] == []
    for at in range(begin, len(content)):
        path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
        try:
            _, faults = reading.unpacked(path, tmp_path / "again")
        except reading.NotAnArchive:
            continue
        assert faults, f"byte {at - begin} of the directory and what is behind it"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("code/a.py", "code/a.py: in MANIFEST.csv, not in the archive"),
        ("more", "more: in the archive, not in MANI"),
    ],
)
def test_member_too_few_or_too_many_is_named(name, told, tmp_path) -> None:
    path = whole(tmp_path)
    with zipfile.ZipFile(path) as archive:
        held = {entry: archive.read(entry) for entry in archive.namelist()}
    if held.pop(f"{TOP}/{name}", None) is None:
        held[f"{TOP}/{name}"] = b"x"
    path.write_bytes(zipped(*sorted(held.items())))
    _, faults = reading.unpacked(path, tmp_path / "out")
    assert len(faults) == 1
    assert faults[0].startswith(told)
    assert not (tmp_path / "out").exists()


def test_verify_ends_with_1_where_something_differs(tmp_path) -> None:
    path = whole(tmp_path)
    with zipfile.ZipFile(path) as archive:
        held = {entry: archive.read(entry) for entry in archive.namelist()}
    del held[f"{TOP}/code/a.py"]
    path.write_bytes(zipped(*sorted(held.items())))
    done = CliRunner().invoke(main, ["verify", str(path)])
    assert (done.exit_code, done.output.splitlines()[-1]) == (1, "1 difference")


@pytest.mark.parametrize(
    "table", ["name,size\na,1\n", "path,bytes,sha256\na\n", "path,bytes,sha256\na,many,0\n"]
)
def test_manifest_of_another_form_is_named(table, tmp_path) -> None:
    sealed = seal(f"# {unsealed(layout.holds(layout.MANIFEST))}\n{table}".encode())
    path = tmp_path / f"{TOP}.zip"
    path.write_bytes(zipped((f"{TOP}/{layout.MANIFEST}", sealed), (f"{TOP}/a", b"x")))
    _, faults = reading.unpacked(path, tmp_path / "out")
    assert len(faults) == 1
    assert faults[0].startswith("MANIFEST.csv: not what was written (")
    assert not (tmp_path / "out").exists()


def test_what_comes_out_of_a_member_is_bounded_by_what_it_declares(tmp_path) -> None:
    content = zipped((f"{TOP}/a", b"y" * 3000), method=zipfile.ZIP_DEFLATED)
    lying = patched(content, 24, "<L", 9)
    path = tmp_path / "a.zip"
    path.write_bytes(lying)
    with zipfile.ZipFile(path) as archive:
        entries = unpack.checked(archive)
        with pytest.raises((zipfile.BadZipFile, unpack.Refused)):
            unpack.extract(archive, entries, tmp_path / "out")
    assert (tmp_path / "out" / TOP / "a").stat().st_size <= 9


def test_command_ends_with_2_for_what_is_no_archive(tmp_path) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(HOSTILE["upwards"][0])
    line = "from tensor_rnns.cli.commands import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", line, "verify", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2, done.stderr
    assert "leads out of the archive" in done.stderr
