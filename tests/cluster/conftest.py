"""A private Slurm for the tests of this folder."""

import importlib.util
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="session")
def private_slurm() -> ModuleType:
    """private_slurm.py as a module."""
    spec = importlib.util.spec_from_file_location(
        "private_slurm", Path(__file__).with_name("private_slurm.py")
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cluster:
    """A running private Slurm: its folder, and commands that talk to it."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder = folder
        self.variables = variables

    def run(self, *command: str, within: int, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        """Run a command in the environment of this Slurm; ended after `within` seconds, at any price."""
        return subprocess.run(
            ["timeout", "-k", "5", str(within), *command],
            env=os.environ | self.variables,
            cwd=cwd or self.folder,
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def cluster(private_slurm: ModuleType) -> Iterator[Cluster]:
    """A private Slurm that lives as long as one test."""
    with running(private_slurm, cpus=4, memory=8000) as made:
        yield made


@pytest.fixture
def two_nodes(private_slurm: ModuleType) -> Iterator[Cluster]:
    """A private Slurm of two nodes."""
    with running(private_slurm, cpus=12, memory=24000, nodes=2) as made:
        yield made


@contextmanager
def running(private_slurm: ModuleType, **sizes: int) -> Iterator[Cluster]:
    """A private Slurm of these sizes; sockets need a short path, hence not tmp_path."""
    with tempfile.TemporaryDirectory(prefix="slurm-") as name:
        folder = Path(name)
        private_slurm.start(folder, **sizes)
        try:
            yield Cluster(folder, private_slurm.environment(folder))
        finally:
            private_slurm.stop(folder)
