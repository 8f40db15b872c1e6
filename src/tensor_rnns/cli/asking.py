"""The side of a command that asks the warm process to run it; see `warm`. Imports nothing that is slow.

A request is 8 bytes of length and a JSON object {argv, folder, environment}; the three standard streams go
along. The answer is the number of the process that runs the command, 8 bytes, and when it has ended its exit
code, 1 byte.
"""

import json
import os
import signal
import socket
import sys

ADDRESS = "TENSOR_RNNS_WARM"
"""The environment variable with the path of the socket."""
KILLED = 128 + signal.SIGKILL


def in_a_warm_process() -> None:
    """Run sys.argv in the warm process and exit with its code; returns where there is no such process, or one
    of other code than this.

    SIGTERM is handed on. If this process is killed, the one that works for it stops too.
    """
    path = os.environ.get(ADDRESS)
    if not path:
        return
    with socket.socket(socket.AF_UNIX) as line:
        try:
            line.connect(path)
            asked = {"argv": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}
            content = json.dumps(asked).encode()
            socket.send_fds(line, [len(content).to_bytes(8, "big")], [0, 1, 2])
            line.sendall(content)
            worker = int.from_bytes(received(line, 8), "big")
        except OSError:
            return
        signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGTERM))
        try:
            code = received(line, 1)[0]
        except OSError:
            print(f"tensor-rnns: process {worker}, which ran this command, was killed", file=sys.stderr)
            code = KILLED
    sys.exit(code)


def received(line: socket.socket, size: int) -> bytes:
    """The next `size` bytes; ConnectionError where the other side has left."""
    found = b""
    while len(found) < size:
        part = line.recv(size - len(found))
        if not part:
            raise ConnectionError("the other side has left")
        found += part
    return found
