"""One writer at a time: a second one waits, says who holds the lock, and then finds the work done.

A killed controller leaves its children running, and a rerun would start twins of them. The lock is flock(2),
which the kernel releases however the holder dies; a heartbeat in the file says who that is and that it still
works.
"""

import fcntl
import json
import logging
import math
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

log = logging.getLogger(__name__)
BEAT_SECONDS = 5.0


def holder(path: Path) -> str:
    """Who holds the lock, in words, from the heartbeat in the file."""
    try:
        who = json.loads(path.read_text(encoding="utf-8"))
        age = time.time() - who["beat"]
        return f"process {who['pid']} on {who['host']} (last heartbeat {age:.0f} s ago)"
    except (OSError, ValueError, KeyError):
        return "another process"


@contextmanager
def held(path: Path, what: str) -> Iterator[bool]:
    """Hold the lock `path` while the block runs; yields whether it had to be waited for.

    `what` is named in the message of a writer that has to wait. Waiting has no limit: the holder's heartbeat
    is repeated every half minute, and a person decides.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+", encoding="utf-8") as stream:
        waited, warned = False, -math.inf
        while True:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                waited = True
                if time.monotonic() - warned > 30:
                    log.warning("%s is being written by %s; waiting for it", what, holder(path))
                    warned = time.monotonic()
                time.sleep(0.2)
        ended = threading.Event()

        def say() -> None:
            # A full disk must not end the heartbeat: the lock itself is the kernel's and holds.
            with suppress(OSError):
                stream.seek(0)
                stream.truncate()
                who = {"pid": os.getpid(), "host": socket.gethostname(), "beat": time.time()}
                stream.write(json.dumps(who))
                stream.flush()

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
