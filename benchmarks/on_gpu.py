"""All that waits for a GPU, one step after another; what comes of it lies in one folder.

    python -m benchmarks.on_gpu --hours 8          # make gpu HOURS=8
    python -m benchmarks.on_gpu --rehearse         # make gpu REHEARSE=1: tiny, on the CPU, nothing to commit

The tests of the engines for CUDA, tables of updates, of curves, precisions and errors, a hundred repeats of
every cell, then the recording of the curves that cost most. The folder holds what `nvidia-smi` says, tables,
the words of each step and steps.csv, which says how each ended; recorded curves go to results/recorded. A
step that fails costs no other. The same command goes on: what ended well at this commit is not done again,
but for the recording, which knows by itself what it has.
"""

import argparse
import csv
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks import command
from tensor_rnns.files import write_csv
from tensor_rnns.recording.record import PROGRAM
from tensor_rnns.training import record

COLUMNS = ("step", "commit", "ended", "seconds")
WELL, OVER, RECORD = "well", "with the hours", "record"
REHEARSAL = Path("build/gpu-rehearsal")
TINY = ("--threads", "1", "--workloads", "W4", "--cells", "lstm")
"""What of the tables is rehearsed."""


def module(name: str, folder: Path, *arguments: str) -> list[str]:
    """The command of a benchmark that records into the folder."""
    return [sys.executable, "-m", f"benchmarks.{name}", "--record", "--into", str(folder), *arguments]


def steps(folder: Path) -> dict[str, list[str]]:
    """The command of each step on a GPU; the recording still lacks its hours."""
    return {
        "tests": [sys.executable, "-m", "pytest", "-q", "-m", "gpu", "-n", str(min(16, os.cpu_count() or 1))],
        "updates": module("gpu", folder),
        "curves": module("curves", folder, "--device", "cuda"),
        "precisions": module("precisions", folder),
        "errors": module("gradients", folder, "--device", "cuda"),
        "repeats": module("repeats", folder, "--device", "cuda"),
        RECORD: [*PROGRAM, RECORD, "--device", "cuda", "--dearest"],
    }


def rehearsed(folder: Path) -> dict[str, list[str]]:
    """The same steps, tiny and on the CPU; in tests and repeats Triton's interpreter runs its kernels."""
    own = ["--results", str(folder / "results"), "--state", str(folder / "state")]
    interpreted = ["env", "TRITON_INTERPRET=1"]
    tests = [sys.executable, "-m", "pytest", "-q", "tests/engine/test_triton.py", "-k", "test_one_hot"]
    return {
        "tests": [*interpreted, *tests],
        "updates": module("gpu", folder, "--rehearse", "--rounds", "1", *TINY),
        "curves": module(
            "curves", folder, "--curves", "mathews2016/binding/T100N1/irnn/main",
            "--engines", "auto", "graphed", "--rounds", "1", "--threads", "1",
        ),
        "precisions": [
            *interpreted, *module("precisions", folder, "--rehearse", "--rounds", "1", "--replicas", "2"),
            "--threads", "1", "--workloads", "W1", "--cells", "vanilla",
        ],
        "errors": module("gradients", folder, *TINY),
        "repeats": [*interpreted, *module("repeats", folder, "--tiny", "--times", "2", *TINY)],
        RECORD: [
            *PROGRAM, "--roots", "tests/papers/made_up", RECORD, "--rehearse", "--dearest", "--dirty",
            "--jobs", "2", "--nice", "0", *own,
        ],
    }  # fmt: skip


def read(path: Path) -> dict[str, Mapping[str, str]]:
    """How the steps of a folder ended, by name."""
    if not path.exists():
        return {}
    with open(path, encoding="utf-8", newline="") as stream:
        return {row["step"]: row for row in csv.DictReader(stream)}


def run(
    found: Mapping[str, Sequence[str]], folder: Path, hours: float, extra: Mapping[str, str]
) -> list[str]:
    """Run each step to its end and note how it ended; the names of those that did not end well."""
    began, commit, failed = time.monotonic(), record.git("rev-parse", "HEAD") or "", []
    for name, line in found.items():
        held = read(folder / "steps.csv")
        if name != RECORD and name in held and (held[name]["commit"], held[name]["ended"]) == (commit, WELL):
            print(f"{name}: ended well before", flush=True)
            continue
        left = hours - (time.monotonic() - began) / 3600
        started = time.monotonic()
        ended = outcome(line, folder / f"{name}.log", left, name == RECORD, extra) if left > 0 else OVER
        seconds = f"{time.monotonic() - started:.0f}"
        row = dict(zip(COLUMNS, (name, commit, ended, seconds), strict=True))
        write_csv(folder / "steps.csv", (held | {name: row}).values(), COLUMNS, None)
        print(f"{name}: ended {ended} after {seconds} s: {folder / name}.log", flush=True)
        failed += [] if ended == WELL else [name]
    return failed


def outcome(line: Sequence[str], log: Path, hours: float, bounded: bool, extra: Mapping[str, str]) -> str:
    """How a command ended. One that is `bounded` is given its hours, and ends itself; others are stopped."""
    whole = [*line, "--hours", f"{hours:.4f}"] if bounded else line
    with open(log, "w", encoding="utf-8") as words:
        try:
            code = subprocess.run(
                whole,
                env=os.environ | extra,
                stdout=words,
                stderr=subprocess.STDOUT,
                timeout=None if bounded else 3600 * hours,
            ).returncode
        except subprocess.TimeoutExpired:
            return OVER
    return WELL if code == 0 else f"with {code}"


def facts(folder: Path, card: Mapping[str, Any]) -> None:
    """Write down the machine, and what the driver says of it where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "machine.md").write_text(f"{command.described(card)}\n", encoding="utf-8")
    try:
        said = subprocess.run(["nvidia-smi", "-q"], capture_output=True, text=True, check=True).stdout
        (folder / "nvidia-smi.txt").write_text(said, encoding="utf-8")
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"nvidia-smi says nothing: {error}", flush=True)


def main() -> None:
    """Refuse where there is no GPU; else all steps, and what to commit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=1.0, help="for all steps together (1)")
    parser.add_argument("--rehearse", action="store_true", help="tiny, on the CPU")
    parser.add_argument("--folder", type=Path, help="in place of benchmarks/recorded/gpu-<name>")
    asked = parser.parse_args()
    if not asked.hours > 0:
        parser.error(f"--hours {asked.hours} given; allowed: more than 0")
    if not (asked.rehearse or torch.cuda.is_available()):
        sys.exit(
            f"make gpu: a CUDA device is needed, and torch {torch.__version__} sees none; REHEARSE=1: none"
        )
    card = command.machine(torch.device("cpu" if asked.rehearse else "cuda"), 1)
    if asked.rehearse:
        folder = asked.folder or REHEARSAL
        found, extra = rehearsed(folder), {"OMP_NUM_THREADS": "1"}
    else:
        folder = asked.folder or command.RECORDED / f"gpu-{command.kind_of(card)}"
        found, extra = steps(folder), {}
    facts(folder, card)
    failed = run(found, folder, asked.hours, extra)
    print(
        f"{len(found) - len(failed)} of {len(found)} steps ended well; in {folder}"
        + ("" if asked.rehearse else ", to commit with results/recorded")
    )
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
