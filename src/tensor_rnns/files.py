"""Files written aside and renamed, so that nothing is ever half-written; equal content gives equal bytes."""

import csv
import gzip
import io
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def writing(path: Path | str, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file beside `path` and rename it to `path` when the block ends without an error.

    `mode` is "w" (UTF-8 text, LF line ends) or "wb". A name ending in .gz is compressed, without time or name
    in its header. Parent folders are made. On an error the temporary file is removed and `path` keeps its old
    content.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, aside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".aside", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as raw:
            binary: IO = (
                gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) if path.suffix == ".gz" else raw
            )
            stream = binary if "b" in mode else io.TextIOWrapper(binary, encoding="utf-8", newline="\n")
            yield stream
            stream.flush()
            if stream is not binary:
                stream.detach()
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


def write_csv(path: Path | str, rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> None:
    """Write `rows` under the header `columns`; a row with another set of keys raises ValueError."""
    with writing(path) as stream:
        writer = csv.DictWriter(stream, columns, lineterminator="\n", extrasaction="raise")
        writer.writeheader()
        for row in rows:
            if row.keys() != set(columns):
                raise ValueError(
                    f"{path}: a row has the columns {sorted(row)}; the table has {sorted(columns)}"
                )
            writer.writerow({name: number(value) for name, value in row.items()})


def write_json(path: Path | str, content: Any) -> None:
    """Write `content` as JSON with sorted keys; NaN and infinity are refused (ValueError)."""
    with writing(path) as stream:
        stream.write(
            json.dumps(content, sort_keys=True, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        )


def read_json(path: Path | str) -> Any:
    """The content of a JSON file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))
