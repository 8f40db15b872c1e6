"""A checkout with a commit of its own in which the workflow has run, and archives made there."""

import hashlib
import itertools
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tensor_rnns import datasets
from tests.workflow.conftest import copy_project, environment

PAPERS = "mathews2016/xor,mathews2016/sizes"
"""An experiment that trains in a second and has recorded runs, and one that computes."""
RECORDED = (
    "results/recorded/runs/mathews2016/xor", "results/recorded/computed/mathews2016/sizes.csv",
    "results/recorded/stopping.csv",
)  # fmt: skip


def run(folder: Path, *command: str) -> subprocess.CompletedProcess:
    """`command` in `folder`, with the package that lies there; what it said where it fails."""
    variables = environment(folder) | {"SOURCE_DATE_EPOCH": "1479686400"}
    found = subprocess.run(
        command, cwd=folder, env=variables, capture_output=True, text=True, timeout=500, check=False
    )
    assert found.returncode == 0, found.stdout[-3000:] + found.stderr[-6000:]
    return found


def commit_of_digits(folder: Path) -> str:
    """A commit like HEAD whose name begins with twelve decimal digits, as a number might."""
    body = run(folder, "git", "cat-file", "commit", "HEAD").stdout
    for k in itertools.count():
        text = f"{body}\n{k}\n".encode()
        if hashlib.sha1(b"commit %d\0%b" % (len(text), text)).hexdigest()[:12].isdigit():
            break
    (folder.parent / "commit").write_bytes(text)
    return run(folder, "git", "hash-object", "-t", "commit", "-w", folder.parent / "commit").stdout.strip()


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project as it stands here, committed, with a prepared data set, the smoke scale of PAPERS run by
    Snakemake, an archive of that, and then all drawings of the recorded runs."""
    folder = copy_project(tmp_path_factory.mktemp("archived") / "checkout", RECORDED)
    who = ("-c", "user.name=Zoltan Quux", "-c", "user.email=zoltan@quux.example")
    run(folder, "git", "init", "-q")
    run(folder, "git", "add", "-A")
    run(folder, "git", *who, "commit", "-q", "-m", "As it stands")
    run(folder, "git", "update-ref", "HEAD", commit_of_digits(folder))
    datasets.prepare("digits", None, folder / "results" / "data" / "ready")
    chosen = ("--config", "scale=smoke", "data=embedded", f"papers={PAPERS}")
    run(folder, "python", "workflow/scripts/snakemake_locked.py", "--cores", "2", *chosen, "--", "all")
    run(folder, "tensor-rnns", "archive", "--scale", "smoke", "--out", "results/archives/shown.zip")
    run(folder, "tensor-rnns", "recorded", "--only", "mathews2016/xor")
    return folder


@pytest.fixture(scope="session")
def archived(checkout: Path) -> Callable[..., Path]:
    """Makes an archive of the checkout's smoke scale: (file name, options of `tensor-rnns archive`)."""

    def make(name: str, *options: str) -> Path:
        out = checkout / "results" / "archives" / name
        run(checkout, "tensor-rnns", "archive", "--scale", "smoke", "--out", str(out), *options)
        return out

    return make


@pytest.fixture(scope="session")
def plain(archived: Callable[..., Path]) -> Path:
    """The archive without options."""
    return archived("plain.zip")


@pytest.fixture(scope="session")
def unpacked(plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The top folder of `plain`, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with zipfile.ZipFile(plain) as archive:
        archive.extractall(folder)
    return folder / plain.stem
