"""A process that has imported everything and runs each command in a fork of itself.

    python -m tensor_rnns.cli.warm SOCKET      as workflow/scripts/snakemake_locked.py does

Importing torch and the rest takes two seconds of a core, more than most of three hundred jobs of a laptop
report need. A fork has arguments, folder, environment and streams of the command that asked (`asking`), and
otherwise the state of a process that has just been started: nothing was computed before the fork but digests
of the code. The warm process ends with its standard input, so with the controller that holds the other end.
It answers no more when a file of the package changes: what runs then starts on its own.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from pkgutil import iter_modules
from typing import NoReturn

from tensor_rnns.cli import commands
from tensor_rnns.cli.options import ROOTS
from tensor_rnns.experiments import Catalogue, digest

PACKAGE = Path(__file__).resolve().parents[1]
IMPORTED = (
    "tensor_rnns.analysis.collect", "tensor_rnns.analysis.judge", "tensor_rnns.analysis.selection",
    "tensor_rnns.compute.run", "tensor_rnns.datasets.ready", "tensor_rnns.drawing.render",
    "tensor_rnns.probes.run", "tensor_rnns.report.build", "tensor_rnns.training.job",
    "matplotlib.backends.backend_pdf", "matplotlib.backends.backend_svg", "fontTools.subset", "torch._dynamo",
)  # fmt: skip
"""What the commands import when they run; torch imports the last one for its optimisers and for Jacobians."""
ROOMS = ("bilinear", "cells", "drawing", "models", "tasks")
"""Packages of which the commands import every module."""


def stamp() -> list[tuple[str, int, int]]:
    """Name, time and size of every file of the package's code."""
    states = ((path, path.stat()) for end in ("py", "h", "yaml") for path in PACKAGE.rglob(f"[!.]*.{end}"))
    return sorted((str(path), state.st_mtime_ns, state.st_size) for path, state in states)


def import_all() -> None:
    """Import what the commands import when they run, and parse and digest what most of them read."""
    rooms = [importlib.import_module(f"tensor_rnns.{room}") for room in ROOMS]
    modules = [module.name for room in rooms for module in iter_modules(room.__path__, f"{room.__name__}.")]
    for name in (*IMPORTED, *modules):
        importlib.import_module(name)
    # Parsed files are kept by their text. A faulty one is reported by the command that reads it.
    with suppress(ValueError, OSError):
        Catalogue.load(ROOTS)
    digest.read_rooms()
    # Pages that no collection writes to stay shared with the forks.
    gc.collect()
    gc.freeze()


def serve(listener: socket.socket, before: list[tuple[str, int, int]]) -> None:
    """Answer until input ends or the code has another stamp than `before`. In a fork this does not return."""
    # Forks that have ended are forgotten at once; `become` takes this back, for they wait for their own.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        ready, _, _ = select.select([listener, sys.stdin.fileno()], [], [])
        if listener not in ready or stamp() != before:
            return
        line, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            work(line)
        line.close()


def work(line: socket.socket) -> NoReturn:
    """Become the command that is asked for on `line`, run it, answer with its exit code, and exit."""
    code = 1
    try:
        become(line)
        commands.main(prog_name="tensor-rnns")
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        with suppress(OSError):  # of a full disk
            traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
        except OSError:
            code = code or 1
        with suppress(OSError):
            line.sendall(bytes([code & 0xFF]))
        os._exit(code & 0xFF)


def become(line: socket.socket) -> None:
    """Take streams, folder, environment and arguments of the command that asks on `line`."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    size, streams = b"", []
    with suppress(OSError):
        line.sendall(os.getpid().to_bytes(8, "big"))
        size, streams, _, _ = socket.recv_fds(line, 8, 3)
    if len(streams) < 3:  # who asked has given up waiting
        os._exit(1)
    asked = json.loads(line.makefile("rb").read(int.from_bytes(size, "big")))
    for here, there in enumerate(streams):
        os.dup2(there, here)
        os.close(there)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    sys.argv = asked["argv"]
    threading.Thread(target=stop_with, args=(line,), daemon=True).start()


def stop_with(line: socket.socket) -> None:
    """Stop like a killed command once the one that asked is killed."""
    with suppress(OSError):
        line.recv(1)
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Import, then listen, so that who asks meanwhile runs its command itself; then serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    before = stamp()
    import_all()
    path = Path(sys.argv[1])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        try:
            listener.listen(128)
            serve(listener, before)
        finally:
            path.unlink(missing_ok=True)
    # Nothing is left to do, and imported libraries have words about their own ends.
    os._exit(0)


if __name__ == "__main__":
    main()
