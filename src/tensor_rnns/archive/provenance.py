"""What Snakemake has recorded of the jobs that made a scale's results: a row for each file.

Snakemake keeps a JSON file a result in .snakemake/metadata, named by its path in base 64.
"""

import json
import shlex
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

from tensor_rnns.archive import layout
from tensor_rnns.files import parsing

JOBS_COLUMNS = ("output", "rule", "start", "end", "inputs", "log", "params", "command")
METADATA = Path(".snakemake") / "metadata"
Job = dict[str, str]


def jobs(home: Path, members: Iterable[str]) -> list[Job]:
    """What is recorded of each result among the archive's `members`, in the order of their names: times in
    UTC, several inputs with spaces between. Damaged where a record is no such record."""
    known, rows = set(members), []
    for path in (home / METADATA).rglob("*"):
        if path.is_file():
            with parsing(path, "remove it and make the report again"):
                # A long name is cut into folders that begin with @.
                name = "".join(part.removeprefix("@") for part in path.relative_to(home / METADATA).parts)
                output = urlsafe_b64decode(name).decode()
                if output in known or (home / output).is_dir():
                    record = json.loads(path.read_text(encoding="utf-8"))
                    rows += [] if record["incomplete"] else [row(output, record)]
    return sorted(rows, key=lambda job: job["output"])


def row(output: str, record: Mapping[str, Any]) -> Job:
    """One row of JOBS_COLUMNS."""
    start, end = (
        datetime.fromtimestamp(record[name], UTC).isoformat(timespec="milliseconds")
        for name in ("starttime", "endtime")
    )
    listed = {name: " ".join(record[name] or ()) for name in ("input", "log", "params")}
    return {
        "output": output, "rule": record["rule"], "start": start, "end": end, "inputs": listed["input"],
        "log": listed["log"], "params": listed["params"], "command": " ".join(record["shellcmd"].split()),
    }  # fmt: skip


def configuration(finished: Iterable[Job], scale: str) -> dict[str, str]:
    """The settings that the report of `scale` was made with, read from its recorded command: roots, scale,
    data, papers, guests; "" for one that was not given. ValueError where there is no record of the report."""
    report = f"{layout.RESULTS}/{scale}/report/index.html"
    commands = [job["command"] for job in finished if job["output"] == report]
    if not commands:
        raise ValueError(
            f"no archive of the {scale} scale: Snakemake has no record of {report} in {METADATA}, so nothing "
            f"says how it was made: make it here by `make report SCALE={scale}`"
        )
    words = [part for word in shlex.split(commands[0]) for part in word.split("=", 1)]
    given = dict(pairwise(words))
    names = ("roots", "scale", "data", "papers", "guests")
    return {name: given.get(f"--{name}", "") for name in names}
