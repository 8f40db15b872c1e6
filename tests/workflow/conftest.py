"""Copies of the project that a test may change."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMOKE = ("scale=smoke", "papers=mathews2016/addition,mathews2016/sizes")
"""Two experiments at the smallest scale: one that trains, one that computes."""


def copy_project(folder: Path, recorded: tuple[str, ...] = ()) -> Path:
    """The files of the project in `folder`, as git knows them, of results those `recorded` alone, with what
    Python and Snakemake keep of those that they have read: without it a copy takes 16 seconds to be parsed
    for the first time."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file() and (not name.startswith("results/") or name.startswith(recorded)):
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target)
    keep_what_was_read(folder)
    for path in (ROOT / "src").rglob("__pycache__"):
        with suppress(shutil.Error):  # another test writes there
            shutil.copytree(path, folder / path.relative_to(ROOT), dirs_exist_ok=True)
    return folder


def keep_what_was_read(folder: Path) -> None:
    """What Snakemake keeps of experiment files that it found well, and of code, by their content."""
    for name in ("checked", "syntax_trees.json"):
        source, target = ROOT / ".snakemake" / name, folder / ".snakemake" / name
        if source.is_dir():
            with suppress(shutil.Error):  # another test removes the oldest
                shutil.copytree(source, target)
        elif source.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)


def environment(folder: Path) -> dict[str, str]:
    """Run the package of the copy, not the installed one, with the tools of this environment."""
    tools = str(Path(sys.executable).parent)
    return {
        **os.environ,
        "PYTHONPATH": str(folder / "src"),
        "PATH": f"{tools}:{os.environ['PATH']}",
        "OMP_NUM_THREADS": "1",
    }


@pytest.fixture(scope="session")
def project() -> Callable[..., Path]:
    """Copies the project to a folder; see `copy_project`."""
    return copy_project


@pytest.fixture(scope="session")
def snakemake() -> Callable[..., subprocess.CompletedProcess]:
    """Runs Snakemake in a copy of the project; see `run_snakemake`."""
    return run_snakemake


def run_snakemake(
    folder: Path,
    *arguments: str,
    config: tuple[str, ...] = (),
    target: str = "all",
    start: tuple[str, ...] = ("-m", "snakemake"),
) -> subprocess.CompletedProcess:
    """`snakemake --cores 2 target` in `folder` with `arguments` and `config`; what it said where it fails.

    `start` is how Python starts Snakemake.
    """
    line = [sys.executable, *start, "--cores", "2", *arguments]
    line += ["--config", *SMOKE, *config, "--", target]
    found = subprocess.run(
        line, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=500, check=False
    )
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-6000:]
    return found


def await_that(true: Callable[[], object], seconds: float = 240.0) -> object:
    """What `true` gives once that is true; AssertionError after some seconds."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        if found := true():
            return found
        time.sleep(0.02)
    raise AssertionError(f"nothing true after {seconds} s")
