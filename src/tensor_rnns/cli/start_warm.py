"""Starting the process that commands run in; see `warm`. Imports nothing that is slow."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tensor_rnns.cli.asking import ADDRESS


def start_warm(path: Path, session: bool = False) -> subprocess.Popen | None:
    """Start a warm process that listens at `path`, and name it to the commands that this process starts.

    It ends when the last holder of its standard input does. With a session of its own it does not hear the
    Ctrl-C of a terminal. None but on Linux: libraries of other systems may not outlive a fork.
    """
    if sys.platform != "linux":
        return None
    alone = os.environ | {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, "-m", "tensor_rnns.cli.warm", str(path)]
    warm = subprocess.Popen(command, env=alone, stdin=subprocess.PIPE, start_new_session=session)
    os.environ[ADDRESS] = str(path)
    return warm


@contextmanager
def warm_process(path: Path) -> Iterator[subprocess.Popen | None]:
    """Have a warm process while the block runs, and afterwards none."""
    warm = start_warm(path, session=True)
    try:
        yield warm
    finally:
        os.environ.pop(ADDRESS, None)
        if warm:
            warm.communicate()
