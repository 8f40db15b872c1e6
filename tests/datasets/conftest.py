"""A small web server on the loopback that misbehaves on demand, and a source whose files it serves."""

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np
import pytest

from tensor_rnns.datasets import table
from tensor_rnns.datasets.transfer import Patience


@dataclass
class Serve:
    """How one path is answered. Lists are used up, one value a request."""

    data: bytes
    status: int = 200
    etag: str = ""
    ranges: bool = True
    lie: str = ""
    length: bool = True
    statuses: list[int] = field(default_factory=list)
    breaks: list[int] = field(default_factory=list)
    stalls: list[int] = field(default_factory=list)


@dataclass
class Request:
    """One request as the server saw it, and the number of body bytes it sent."""

    path: str
    range: str | None
    encoding: str | None
    sent: int = 0


class Handler(BaseHTTPRequestHandler):
    """Answers by the server's table of paths."""

    def do_GET(self) -> None:
        """Answer one request."""
        server, request = (
            self.server,
            Request(self.path, self.headers.get("Range"), self.headers.get("Accept-Encoding")),
        )
        server.requests.append(request)
        serve = server.paths.get(self.path)
        if callable(serve):
            self.close_connection = True
            with suppress(ConnectionError):
                serve(self)
            return
        if serve is None:
            self.send_error(404)
            return
        status = serve.statuses.pop(0) if serve.statuses else serve.status
        if status != 200:
            self.send_error(status)
            return
        body, headers = serve.data, {"ETag": serve.etag} if serve.etag else {}
        begin = self.asked(serve, request)
        if begin and serve.lie == "416":
            self.send_error(416)
            return
        if begin:
            status = 206
            body = serve.data if serve.lie else serve.data[begin:]
            told, whole = (0 if serve.lie == "start" else begin), len(serve.data) + (serve.lie == "total")
            headers["Content-Range"] = f"bytes {told}-{len(serve.data) - 1}/{whole}"
            if serve.lie == "silent":
                del headers["Content-Range"]
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if serve.length:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.send_body(serve, request, body)

    def asked(self, serve: Serve, request: Request) -> int:
        """The byte to begin with: that of the Range header, if it is honoured."""
        if request.range is None or not serve.ranges:
            return 0
        if self.headers.get("If-Range", serve.etag) != serve.etag:
            return 0
        return int(request.range.removeprefix("bytes=").removesuffix("-"))

    def send_body(self, serve: Serve, request: Request, body: bytes) -> None:
        """Send the body, or its beginning and then nothing more, or its beginning and then close."""
        stop = (serve.breaks or serve.stalls or [len(body)])[0]
        try:
            self.wfile.write(body[:stop])
            self.wfile.flush()
        except ConnectionError:
            return
        request.sent = len(body[:stop])
        if serve.breaks:
            serve.breaks.pop(0)
        elif serve.stalls:
            serve.stalls.pop(0)
            self.server.closing.wait(20)
        self.close_connection = True

    def log_message(self, *arguments: object) -> None:
        """Say nothing."""


class Web(ThreadingHTTPServer):
    """A server with `paths` (path -> Serve, or a function of the handler), `requests` and `url`."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.paths: dict[str, Serve | Callable] = {}
        self.requests: list[Request] = []
        self.closing = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def serve(self, path: str, data: bytes, **how: Any) -> str:
        """Answer `path` with `data`, as Serve tells; return its address."""
        self.paths[path] = Serve(data, **how)
        return self.url + path

    def misbehave(self, path: str, how: Callable) -> str:
        """Answer `path` by calling `how` with the handler; return its address."""
        self.paths[path] = how
        return self.url + path


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    """A running server, closed afterwards."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    web = Web()
    thread = threading.Thread(target=web.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield web
    web.closing.set()
    web.shutdown()
    thread.join()
    web.server_close()


@pytest.fixture
def data() -> bytes:
    """The 200,003 bytes of the file that is served."""
    return np.random.default_rng(7).bytes(200_003)


@pytest.fixture
def one_file(monkeypatch: pytest.MonkeyPatch, data: bytes):
    """Make a table with the one source `thing` of one file, thing.bin, at the given addresses."""

    def make(*urls: str, packed: table.Packed | None = None) -> table.File:
        file = table.File(
            "thing.bin",
            len(data),
            hashlib.sha256(data).hexdigest(),
            "some where/thing#1.bin",
            urls,
            () if packed is None else (packed,),
        )
        source = table.Source("thing", "A thing", "http://home", "none", "nothing", "never", (file,))
        monkeypatch.setattr(table, "sources", lambda: {"thing": source})
        return file

    return make


@pytest.fixture
def brisk() -> Patience:
    """Three tries with short waits and a short time-out."""
    return Patience(attempts=3, wait=0.01, connect=2.0, read=1.0)


@pytest.fixture
def dead() -> str:
    """An address on the loopback where nothing listens."""
    with Web() as web:
        return web.url + "/thing.bin"
