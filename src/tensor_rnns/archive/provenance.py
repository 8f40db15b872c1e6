"""What Snakemake has recorded of the jobs that made a scale's results: a row for each file.

Snakemake keeps a JSON file a result in .snakemake/metadata, named by its path in base 64.
"""

import json
import shlex
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from tensor_rnns.archive import layout
from tensor_rnns.files import parsing

JOBS_COLUMNS = ("output", "rule", "start", "end", "inputs", "log", "params", "command")
METADATA = Path(".snakemake") / "metadata"
Job = dict[str, str]
Records = dict[str, dict[str, Any]]
"""{output: what Snakemake recorded of the job that made it}."""


def records(home: Path) -> Records:
    """What is recorded of each result below `home` that was made whole. Damaged where a record is none."""
    result: Records = {}
    for path in (home / METADATA).rglob("*"):
        if path.is_file():
            with parsing(path, "remove it and make the report again"):
                # A long name is cut into folders that begin with @.
                name = "".join(part.removeprefix("@") for part in path.relative_to(home / METADATA).parts)
                record = json.loads(path.read_text(encoding="utf-8"))
                if not record["incomplete"]:
                    result[urlsafe_b64decode(name).decode()] = record
    return result


def behind(recorded: Records, output: str) -> set[str]:
    """What the jobs made that `output` rests on, step by step, and what they made it of."""
    seen, ahead = set(), [output]
    while ahead:
        if (name := ahead.pop()) not in seen:
            seen.add(name)
            ahead += recorded.get(name, {}).get("input") or ()
    commands = {recorded[name]["shellcmd"] for name in seen & recorded.keys()}
    return seen | {name for name, record in recorded.items() if record["shellcmd"] in commands}


def jobs(recorded: Records, members: Iterable[str]) -> list[Job]:
    """A row for each result among the archive's `members`, or folder of such, in the order of their names:
    times in UTC, several inputs with spaces between."""
    known = {name for member in members for name in (member, *map(str, PurePosixPath(member).parents))}
    return [row(output, recorded[output]) for output in sorted(recorded.keys() & known)]


def row(output: str, record: Mapping[str, Any]) -> Job:
    """One row of JOBS_COLUMNS."""
    times = (datetime.fromtimestamp(record[name], UTC) for name in ("starttime", "endtime"))
    start, end = (time.isoformat(timespec="milliseconds") for time in times)
    inputs, log, params = (" ".join(record[name] or ()) for name in ("input", "log", "params"))
    return {
        "output": output, "rule": record["rule"], "start": start, "end": end, "inputs": inputs, "log": log,
        "params": params, "command": " ".join(record["shellcmd"].split()),
    }  # fmt: skip


def configuration(recorded: Records, scale: str) -> dict[str, str]:
    """The settings that the report of `scale` was made with, read from its recorded command; "" for one that
    was not given. ValueError where there is no record of the report."""
    report = layout.report(scale)
    if report not in recorded:
        why = f"Snakemake has no record of {report} in {METADATA}, so nothing says how it was made"
        remedy = f"make it here by `make report SCALE={scale}`"
        raise ValueError(f"no archive of the {scale} scale: {why}: {remedy}")
    given = options(recorded[report]["shellcmd"])
    return {name: given.get(name, "") for name in layout.SETTINGS}


def options(command: str) -> dict[str, str]:
    """{name: value} of the options of a job's command that have one."""
    words = shlex.split(command.partition(" 2>&1")[0])
    given = {}
    for word, after in zip(words, [*words[1:], "--"], strict=True):
        name, equals, value = word.partition("=")
        if name.startswith("--") and (equals or not after.startswith("--")):
            given[name[2:]] = value if equals else after
    return given
