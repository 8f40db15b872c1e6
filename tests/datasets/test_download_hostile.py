"""Proves that a download ends, stays within its limits and says why, whatever a server, a mirror or another
program does to it.
"""

import errno
import hashlib
import io
import lzma
import os
import re
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
import requests

from tensor_rnns.datasets import DownloadError, download, table, transfer, unpack
from tensor_rnns.datasets.sums import Refused


def endless(handler, block=b"x" * 65_536):
    """Send without end, until the other side has left."""
    while not handler.server.closing.is_set():
        handler.wfile.write(block)


def redirect(location, body=b""):
    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 302 Found\r\nLocation: " + location + b"\r\n\r\n" + body)
        if body:
            endless(handler)

    return answer


def trickle(head, byte):
    def answer(handler):
        handler.wfile.write(head)
        while not handler.server.closing.wait(0.02):
            handler.wfile.write(byte)

    return answer


@pytest.fixture
def hurried(brisk):
    return replace(brisk, attempts=2, connect=0.5, read=1.0, wait=0.0)


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        (b"http://[::1/thing", "Invalid IPv6 URL|Failed to parse"),
        (b"http://a b\xff\xfe:99999999/", "Failed to parse|Port|label"),
        (b"file:///etc/passwd", "redirected to file:///etc/passwd; only http and https are followed"),
        (b"ftp://host/thing.bin", "redirected to ftp://host/thing.bin; only http and https"),
        (b"/around", "more than 10 redirects"),
    ],
)
def test_redirect_that_leads_nowhere_is_refused_and_the_next_address_tried(
    location, reason, server, one_file, data, brisk, tmp_path
):
    server.misbehave("/around", redirect(b"/around"))
    one_file(server.misbehave("/thing", redirect(location)), server.serve("/right", data))
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    (refused,) = [line for line in lines if "refused: " in line]
    assert any(part in refused for part in reason.split("|")), refused


def test_redirect_is_followed_without_its_endless_body(server, one_file, data, hurried, tmp_path):
    server.serve("/right", data)
    one_file(server.misbehave("/thing", redirect(b"/right", body=b"more")))
    begun = time.monotonic()
    (path,) = download("thing", tmp_path, patience=hurried)
    assert path.read_bytes() == data
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    ("head", "byte", "reason"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", "no answer within 1.5 s"),
        (b"HTTP/1.1 200 OK\r\nX-Header: ", b"x", "no answer within 1.5 s"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 200003\r\n\r\n", b"x", "bytes in 1 s"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"0", "no data for 1 s"),
    ],
    ids=["continue", "header", "body", "chunk size"],
)
def test_server_that_trickles_is_left(head, byte, reason, server, one_file, data, hurried, tmp_path):
    one_file(server.misbehave("/slow", trickle(head, byte)), server.serve("/right", data))
    lines = []
    begun = time.monotonic()
    (path,) = download("thing", tmp_path, patience=hurried, say=lines.append)
    assert path.read_bytes() == data
    assert time.monotonic() - begun < 20
    assert any(f"{reason} (2 tries)" in line for line in lines), lines


def test_server_above_the_floor_that_would_take_too_long_is_left(server, one_file, data, hurried, tmp_path):
    """40 bytes in 0.02 s are above a floor of 1 a second; the file would take 100 s, and 2 are granted."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 200003\r\n\r\n"
    one_file(server.misbehave("/slow", trickle(head, b"x" * 40)), server.serve("/right", data))
    patience, lines = replace(hurried, floor=1, grace=1.0, slowest=200_003), []
    begun = time.monotonic()
    (path,) = download("thing", tmp_path, patience=patience, say=lines.append)
    assert path.read_bytes() == data
    assert time.monotonic() - begun < 10
    assert any("too slow: " in line and "of 200,003 bytes when its time was over" in line for line in lines)


def test_redirect_from_https_to_http_is_refused(monkeypatch, brisk):
    """What http would bring has passed a line without lock, though its sum is checked all the same."""
    answer = requests.Response()
    answer.raw = io.BytesIO()
    answer.status_code, answer.headers["location"] = 302, "http://host/thing.bin"
    monkeypatch.setattr(transfer.Session, "get", lambda *_, **__: answer)
    with pytest.raises(Refused, match=r"redirected to http://host/thing\.bin; only https are followed"):
        transfer.ask("https://host/thing.bin", {}, brisk)


def test_every_file_of_every_source_has_a_sum_and_addresses_of_the_web():
    for source in table.sources().values():
        for file in source.files:
            assert re.fullmatch("[0-9a-f]{64}", file.sha256), file.name
            for copy in (file, *file.packed):
                assert {url.partition(":")[0] for url in copy.urls} <= {"https", "http"}, file.name


def test_endless_body_is_left_beyond_the_expected_size(server, one_file, data, brisk, tmp_path):
    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        endless(handler)

    one_file(server.misbehave("/long", answer))
    with pytest.raises(DownloadError, match="size: expected 200,003 bytes, found more than"):
        download("thing", tmp_path, patience=brisk)
    assert list((tmp_path / "thing").iterdir()) == []


def test_control_characters_of_a_server_do_not_reach_the_terminal(server, one_file, data, brisk, tmp_path):
    def answer(handler):
        handler.wfile.write(b"HTTP/1.1 404 \x1b[2J\x07gone" + b"y" * 900 + b"\r\n\r\n")

    one_file(server.misbehave("/gone", answer))
    with pytest.raises(DownloadError) as caught:
        download("thing", tmp_path, patience=brisk)
    assert "HTTP 404 ?[2J?goneyyy" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 600


def test_large_sparse_file_on_a_mirror_is_not_copied_whole(one_file, data, brisk, tmp_path):
    one_file()
    mirror = tmp_path / "mirror" / "some where" / "thing#1.bin"
    mirror.parent.mkdir(parents=True)
    with open(mirror, "wb") as stream:
        stream.truncate(20 << 30)
    with pytest.raises(DownloadError, match="size: expected 200,003 bytes, found 21,474,836,480"):
        download("thing", tmp_path / "raw", [(tmp_path / "mirror").as_uri()], patience=brisk)
    assert list((tmp_path / "raw" / "thing").iterdir()) == []


def test_mirror_that_may_not_be_looked_at_is_passed_over(one_file, data, brisk, tmp_path, monkeypatch):
    """As where a folder is closed to us, or a network drive is gone."""
    one_file()
    for name in ("closed", "open"):
        (tmp_path / name / "some where").mkdir(parents=True)
        (tmp_path / name / "some where" / "thing#1.bin").write_bytes(data)
    stat = Path.stat

    def refusing(path, **how):
        if "closed" in path.parts:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return stat(path, **how)

    monkeypatch.setattr(Path, "stat", refusing)
    lines = []
    mirrors = [(tmp_path / name).as_uri() for name in ("closed", "open")]
    (path,) = download("thing", tmp_path / "raw", mirrors, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert "Permission denied" in next(line for line in lines if "refused" in line)


def test_link_in_place_of_the_partial_file_is_not_followed(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    mine = tmp_path / "mine"
    mine.write_bytes(data[:50])
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "thing.bin.part").symlink_to(mine)
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert mine.read_bytes() == data[:50]


def test_folder_in_place_of_the_partial_file_is_named(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    (tmp_path / "thing" / "thing.bin.part").mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"thing\.bin cannot be written: .*Is a directory.*\.part"):
        download("thing", tmp_path, patience=brisk)


@pytest.mark.parametrize(
    "name", ["thing.bin.part", ".thing.lock", "thing.bin.xz.part", "thing.bin.unpacked.part"]
)
@pytest.mark.parametrize("link", [Path.symlink_to, Path.hardlink_to], ids=["symbolic", "hard"])
def test_no_link_at_a_name_of_ours_damages_what_it_points_to(
    name, link, server, one_file, data, brisk, tmp_path
):
    content = lzma.compress(data)
    packed = table.Packed(
        form="xz", size=len(content), sha256=hashlib.sha256(content).hexdigest(),
        urls=(server.serve("/thing.xz", content),),
    )  # fmt: skip
    one_file(
        *(() if "xz" in name or "unpacked" in name else (server.serve("/thing.bin", data),)), packed=packed
    )
    mine = tmp_path / "mine"
    mine.write_bytes(data[:50])
    (tmp_path / "thing").mkdir()
    link((tmp_path if name.endswith("lock") else tmp_path / "thing") / name, mine)
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert mine.read_bytes() == data[:50]


def test_pipe_in_place_of_the_partial_file_is_not_waited_for(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    (tmp_path / "thing").mkdir()
    os.mkfifo(tmp_path / "thing" / "thing.bin.part")
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data


def test_folder_in_place_of_the_file_is_named(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    (tmp_path / "thing" / "thing.bin").mkdir(parents=True)
    with pytest.raises(DownloadError, match=r"thing\.bin cannot be read: .*Is a directory"):
        download("thing", tmp_path, patience=brisk)


def test_three_downloads_into_one_folder_fetch_the_file_once(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    results, lines = [], []

    def work():
        results.append(download("thing", tmp_path, patience=brisk, say=lines.append))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(results) == 3
    assert (tmp_path / "thing" / "thing.bin").read_bytes() == data
    assert len(server.requests) == 1
    assert sum("already there" in line for line in lines) == 2


def test_what_a_killed_unpacking_left_is_written_over(tmp_path):
    left = tmp_path / "words.unpacked.part"
    left.write_bytes(b"half" * 1000)
    (tmp_path / "packed").write_bytes(lzma.compress(b"right"))
    unpack.unpack(tmp_path / "packed", tmp_path / "words", "xz", 5, hashlib.sha256(b"right").hexdigest())
    assert (tmp_path / "words").read_bytes() == b"right"
    assert not left.exists()
