"""One writer at a time: a second one waits, says who holds the lock, and then finds the work done.

A killed controller leaves its children running, and a rerun would start twins of them. The lock is flock(2),
which the kernel releases however the holder dies; a heartbeat in the file says who that is and that it still
works. Where flock does not hold, nothing is written: `check` asks on one machine, `check_reach` between two.
No wall clock is read.
"""

import fcntl
import itertools
import json
import logging
import math
import os
import socket
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

log = logging.getLogger(__name__)
BEAT_SECONDS = 5.0
BEACON = "TENSOR_RNNS_BEACON"
"""The environment variable with a lock that the controller of a cluster's jobs holds while it lives."""


def heartbeat(path: Path) -> dict[str, Any]:
    """What the holder of a lock wrote last: its pid, host and beat, a number that grows; {} where nothing."""
    try:
        who = json.loads(path.read_text(encoding="utf-8"))
        return {name: who[name] for name in ("pid", "host", "beat")}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def unsafe(path: Path | str, problem: str) -> ValueError:
    """The error of a file system that does not keep a second writer out."""
    remedy = "keep the state where flock holds for every node: --config state=/a/folder"
    return ValueError(f"{path}: {problem}, so two jobs could write one training; {remedy}")


def taken(stream: IO) -> bool:
    """Take the lock of an open file; False where another holds it, ValueError where there are no locks."""
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise unsafe(stream.name, f"flock fails ({error.strerror})") from error
    return True


def check(folder: Path) -> None:
    """ValueError unless a lock in `folder` keeps a second writer out on this machine."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, prefix="probe-") as first, open(first.name) as second:
        if taken(first) and taken(second):
            raise unsafe(folder, "flock lets two writers in")


def check_reach() -> None:
    """ValueError where the lock of a live controller on another machine is free on this one.

    Free is also that of a dead controller, so its heart is listened to; without a controller nothing is done.
    """
    path = Path(os.environ.get(BEACON, ""))
    who = heartbeat(path)
    if who.get("host", socket.gethostname()) == socket.gethostname():
        return
    with open(path, "a") as stream:
        if not taken(stream):
            return
    time.sleep(3 * BEAT_SECONDS)
    if heartbeat(path) not in ({}, who):
        here, there = socket.gethostname(), f"process {who['pid']} on {who['host']}"
        raise unsafe(path, f"flock does not reach from {there} to {here}")


@contextmanager
def held(path: Path, what: str) -> Iterator[bool]:
    """Hold the lock `path` while the block runs; yields whether it had to be waited for.

    `what` is named in the message of a writer that has to wait. Waiting has no limit: who holds the lock is
    said every half minute, and whether its heart still beats, and a person decides.
    ValueError where the file system has no locks.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()  # not to be opened to append, where `pwrite` knows no place
    with open(path, "r+b", buffering=0) as stream:
        waited, warned, seen = False, -math.inf, None
        while not taken(stream):
            waited = True
            if time.monotonic() - warned > 30:
                who = heartbeat(path)
                holder = f"process {who['pid']} on {who['host']}" if who else "another process"
                silent = " (no heartbeat for 30 s)" if who == seen else ""
                log.warning("%s is being written by %s%s; waiting for it", what, holder, silent)
                warned, seen = time.monotonic(), who
            time.sleep(0.2)
        ended = threading.Event()
        beats = itertools.count()

        def say() -> None:
            # A full disk must not end the heartbeat: the lock itself is the kernel's and holds.
            with suppress(OSError):
                who = {"pid": os.getpid(), "host": socket.gethostname(), "beat": next(beats)}
                text = json.dumps(who).encode()
                # Not through the stream, which would write again, and fail, as it is closed.
                os.pwrite(stream.fileno(), text, 0)
                os.ftruncate(stream.fileno(), len(text))

        def beat() -> None:
            while not ended.wait(BEAT_SECONDS):
                say()

        say()
        thread = threading.Thread(target=beat, daemon=True)
        thread.start()
        try:
            yield waited
        finally:
            ended.set()
            thread.join()
            fcntl.flock(stream, fcntl.LOCK_UN)
