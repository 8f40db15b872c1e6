"""Proves that all sources are brought with a running total, that an archive is fetched once for its files,
and that one that fails does not keep the others from being had.
"""

import hashlib
import io
import lzma
import tarfile
import zipfile

import pytest
from click.testing import CliRunner

from tensor_rnns.cli.commands import main
from tensor_rnns.datasets import DownloadError, download, download_all, load, prepare, table
from tensor_rnns.files import read_json


def digest(content, kind="sha256"):
    return hashlib.new(kind, content).hexdigest()


def file(name, content, *urls, packed=()):
    return table.File(name, len(content), digest(content), f"m/{name}", urls, tuple(packed))


@pytest.fixture
def sources(monkeypatch):
    """Make a table of sources {name: files}."""

    def make(**files):
        found = {
            name: table.Source(name, "A thing", "http://home", "none", "nothing", "never", tuple(those))
            for name, those in files.items()
        }
        monkeypatch.setattr(table, "sources", lambda: found)
        monkeypatch.setattr("tensor_rnns.datasets.sources", lambda: found)

    return make


ONE, TWO, THREE = bytes(range(200)), b"two" * 100, b"three" * 60


def test_the_total_grows_over_files_and_sources(server, sources, brisk, tmp_path):
    sources(
        a=[file("one", ONE, server.serve("/one", ONE)), file("two", TWO, server.serve("/two", TWO))],
        b=[file("three", THREE, server.serve("/three", THREE))],
    )
    lines = []
    found = dict(download_all(["a", "b"], tmp_path, patience=brisk, say=lines.append))
    assert {name: [path.name for path in paths] for name, paths in found.items()} == {
        "a": ["one", "two"], "b": ["three"],
    }  # fmt: skip
    assert [line for line in lines if "in all" in line] == [
        "a: done; 500 of 800 bytes in all (62 %)",
        "b: done; 800 of 800 bytes in all (100 %)",
    ]
    lines.clear()
    download("a", tmp_path, patience=brisk, say=lines.append)
    assert lines[1] == "200 of 500 bytes of a"


def test_failed_source_is_reported_and_the_others_are_downloaded(server, sources, brisk, dead, tmp_path):
    sources(
        a=[file("one", ONE, dead)],
        b=[file("two", TWO, server.serve("/two", TWO))],
        c=[file("three", THREE, server.serve("/three", THREE[:-1]))],
    )
    with pytest.raises(DownloadError, match="2 of 3 sources failed") as caught:
        list(download_all(["a", "b", "c"], tmp_path, patience=brisk))
    told = str(caught.value)
    assert "a: one could not be had" in told
    assert f"size: expected 300 bytes, found 299; sha256: expected {digest(THREE)}" in told
    assert (tmp_path / "b" / "two").read_bytes() == TWO
    assert list((tmp_path / "a").iterdir()) == []
    assert not (tmp_path / "c" / "three").exists()


@pytest.mark.parametrize("name", [".a.lock", "a"])
def test_a_folder_that_cannot_be_made_fails_its_source_alone(name, server, sources, brisk, tmp_path):
    """What keeps it from being made is in the way of its name, or of that of its lock."""
    sources(a=[file("one", ONE, server.serve("/one", ONE))], b=[file("two", TWO, server.serve("/two", TWO))])
    (tmp_path / name).mkdir() if name == ".a.lock" else (tmp_path / name).touch()
    with pytest.raises(DownloadError, match=r"1 of 2 sources failed:\na: .*a cannot be made: \[Errno"):
        list(download_all(["a", "b"], tmp_path, patience=brisk))
    assert (tmp_path / "b" / "two").read_bytes() == TWO


def test_a_file_without_a_public_address_asks_for_a_mirror(sources, tmp_path, brisk):
    sources(a=[file("one", ONE)])
    with pytest.raises(
        DownloadError, match="one: no public address is known; name a mirror that holds m/one"
    ):
        download("a", tmp_path, patience=brisk)
    (tmp_path / "mirror" / "m").mkdir(parents=True)
    (tmp_path / "mirror" / "m" / "one").write_bytes(ONE)
    (path,) = download("a", tmp_path / "raw", [(tmp_path / "mirror").as_uri()], patience=brisk)
    assert path.read_bytes() == ONE


def tgz(**members):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(f"./d/{name}")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return stream.getvalue()


def inside(content, member, url, **sums):
    return table.Packed("tgz", len(content), **sums, urls=(url,), member=member)


def test_an_archive_is_fetched_once_for_all_its_files(server, sources, brisk, tmp_path):
    content = tgz(one=ONE, two=TWO)
    url = server.serve("/all.tgz", content)
    sums = {"md5": digest(content, "md5")}
    sources(
        a=[
            file("one", ONE, packed=[inside(content, "d/one", url, **sums)]),
            file("two", TWO, packed=[inside(content, "d/two", url, **sums)]),
        ]
    )
    download("a", tmp_path, patience=brisk)
    assert [request.path for request in server.requests] == ["/all.tgz"]
    assert {path.name: path.read_bytes() for path in (tmp_path / "a").iterdir()} == {"one": ONE, "two": TWO}


def test_an_archive_with_another_sum_or_another_member_is_refused(server, sources, brisk, tmp_path):
    content = tgz(one=ONE[::-1])
    url = server.serve("/all.tgz", content)
    right, wrong = digest(content, "md5"), digest(b"", "md5")
    sources(a=[file("one", ONE, packed=[inside(content, "d/one", url, md5=wrong)])])
    with pytest.raises(DownloadError, match=rf"md5: expected {wrong}, found {right}"):
        download("a", tmp_path, patience=brisk)
    sources(a=[file("one", ONE, packed=[inside(content, "d/one", url, md5=right)])])
    with pytest.raises(DownloadError, match=rf"unpacked from tgz: size: .*sha256: expected {digest(ONE)}"):
        download("a", tmp_path, patience=brisk)
    assert list((tmp_path / "a").iterdir()) == []


def test_forms_are_tried_in_their_order(server, sources, brisk, tmp_path):
    packed = lzma.compress(ONE)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("one", ONE)
    whole = stream.getvalue()
    copies = [
        table.Packed("xz", len(packed), digest(packed), mirror="p/one.xz"),
        table.Packed("zip", len(whole), digest(whole), urls=(server.serve("/one.zip", whole),), member="one"),
    ]
    sources(a=[file("one", ONE, packed=copies)])
    (path,) = download("a", tmp_path, [server.url + "/mirror"], patience=brisk)
    assert path.read_bytes() == ONE
    assert [request.path for request in server.requests] == ["/mirror/p/one.xz", "/mirror/m/one", "/one.zip"]


def test_the_command_downloads_all_and_leaves_a_marker(server, sources, tmp_path, monkeypatch):
    sources(a=[file("one", ONE, server.serve("/one", ONE))], b=[file("two", TWO, server.serve("/two", TWO))])
    done = CliRunner().invoke(main, ["download", "--all", "--into", str(tmp_path)])
    assert done.exit_code == 0, done.output
    assert read_json(tmp_path / "a" / "verified.json") == {"one": 200}
    assert "500 of 500 bytes in all (100 %)" in done.output
    sources(a=[file("none", ONE)], c=[file("two", TWO, server.url + "/two")])
    failed = CliRunner().invoke(main, ["download", "--all", "--into", str(tmp_path)])
    assert failed.exit_code != 0
    assert "1 of 2 sources failed" in failed.output
    assert read_json(tmp_path / "c" / "verified.json") == {"two": 300}
    sources(a=[], b=[])
    told = CliRunner().invoke(main, ["download", "--into", str(tmp_path)])
    assert told.exit_code != 0
    assert "no source given; allowed are a, b, or --all" in told.output


def test_prepared_fonts_are_loaded_with_their_names(tmp_path):
    prepare("fonts", None, tmp_path)
    found = load(tmp_path, "fonts")
    assert found.arrays["letter_names"].dtype.kind == "U"
    assert found.facts["package"] == "matplotlib, font-lato, pillow"
    assert len(found.facts["package_version"].split(", ")) == 3
