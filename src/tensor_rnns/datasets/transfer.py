"""Bring one address to one partial file: HTTP with resume, retries and time-outs, or a local file.

Tries and redirects are counted here, as urllib3's `Retry` ends where the body of an answer begins, so that
broken and slow bodies would need this loop all the same, and reads the whole body of a redirect, however long
it is. pooch begins again at byte 0, and has no least speed and no word on where a redirect may lead.
"""

import errno
import math
import os
import stat
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlsplit

import requests
import urllib3
from tqdm import tqdm

from tensor_rnns.datasets.sums import Refused, check, page
from tensor_rnns.messages import printable

BLOCK = 1 << 16
SLACK = 1 << 20
"""Bytes that are read at once, and beyond the expected size before an address is left."""
QUARTERS_FROM = 1 << 22
"""Bytes from which progress is printed where there is no terminal."""
MOST_REDIRECTS = 10
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
TRANSIENT = (408, 425, 429)
FAILURES = (requests.RequestException, urllib3.exceptions.HTTPError)
Say = Callable[[str], None]


class Interrupted(Exception):
    """A transfer that broke off and may be resumed."""


@dataclass(frozen=True)
class Patience:
    """How often an address is tried, the first wait between tries (then doubled), and time-outs, in seconds.

    A transfer is broken off where fewer than `floor` bytes come in `read` seconds. An address is left for
    good after `grace` seconds and those that the file takes at `slowest` bytes per second: at `ends`.
    """

    attempts: int = 4
    wait: float = 1.0
    connect: float = 10.0
    read: float = 60.0
    floor: int = 1 << 15
    grace: float = 600.0
    slowest: int = 1 << 14
    ends: float = math.inf


class Session(requests.Session):
    """A session that leaves redirects to `ask`: requests reads the body of one whole, however long it is."""

    def get_redirect_target(self, resp: requests.Response) -> None:
        """None: nothing is followed here."""


def transfer(url: str, part: Path, size: int, digest: str, patience: Patience, say: Say) -> None:
    """Fill `part` from `url` until it has `size` bytes and the sha256 `digest`.

    What `part` holds already is resumed over HTTP. If a resumed file is wrong, it is fetched once more from
    the start, for its beginning may have come from elsewhere. Raises Refused (`part` is removed if its
    content is wrong and kept if it is a beginning), and OSError from writing.
    """
    make_own(part)
    patience = replace(patience, ends=time.monotonic() + patience.grace + size / patience.slowest)
    for last in (False, True):
        if urlsplit(url).scheme == "file":
            path, resumed = Path(unquote(urlsplit(url).path)), False
            if not path.is_file():
                raise Refused("no such file")
            store(blocks_of(path), part, 0, size, patience, say)
        else:
            resumed = fetch(url, part, size, patience, say)
        try:
            check(part, size, digest)
            with open(part, "rb") as stream:  # on the disk before it is renamed
                os.fsync(stream.fileno())
            return
        except Refused as error:
            part.unlink()
            if last or not resumed:
                raise
            say(f"the resumed file is wrong ({error}); fetched again from the start")


def make_own(aside: Path) -> None:
    """Remove what stands at `aside` unless it is a plain file by this name alone: through a link another file
    would be written to. OSError for a folder."""
    with suppress(FileNotFoundError):
        state = aside.lstat()
        if not stat.S_ISREG(state.st_mode) or state.st_nlink > 1:
            aside.unlink()


def blocks_of(path: Path) -> Iterator[bytes]:
    """The content of a local file; Refused if it cannot be read."""
    try:
        with open(path, "rb") as stream:
            yield from iter(partial(stream.read, BLOCK), b"")
    except OSError as error:
        raise Refused(str(error)) from error


def fetch(url: str, part: Path, size: int, patience: Patience, say: Say) -> bool:
    """Fill `part` over HTTP, with retries; True if any of it was resumed."""
    resumed, reason = False, ""
    for attempt in range(patience.attempts):
        if attempt:
            pause = patience.wait * 2 ** (attempt - 1)
            say(f"{reason}; again in {pause:g} s")
            time.sleep(pause)
        held = part.stat().st_size if part.exists() else 0
        resumed |= 0 < held <= size
        try:
            if held != size:
                request(url, part, held if held < size else 0, size, patience, say)
            return resumed
        except ValueError as error:  # an address, perhaps of a redirect, that is none
            raise Refused(cause(error)) from error
        except (requests.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError):
            reason = f"no connection within {patience.connect:g} s"
        except (requests.Timeout, urllib3.exceptions.TimeoutError):
            reason = f"no data for {patience.read:g} s"
        except Interrupted as error:
            reason = printable(str(error))
        except FAILURES as error:
            reason = cause(error)
    raise Refused(f"{reason} ({patience.attempts} tries)")


def cause(error: BaseException) -> str:
    """What the first of a chain of errors says, without what a server could make a terminal do."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return printable(str(error)) or type(error).__name__


def within(seconds: float, work: Callable[[], Any], late: str) -> Any:
    """What `work()` returns or raises; Interrupted(late) if it takes longer than `seconds`.

    The time-out of a socket begins anew with each byte: a server that trickles would hold us for ever.
    """
    answer: Future = Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except BaseException as error:
            answer.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    if not wait([answer], seconds).done:
        raise Interrupted(late)
    return answer.result()


def ask(url: str, headers: dict[str, str], patience: Patience) -> requests.Response:
    """The answer to a request, its body unread, after at most MOST_REDIRECTS redirects to http or https; from
    https to https alone."""
    for _ in range(MOST_REDIRECTS + 1):
        with Session() as session:
            answer = session.get(url, headers=headers, stream=True, timeout=(patience.connect, patience.read))
        if not answer.is_redirect:
            return answer
        answer.close()
        allowed = ("http", "https") if urlsplit(url).scheme == "http" else ("https",)
        url = urljoin(url, answer.headers["location"])
        if urlsplit(url).scheme not in allowed:
            raise Refused(f"redirected to {printable(url)}; only {' and '.join(allowed)} are followed")
    raise Refused(f"more than {MOST_REDIRECTS} redirects")


def request(url: str, part: Path, held: int, size: int, patience: Patience, say: Say) -> None:
    """One request for the bytes from `held` on, or for all if the server does not answer with those."""
    headers = {"Accept-Encoding": "identity", "User-Agent": f"tensor-rnns/{version('tensor-rnns')}"}
    if held:
        headers["Range"] = f"bytes={held}-"
    late = f"no answer within {patience.connect + patience.read:g} s"
    with within(patience.connect + patience.read, lambda: ask(url, headers, patience), late) as answer:
        code, given = answer.status_code, answer.headers.get("Content-Range")
        told = answer.headers.get("Content-Length")
        if held and code == 200 and told not in (None, str(size)):  # what is held may go on elsewhere
            raise Refused(f"size: expected {size:,} bytes, {printable(told)} announced")
        rest = [f"bytes {held}-{size - 1}/{whole}" for whole in (size, "*")]
        if held and (code == 416 or (code == 206 and given not in rest)):
            say(f"the server's answer does not continue at byte {held:,}; fetched from the start")
            part.unlink()
        elif code == 200 or (held and code == 206):
            read = partial(answer.raw.read1, BLOCK, decode_content=False)
            stopped = f"no data for {patience.read:g} s"
            blocks = iter(lambda: within(patience.read, read, stopped), b"")
            try:
                done = store(blocks, part, held if code == 206 else 0, size, patience, say)
            except Interrupted:
                with suppress(ValueError, RuntimeError, OSError):  # there may be nothing left to shut down
                    answer.raw.shutdown()  # a read that still waits would keep the answer from being closed
                raise
            if done < size and "Content-Length" not in answer.headers and not page(part):
                raise Interrupted(f"broke off at byte {done:,} of {size:,}")
            return
        elif code >= 500 or code in TRANSIENT:
            raise Interrupted(f"HTTP {code} {answer.reason}")
        else:
            raise Refused(f"HTTP {code} {printable(answer.reason)}")
    request(url, part, 0, size, patience, say)


def store(blocks: Iterator[bytes], part: Path, begin: int, size: int, patience: Patience, say: Say) -> int:
    """Write what comes to `part` from byte `begin` on; the bytes that are there then. Refused if too many
    come, Interrupted if they come too slowly."""
    done, quarter = begin, 4 * begin // size
    plain = size >= QUARTERS_FROM and not sys.stderr.isatty()
    judged, judged_at = done, time.monotonic()
    with (
        open(part, "ab" if begin else "wb") as out,
        tqdm(total=size, initial=begin, unit="B", unit_scale=True, disable=None, leave=False) as bar,
    ):
        for block in blocks:
            out.write(block)
            done += len(block)
            bar.update(len(block))
            if done > size + SLACK:
                part.unlink()
                raise Refused(f"size: expected {size:,} bytes, found more than {done:,}")
            if plain and 4 * done // size > quarter:
                quarter = 4 * done // size
                say(f"{done:,} of {size:,} bytes")
            if time.monotonic() > patience.ends:
                raise Refused(f"too slow: {done:,} of {size:,} bytes when its time was over")
            if time.monotonic() - judged_at > patience.read:
                if done - judged < patience.floor:
                    raise Interrupted(f"only {done - judged:,} bytes in {patience.read:g} s")
                judged, judged_at = done, time.monotonic()
    return done
