"""Proves that a download survives what networks, servers, mirrors and disks do, and never accepts a wrong
byte.
"""

import hashlib
import re
import time
from dataclasses import replace

import pytest
import urllib3

from tensor_rnns.datasets import DownloadError, download, table, transfer
from tensor_rnns.datasets.sums import Refused

PAGE = b"\n<!DOCTYPE html><html><body>Sign in to the guest network</body></html>" * 40


def names(folder):
    return sorted(path.name for path in (folder / "thing").iterdir())


def digest(content):
    return hashlib.sha256(content).hexdigest()


def flipped(content, at=123_456):
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_whole_file(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path == tmp_path / "thing" / "thing.bin"
    assert path.read_bytes() == data
    assert names(tmp_path) == ["thing.bin"]
    assert server.requests[0].encoding == "identity"
    lines = []
    download("thing", tmp_path, patience=brisk, say=lines.append)
    assert len(server.requests) == 1
    assert lines == ["thing 1/1: thing.bin: already there, size and sha256 right"]


def test_broken_connection_is_resumed_within_one_run(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, breaks=[90_000, 60_000]))
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    starts = [int(request.range[6:-1]) for request in server.requests[1:]]
    assert len(starts) == 2
    assert 70_000 < starts[0] <= 90_000
    assert starts[0] + 40_000 < starts[1] <= starts[0] + 60_000
    assert server.requests[2].sent == len(data) - starts[1]
    assert sum(request.sent for request in server.requests) < len(data) + 2 * 16_384


def test_partial_file_is_kept_and_resumed_by_a_later_run(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, breaks=[120_000], etag='"one"'))
    with pytest.raises(DownloadError, match=r"IncompleteRead.*\(1 tries\)"):
        download("thing", tmp_path, patience=replace(brisk, attempts=1))
    assert names(tmp_path) == ["thing.bin.part"]
    held = (tmp_path / "thing" / "thing.bin.part").read_bytes()
    assert data.startswith(held)
    assert len(held) > 100_000
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert server.requests[1].range == f"bytes={len(held)}-"
    assert server.requests[1].sent == len(data) - len(held)
    assert names(tmp_path) == ["thing.bin"]


def test_beginning_of_a_changed_file_is_found_and_fetched_again(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", flipped(data, 5), breaks=[120_000]))
    with pytest.raises(DownloadError):
        download("thing", tmp_path, patience=replace(brisk, attempts=1))
    server.serve("/thing.bin", data)
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert [request.range is None for request in server.requests] == [True, False, True]
    assert any("the resumed file is wrong" in line for line in lines)


def test_what_is_held_outlasts_a_file_of_another_size_on_a_mirror(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    mirror = tmp_path / "mirror" / "some where" / "thing#1.bin"
    mirror.parent.mkdir(parents=True)
    mirror.write_bytes(PAGE)
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "thing.bin.part").write_bytes(data[:77_777])
    lines = []
    (path,) = download("thing", tmp_path, [(tmp_path / "mirror").as_uri()], patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert [request.range for request in server.requests] == ["bytes=77777-"]
    told = f"refused: size: expected 200,003 bytes, found {len(PAGE):,}; it looks like an HTML page"
    assert any(told in line for line in lines)


def test_what_is_held_outlasts_a_page_in_place_of_the_file(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/page.bin", PAGE, ranges=False), server.serve("/thing.bin", data))
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "thing.bin.part").write_bytes(data[:77_777])
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert [request.range for request in server.requests] == ["bytes=77777-"] * 2
    assert server.requests[1].sent == len(data) - 77_777
    told = f"refused: size: expected 200,003 bytes, {len(PAGE)} announced"
    assert any(told in line for line in lines)


def test_whole_partial_file_needs_no_request(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data))
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "thing.bin.part").write_bytes(data)
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert server.requests == []


@pytest.mark.parametrize("lie", ["start", "total", "silent", "416"])
def test_lies_about_the_range_lead_to_a_fresh_start(lie, server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, lie=lie))
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "thing.bin.part").write_bytes(data[:77_777])
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert [request.range for request in server.requests] == ["bytes=77777-", None]
    assert "does not continue at byte 77,777; fetched from the start" in lines[1]


def test_server_without_ranges_is_fetched_from_the_start(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, ranges=False, breaks=[90_000]))
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert [request.sent for request in server.requests] == [90_000, len(data)]


def test_short_body_without_length_is_resumed(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, length=False, breaks=[90_000]))
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert server.requests[1].range == "bytes=90000-"
    assert any("broke off at byte 90,000 of 200,003" in line for line in lines)


def test_busy_server_is_tried_again_after_growing_waits(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, statuses=[503, 429]))
    lines = []
    download("thing", tmp_path, patience=brisk, say=lines.append)
    assert len(server.requests) == 3
    waits = [re.search(r"again in (\S+) s", line) for line in lines]
    assert [float(found[1]) for found in waits if found] == [0.01, 0.02]


def test_slow_server_runs_into_the_time_out_and_is_resumed(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", data, stalls=[100_000]))
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert any("no data for 1 s" in line for line in lines)
    assert server.requests[1].range is not None


def test_socket_that_closes_itself_as_we_give_up_is_resumed(
    server, one_file, data, brisk, tmp_path, monkeypatch
):
    """The reading thread's own time-out, as long as ours, may close the socket before we shut it down."""
    within = transfer.within

    def later(seconds, work, late):
        try:
            return within(seconds, work, late)
        except transfer.Interrupted:
            time.sleep(seconds)
            raise

    monkeypatch.setattr(transfer, "within", later)
    monkeypatch.setattr(urllib3.HTTPResponse, "release_conn", lambda self: None)  # closed, not yet released
    one_file(server.serve("/thing.bin", data, stalls=[100_000]))
    (path,) = download("thing", tmp_path, patience=brisk)
    assert path.read_bytes() == data
    assert server.requests[1].range is not None


def test_dead_address_is_passed_over_for_a_live_one(server, one_file, data, brisk, dead, tmp_path):
    one_file(dead, server.url + "/gone.bin", server.serve("/thing.bin", data))
    lines = []
    (path,) = download("thing", tmp_path, patience=brisk, say=lines.append)
    assert path.read_bytes() == data
    assert any("Connection refused (3 tries)" in line for line in lines)
    assert any("HTTP 404 Not Found" in line for line in lines)
    assert [request.path for request in server.requests] == ["/gone.bin", "/thing.bin"]


def test_every_address_is_listed_with_its_reason(server, one_file, data, brisk, dead, tmp_path):
    wrong = flipped(data)
    short = data[:150_001]
    urls = [
        dead,
        server.url + "/gone.bin",
        server.serve("/flipped.bin", wrong),
        server.serve("/short.bin", short),
        server.serve("/page.bin", PAGE),
        server.serve("/page-without-length.bin", PAGE, length=False),
        server.serve("/long.bin", data + bytes(40_000_000)),
    ]
    one_file(*urls)
    with pytest.raises(DownloadError) as caught:
        download("thing", tmp_path, [(tmp_path / "empty").as_uri()], patience=brisk)
    told = str(caught.value)
    assert "could not be had from any of 8 addresses" in told
    places = [told.index(url) for url in [(tmp_path / "empty").as_uri(), *urls]]
    assert places == sorted(places)
    sha = f"sha256: expected {digest(data)}, found "
    reasons = [
        "no such file",
        "Connection refused",
        "HTTP 404 Not Found",
        f"size: expected 200,003 bytes, found 200,003; {sha}{digest(wrong)}",
        f"size: expected 200,003 bytes, found 150,001; {sha}{digest(short)}",
        f"size: expected 200,003 bytes, found {len(PAGE):,}; {sha}{digest(PAGE)}; it looks like an HTML page",
        f"size: expected 200,003 bytes, found {len(PAGE):,}; {sha}{digest(PAGE)}; it looks like an HTML page",
        "size: expected 200,003 bytes, found more than",
    ]
    for reason, begin, end in zip(reasons, places, [*places[1:], len(told)], strict=True):
        assert reason in told[begin:end]
    assert server.requests[-1].sent == 0, "the whole of a file that is too long was fetched"
    assert names(tmp_path) == []


def test_wrong_file_in_place_is_replaced_only_by_a_right_one(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/thing.bin", flipped(data)))
    (tmp_path / "thing").mkdir()
    old = tmp_path / "thing" / "thing.bin"
    old.write_bytes(b"mine")
    with pytest.raises(DownloadError):
        download("thing", tmp_path, patience=brisk)
    assert old.read_bytes() == b"mine"
    server.serve("/thing.bin", data)
    download("thing", tmp_path, patience=brisk)
    assert old.read_bytes() == data


def test_mirrors_come_first_in_their_order(server, one_file, data, brisk, tmp_path):
    one_file(server.serve("/public.bin", data))
    server.serve("/two/some%20where/thing%231.bin", data)
    (path,) = download("thing", tmp_path, [server.url + "/one", server.url + "/two/"], patience=brisk)
    assert path.read_bytes() == data
    assert [request.path for request in server.requests] == [
        "/one/some%20where/thing%231.bin",
        "/two/some%20where/thing%231.bin",
    ]


def test_file_mirror_with_spaces_in_its_path(one_file, data, brisk, dead, tmp_path):
    one_file(dead)
    mirror = tmp_path / "my mirror"
    (mirror / "some where").mkdir(parents=True)
    (mirror / "some where" / "thing#1.bin").write_bytes(data)
    (path,) = download("thing", tmp_path / "raw", [mirror.as_uri()], patience=brisk)
    assert path.read_bytes() == data


@pytest.mark.parametrize("mirror", ["/data", "ftp://host/data", "file://host/data", ""])
def test_mirror_that_is_no_url_is_refused_before_anything_is_tried(mirror, server, one_file, data, tmp_path):
    one_file(server.serve("/thing.bin", data))
    with pytest.raises(ValueError, match=r"mirror '.*' is no URL of one; allowed are"):
        download("thing", tmp_path, [mirror])
    assert server.requests == []


def test_plain_lines_when_not_a_terminal(server, one_file, brisk, tmp_path, capfd, monkeypatch):
    long = bytes(range(256)) * 20_000
    file = replace(one_file(server.serve("/long.bin", long)), size=len(long), sha256=digest(long))
    source = replace(table.source("thing"), files=(file,))
    monkeypatch.setattr(table, "sources", lambda: {"thing": source})
    download("thing", tmp_path, patience=brisk)
    printed = capfd.readouterr().err
    assert "\r" not in printed
    lines = printed.splitlines()
    assert lines[0] == f"thing 1/1: thing.bin: 5,120,000 bytes from {server.url}/long.bin"
    assert [line.endswith("of 5,120,000 bytes") for line in lines] == [False, True, True, True, True, False]
    assert lines[-1] == "thing 1/1: thing.bin: size and sha256 right"


def test_unknown_source_names_the_known_ones(tmp_path):
    with pytest.raises(ValueError, match="no source is called 'mnst'; there are mnist, jsb"):
        download("mnst", tmp_path)


def test_refused_is_no_network_error():
    assert not issubclass(Refused, OSError)
