"""Run folders: what a train job leaves, and whose it is."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensor_rnns.experiments.records import KEY, RECORDED, trained_at
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.files import damaged, parsing, read_json

RECORD = "record.json"


def run_name(key: Mapping[str, Any]) -> str:
    """What the files of a run folder say they hold: the names in a replica's key, without its numbers."""
    return "/".join(str(key[name]) for name in KEY[:7])


def table_name(paper: str, experiment: str, scale: str) -> str:
    """What the tables of an experiment say they hold: the scale at which its runs were trained."""
    return "/".join((paper, experiment, trained_at(scale)))


def changes(home: Path) -> dict[str, int]:
    """{folder of a curve: when it, or its first final runs, changed last, in ns} of the experiment in `home`.

    The folder alone would not do: a checkout writes into the folders of runs.
    """
    folders = [str(home)] if home.is_dir() else []
    for _ in CURVE:
        folders = [entry.path for folder in folders for entry in os.scandir(folder) if entry.is_dir()]
    return {folder: max(map(changed, (folder, f"{folder}/final-0"))) for folder in sorted(folders)}


def changed(path: str) -> int:
    """When a file or folder changed last, in ns; 0 where there is none."""
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return 0


def replica_key(replica: Mapping[str, Any]) -> tuple[str | int, ...]:
    """The KEY columns as a sortable tuple, with point and seed as integers."""
    return tuple(int(replica[name]) if name in ("point", "seed") else str(replica[name]) for name in KEY)


def read_record(folder: Path) -> dict[str, Any]:
    """The record of a run folder.

    Damaged where a byte differs, a replica has no key or is met twice, or a folder
    `<scale>/runs/<paper>/<experiment>/<condition>/<variant>/<option>/<stage>-<chunk>` holds another's run.
    """
    path = folder / RECORD
    with parsing(path):
        record = read_json(path)
        keys = [replica_key(replica) for replica in record["replicas"]]
        held = {run_name(replica) for replica in record["replicas"]}
    if not keys or len(set(keys)) < len(keys):
        raise damaged(path, "expected are replicas, each once")
    if folder.parts[-7:-6] == ("runs",):
        scale, _, paper, experiment, *curve, last = folder.parts[-8:]
        # Recorded runs keep the scale at which they were trained.
        scale = keys[0][2] if scale == RECORDED else trained_at(scale)
        asked = "/".join((paper, experiment, str(scale), *curve, last.partition("-")[0]))
        if held != {asked}:
            raise damaged(path, f"it holds {', '.join(sorted(held))}; the folder is that of {asked}")
    return record
