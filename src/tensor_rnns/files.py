"""Files of results: written aside and renamed, and sealed with a digest; equal content gives equal bytes.

A sealed file holds once the text `sha256 with zeros in its place: <64 digits>; holds <of>`: CSV as a comment
in its first line, JSON under its first key, .npz as the comment of the zip file, safetensors in its metadata.
The digest covers every byte (of a .gz file: unzipped). `of` says whose the content is, such as
`mathews2016/addition/laptop`; a reader that asks for another is refused. ` by <16 digits>` may follow it: the
digest of the code, the arguments and the data that made the content.
"""

import csv
import errno
import gzip
import hashlib
import io
import json
import mmap
import os
import re
import struct
import tempfile
import tokenize
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from tensor_rnns import asides
from tensor_rnns.mapped import release
from tensor_rnns.messages import printable, shortened

MARK = "sha256 with zeros in its place: "
ZEROS = "0" * 64
SEAL = re.compile(
    re.escape(MARK.encode()) + rb'([0-9a-f]{64}); holds ([^"\\\n]*?)(?: by ([0-9a-f]{16}))?(?=["\\\n]|\Z)'
)
MALFORMED = (
    ValueError, LookupError, TypeError, ArithmeticError, EOFError, MemoryError, RuntimeError, csv.Error,
    struct.error, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
PIECE = 1 << 24
"""Bytes that are digested at once."""
MOST_UNZIPPED = 1 << 29
"""Bytes that a .gz file may hold."""


class Damaged(ValueError):
    """A file that does not read back as it was written, or that holds something else than was asked for."""


def damaged(path: Path | str, problem: str, remedy: str = "") -> Damaged:
    """The error that names the file, what is wrong with it and what to do."""
    if not remedy:
        kept = "recorded" in Path(path).parts
        remedy = f"restore it: git checkout -- {path}" if kept else "remove it; the next run makes it again"
    return Damaged(f"{path}: {printable(problem, 1000)}; {remedy}")


def of_the_disk(error: BaseException) -> bool:
    """Whether the disk says `error`, and not a damaged part or a number that leads before the begin."""
    return isinstance(error, OSError) and error.errno not in (None, errno.EINVAL)


@contextmanager
def parsing(path: Path | str, remedy: str = "") -> Iterator[None]:
    """Raise Damaged in place of whatever a parser of `path` raises."""
    try:
        yield
    except Damaged:
        raise
    except (*MALFORMED, OSError) as error:
        if of_the_disk(error):
            raise
        problem = f"not what was written ({type(error).__name__}: {shortened(str(error), 400)})"
        raise damaged(path, problem, remedy) from error


def unsealed(of: str, by: str = "") -> str:
    """The text that `seal` fills: what a file holds, and the digest of what made it where one is given;
    ValueError for words that would not read back."""
    text = f"{MARK}{ZEROS}; holds {of}" + (f" by {by}" if by else "")
    read = SEAL.fullmatch(text.encode())
    if not read or (read[2].decode(), (read[3] or b"").decode()) != (of, by):
        no = "quotes, backslashes, newlines and a digest at the end are not allowed"
        raise ValueError(f"{text.partition('; holds ')[2]!r} cannot name what a file holds: {no}")
    return text


def _found(content: bytes | mmap.mmap) -> re.Match[bytes] | None:
    """The seal: at the end of a zip file, whose arrays may be long, else the first."""
    return SEAL.search(content, max(0, len(content) - 1000) if content[:2] == b"PK" else 0)


def _digest(content: bytes | mmap.mmap, seal: re.Match[bytes]) -> bytes:
    sha256 = hashlib.sha256()
    with memoryview(content) as view:
        for begin in range(0, seal.start(1), PIECE):
            sha256.update(view[begin : min(begin + PIECE, seal.start(1))])
            release(content)
        sha256.update(ZEROS.encode())
        sha256.update(view[seal.end(1) :])
    return sha256.hexdigest().encode()


def seal(content: bytes) -> bytes:
    """`content`, which holds the text of `unsealed`, with its digest."""
    begin, digest = missing_digest(content)
    return content[:begin] + digest + content[begin + len(digest) :]


def missing_digest(content: bytes | mmap.mmap) -> tuple[int, bytes]:
    """Where the digest of content begins that holds the text of `unsealed`, and the digest."""
    match = _found(content)
    assert match, "the content holds no place for its digest"
    return match.start(1), _digest(content, match)


def verify(
    path: Path | str, content: bytes | mmap.mmap, of: str | None = None, remedy: str = ""
) -> re.Match[bytes]:
    """The seal; Damaged unless the bytes of `path` are those that were sealed, and hold `of` where asked."""
    written = _found(content)
    if written is None:
        problem = "it carries no digest, so it was not written by this program or is cut off"
        raise damaged(path, problem, remedy)
    digest = _digest(content, written)
    if digest != written[1]:
        problem = f"damaged: the sha256 of its {len(content):,} bytes is {digest[:12].decode()}..."
        raise damaged(path, f"{problem}, as written it was {written[1][:12].decode()}...", remedy)
    if of is not None and written[2] != of.encode():
        raise damaged(path, f"it holds {written[2].decode(errors='replace')!r}; asked for was {of!r}", remedy)
    return written


@contextmanager
def writing(path: Path | str, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file beside `path` and rename it to `path` when the block ends without an error.

    `mode` is "w" (UTF-8 text, LF line ends) or "wb". A name ending in .gz is compressed, without time or name
    in its header. Parent folders are made. On an error the temporary file is removed and `path` keeps its old
    content; what a killed process left aside goes at the next write.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    asides.remove_left(path)
    handle, aside = tempfile.mkstemp(asides.SUFFIX, asides.prefix(path), path.parent)
    try:
        with os.fdopen(handle, "wb") as raw:
            binary: IO = gzip.GzipFile("", "wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
            stream = binary if "b" in mode else io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
            yield stream
            if stream is not binary:
                stream.detach()  # which flushes it
            if binary is not raw:
                binary.close()
            raw.flush()
            os.fsync(raw.fileno())
        os.chmod(aside, 0o644)
        os.replace(aside, path)
    except BaseException:
        Path(aside).unlink(missing_ok=True)
        raise


def number(value: Any) -> str:
    """`value` as a cell of a table: the shortest text that reads back as the same float; '' for None."""
    if value is None:
        return ""
    if hasattr(value, "item"):
        value = value.item()
    return repr(value) if isinstance(value, float) else str(value)


class Lines(io.StringIO):
    """Lines of a table, each written with CR LF, so that a cell with either is quoted, and kept with LF."""

    def write(self, line: str) -> int:
        """Write one line."""
        return super().write(line.removesuffix("\r\n") + "\n")


def table_bytes(
    rows: Iterable[Mapping[str, Any]], columns: Sequence[str], of: str | None,
    name: Path | str = "table", by: str = "",
) -> bytes:  # fmt: skip
    """`rows` under the header `columns` as the bytes of a CSV file, sealed with the digest `by` of what made
    them, but where `of` is None; ValueError, which says `name`, for a row with another set of keys."""
    text = Lines()
    writer = csv.DictWriter(text, columns, lineterminator="\r\n", extrasaction="raise")
    writer.writeheader()
    for row in rows:
        if row.keys() != set(columns):
            raise ValueError(f"{name}: a row has the columns {sorted(row)}; the table has {sorted(columns)}")
        writer.writerow({column: number(value) for column, value in row.items()})
    table = text.getvalue()
    return table.encode() if of is None else seal(f"# {unsealed(of, by)}\n{table}".encode())


def write_csv(
    path: Path | str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str], of: str | None, by: str = ""
) -> None:
    """Write `rows` under the header `columns`, unsealed for a list kept by hand; see `table_bytes`."""
    with writing(path, "wb") as stream:
        stream.write(table_bytes(rows, columns, of, path, by))


def read_table(path: Path | str, of: str | None = None, remedy: str = "") -> str:
    """The text of a CSV file, from its header on; Damaged where a byte differs or it does not hold `of`."""
    with parsing(path, remedy):
        content = Path(path).read_bytes()
        if Path(path).suffix == ".gz":
            with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
                content = stream.read(MOST_UNZIPPED + 1)
            if len(content) > MOST_UNZIPPED:
                raise damaged(path, f"more than {MOST_UNZIPPED:,} bytes come out", remedy)
        verify(path, content, of, remedy)
        return content.decode().partition("\n")[2]


def read_csv(
    path: Path | str, columns: Sequence[str] | None = None, of: str | None = None
) -> Iterator[dict[str, str]]:
    """The rows of a CSV file; Damaged as of `read_table`, for other `columns` and a row of other length."""
    rows = csv.reader(io.StringIO(read_table(path, of)))
    header = next(rows, [])
    if columns is not None and header != list(columns):
        raise damaged(path, f"its columns are {header}; expected are {list(columns)}")
    for row in rows:
        if len(row) != len(header):
            # The line of the seal is the first.
            line = rows.line_num + 1
            raise damaged(path, f"line {line} has {len(row)} fields; expected are {len(header)}")
        yield dict(zip(header, row, strict=True))


def made_by(path: Path | str, of: str) -> str:
    """The digest of what made a sealed file, "" where none is written; Damaged as of `verify`."""
    return (verify(path, Path(path).read_bytes(), of)[3] or b"").decode()


def json_bytes(content: Mapping[str, Any], of: str) -> bytes:
    """`content` as sealed JSON with sorted keys; NaN and infinity are refused (ValueError)."""
    text = json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    first = f'{{\n "seal": "{unsealed(of)}"'
    return seal((first + ("," if content else "\n") + text[1:]).encode())


def write_json(path: Path | str, content: Mapping[str, Any], of: str) -> None:
    """Write `content` as JSON with sorted keys; NaN and infinity are refused (ValueError)."""
    with writing(path, "wb") as stream:
        stream.write(json_bytes(content, of))


def read_json(path: Path | str, of: str | None = None, remedy: str = "") -> dict[str, Any]:
    """The content of a JSON file; Damaged where a byte is another or it does not hold `of`."""
    with parsing(path, remedy):
        raw = Path(path).read_bytes()
        verify(path, raw, of, remedy)
        content = json.loads(raw)
        del content["seal"]
        return content


@contextmanager
def kept(path: Path, known: dict[str, Any], of: str, most: int) -> Iterator[None]:
    """Have in `known`, while the block runs, what an earlier process left in `path`, and leave there the last
    `most` of it for the next one. What cannot be read, or is not `of` the same, is found anew."""
    path = path.absolute()
    with suppress(OSError, ValueError):
        known.update(read_json(path, of))
    before = set(known)
    try:
        yield
    finally:
        if known.keys() - before:
            with suppress(OSError):
                write_json(path, dict(list(known.items())[-most:]), of)
