"""The side of a command that asks the warm process to run it; see `warm`. Imports nothing that is slow.

The warm process answers a connection with the number of the process that will run the command, 8 bytes. A
request follows, 8 bytes of length and a JSON object {argv, folder, environment}, and the three standard
streams go along, which nobody gets who has not answered. When the command has ended its exit code comes, 1
byte.
"""

import json
import os
import signal
import socket
import sys

ADDRESS = "TENSOR_RNNS_WARM"
"""The environment variable with the path of the socket."""
SECONDS = 2.0
"""How long an answer is waited for: what runs a command answers at once, or never."""
KILLED = 128 + signal.SIGKILL
MAY_PASS = "another try may pass"
"""How the line of an error ends that another try may not meet; other errors of a command come again."""


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
            line.settimeout(SECONDS)
            line.connect(path)
            answers = line.makefile("rb")
            worker = int.from_bytes(answers.read(8), "big")
            line.settimeout(None)
            if not worker:
                return
            asked = {"argv": sys.argv, "folder": os.getcwd(), "environment": dict(os.environ)}
            content = json.dumps(asked).encode()
            socket.send_fds(line, [len(content).to_bytes(8, "big")], [0, 1, 2])
            line.sendall(content)
        except TimeoutError:
            print(f"tensor-rnns: no answer from {path} in {SECONDS:g} s; not waited for", file=sys.stderr)
            return
        except OSError:
            return
        signal.signal(signal.SIGTERM, lambda *_: os.kill(worker, signal.SIGTERM))
        try:
            code = answers.read(1)[0]
        except (OSError, IndexError):
            killed = f"process {worker}, which ran this command, was killed"
            print(f"tensor-rnns: {killed}; {MAY_PASS}", file=sys.stderr)
            code = KILLED
    sys.exit(code)
