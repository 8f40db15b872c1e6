"""Bring one address to one partial file: HTTP with resume, retries and time-outs, or a local file."""

import errno
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from urllib.parse import unquote, urlsplit

import requests
import urllib3
from tqdm import tqdm

from tensor_rnns.datasets.sums import Refused, check, page
from tensor_rnns.files import read_json, write_json

BLOCK = 1 << 14
SLACK = 1 << 20
QUARTERS_FROM = 1 << 22
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
TRANSIENT = (408, 425, 429)
MISTAKES = (
    requests.exceptions.InvalidURL,
    requests.exceptions.InvalidSchema,
    requests.exceptions.MissingSchema,
    requests.exceptions.TooManyRedirects,
)


class Interrupted(Exception):
    """A transfer that broke off and may be resumed."""


@dataclass(frozen=True)
class Patience:
    """How often an address is tried; the first wait between tries (then doubled) and time-outs, in s."""

    attempts: int = 4
    wait: float = 1.0
    connect: float = 10.0
    read: float = 60.0


def transfer(
    url: str, part: Path, size: int, digest: str, patience: Patience, say: Callable[[str], None]
) -> None:
    """Fill `part` from `url` until it has `size` bytes and the sha256 `digest`.

    What `part` holds already is resumed over HTTP. If a resumed file is wrong, it is fetched once more from
    the start, for its beginning may have come from elsewhere. Raises Refused (`part` is removed if its
    content is wrong and kept if it is a beginning), and OSError from writing.
    """
    for last in (False, True):
        resumed = (
            _copy(url, part) if urlsplit(url).scheme == "file" else _fetch(url, part, size, patience, say)
        )
        try:
            check(part, size, digest)
            settle(part)
            return
        except Refused as error:
            drop(part)
            if last or not resumed:
                raise
            say(f"the resumed file is wrong ({error}); fetched again from the start")


def settle(part: Path) -> None:
    """Wait until the content of `part` is on the disk, so that a rename cannot come before it."""
    with open(part, "rb") as stream:
        os.fsync(stream.fileno())


def drop(part: Path) -> None:
    """Remove a partial file and the note beside it."""
    part.unlink(missing_ok=True)
    _note(part).unlink(missing_ok=True)


def _note(part: Path) -> Path:
    return part.with_name(part.name + ".json")


def noted(part: Path, url: str) -> str:
    """What the note beside `part` tells of the version that its bytes are of; "" where it tells nothing of
    `url` or is damaged.
    """
    try:
        note = read_json(_note(part))
        validator = note["validator"] if note["url"] == url else ""
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return ""
    known = isinstance(validator, str) and validator.isascii() and validator.isprintable()
    return validator if known else ""


def _copy(url: str, part: Path) -> bool:
    path = Path(unquote(urlsplit(url).path))
    if not path.is_file():
        raise Refused("no such file")
    try:
        with open(path, "rb") as stream, open(part, "wb") as out:
            shutil.copyfileobj(stream, out)
    except OSError as error:
        if error.errno in NO_SPACE:
            raise
        raise Refused(str(error)) from error
    return False


def _fetch(url: str, part: Path, size: int, patience: Patience, say: Callable[[str], None]) -> bool:
    """Fill `part`, with retries; True if any of it was resumed."""
    resumed, reason = False, ""
    for attempt in range(patience.attempts):
        if attempt:
            pause = patience.wait * 2 ** (attempt - 1)
            say(f"{reason}; again in {pause:g} s")
            time.sleep(pause)
        try:
            held = part.stat().st_size if part.exists() else 0
            resumed |= 0 < held <= size
            if held != size:
                _request(url, part, size, held, patience, say)
            return resumed
        except MISTAKES as error:
            raise Refused(_cause(error)) from error
        except (requests.exceptions.ConnectTimeout, urllib3.exceptions.ConnectTimeoutError):
            reason = f"no connection within {patience.connect:g} s"
        except (requests.exceptions.Timeout, urllib3.exceptions.TimeoutError):
            reason = f"no data for {patience.read:g} s"
        except (requests.exceptions.RequestException, urllib3.exceptions.HTTPError) as error:
            reason = _cause(error)
        except Interrupted as error:
            reason = str(error)
    raise Refused(f"{reason} ({patience.attempts} tries)")


def _cause(error: BaseException) -> str:
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error) or type(error).__name__


def _request(
    url: str, part: Path, size: int, held: int, patience: Patience, say: Callable[[str], None]
) -> None:
    """One request for the bytes from `held` on, or for all if the server does not answer with those."""
    headers = {"Accept-Encoding": "identity", "User-Agent": f"tensor-rnns/{version('tensor-rnns')}"}
    if 0 < held < size:
        headers["Range"] = f"bytes={held}-"
        if validator := noted(part, url):
            headers["If-Range"] = validator
    with requests.get(url, headers=headers, stream=True, timeout=(patience.connect, patience.read)) as answer:
        code = answer.status_code
        ranged = "Range" in headers
        if ranged and (code == 416 or (code == 206 and not _continues(answer, held, size))):
            say(f"the server's answer does not continue at byte {held:,}; fetched from the start")
            drop(part)
        elif code == 200 or (ranged and code == 206):
            _store(answer, url, part, held if code == 206 else 0, size, say)
            return
        elif code >= 500 or code in TRANSIENT:
            raise Interrupted(f"HTTP {code} {answer.reason}")
        else:
            raise Refused(f"HTTP {code} {answer.reason}")
    _request(url, part, size, 0, patience, say)


def _continues(answer: requests.Response, held: int, size: int) -> bool:
    found = re.fullmatch(r"bytes (\d+)-(\d+)/(\d+|\*)", answer.headers.get("Content-Range", ""))
    return bool(found) and int(found[1]) == held and int(found[2]) < size and found[3] in ("*", str(size))


def _store(
    answer: requests.Response, url: str, part: Path, begin: int, size: int, say: Callable[[str], None]
) -> None:
    """Write the body of `answer` to `part` from byte `begin` on; Interrupted if it ends too early."""
    validator = answer.headers.get("ETag", "W/")
    if validator.startswith("W/"):
        validator = answer.headers.get("Last-Modified", "")
    if begin == 0:
        _note(part).unlink(missing_ok=True)
        if validator:
            write_json(_note(part), {"url": url, "validator": validator})
    done, quarter = begin, 4 * begin // size
    plain = size >= QUARTERS_FROM and not sys.stderr.isatty()
    with (
        open(part, "ab" if begin else "wb") as out,
        tqdm(
            total=size, initial=begin, unit="B", unit_scale=True, disable=None, leave=False, desc=part.name
        ) as bar,
    ):
        for block in answer.raw.stream(BLOCK, decode_content=False):
            out.write(block)
            done += len(block)
            bar.update(len(block))
            if done > size + SLACK:
                break
            if plain and 4 * done // size > quarter:
                quarter = 4 * done // size
                say(f"{done:,} of {size:,} bytes")
    if done > size + SLACK:
        drop(part)
        raise Refused(f"size: expected {size:,} bytes, found more than {done:,}")
    if done < size and "Content-Length" not in answer.headers and not page(part):
        raise Interrupted(f"broke off at byte {done:,} of {size:,}")
