"""Run Snakemake as the only controller of this folder, in place of this process.

    python workflow/scripts/snakemake_locked.py --cores all --config scale=laptop data=embedded -- all

A second controller waits and says who holds the lock; it also waits for a Snakemake that was started by hand.
Then nobody else is at work here: a lock of Snakemake's own was left by a killed one and is removed, and
unfinished files are made again (--rerun-incomplete). The lock ends with the process, however that dies, and
so does the warm process that runs the commands of the jobs (tensor_rnns.cli.warm).
"""

import fcntl
import itertools
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

from snakemake.cli import parse_config

from tensor_rnns import yaml_files
from tensor_rnns.checking.config import CONFIG, config_problems, misread
from tensor_rnns.cli import start_warm as warming

ROOT = Path(__file__).resolve().parents[2]
OWN = ROOT / ".snakemake"


def take_lock() -> int:
    """The descriptor of the lock, waited for as long as another controller holds it."""
    OWN.mkdir(exist_ok=True)
    lock = os.open(OWN / "controller.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print(f"waiting for the Snakemake that works here: {holder(lock)}", file=sys.stderr, flush=True)
        fcntl.flock(lock, fcntl.LOCK_EX)
    return lock


def holder(lock: int) -> str:
    """The controller that holds the lock, or held it last, in words."""
    return os.pread(lock, 500, 0).decode(errors="replace").strip() or "another process"


def check_machine(lock: int) -> None:
    """SystemExit where the last controller was another machine's: nobody can see from here whether it still
    works, as not every shared disk shares locks."""
    node = re.search(r" on (\S+) since ", last := holder(lock))
    if node and node[1] != os.uname().nodename:
        sys.exit(
            f"Snakemake's lock stands, and the last controller was {last}. If it works no longer: "
            "snakemake --unlock; else wait for it"
        )


def by_hand() -> str:
    """A Snakemake that works in this folder without the lock, in words, or "" (always so without /proc)."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
            here = (path / "cwd").resolve() == ROOT
        except OSError:
            continue
        if (
            here
            and int(path.name) != os.getpid()
            # Jobs of a dead controller's are no controllers: they are awaited one by one, at their locks.
            and "--target-jobs" not in words
            and any(Path(word).name == "snakemake" for word in words[:3])
        ):
            return f"process {path.name}: {shlex.join(words[:-1])[:200]}"
    return ""


def start_warm() -> None:
    """Start the process that the commands of the jobs run in.

    It sees its standard input end when this process does, also after that has become Snakemake.
    """
    for left in OWN.glob("warm-*"):
        left.unlink()
    # Relative to this folder, as jobs run here: the path of a socket may have 107 characters.
    if warm := warming.start_warm(OWN.relative_to(ROOT) / f"warm-{os.getpid()}"):
        os.set_inheritable(warm.stdin.fileno(), True)


def check_config(words: list[str]) -> None:
    """SystemExit with all that is wrong in `--config`, which Snakemake would say once the folder is free."""
    given = itertools.takewhile(lambda word: not word.startswith("-"), words[words.index("--config") + 1 :])
    if wrong := misread(ROOT / CONFIG):
        sys.exit("\n".join(wrong))
    config = yaml_files.read(ROOT / CONFIG).content | parse_config(list(given))
    if wrong := config_problems(config, ROOT):
        sys.exit("\n".join(wrong))


def main() -> None:
    """Take the lock, tidy up after a killed controller, become Snakemake."""
    arguments = ["--rerun-incomplete", *sys.argv[1:]]
    if "--config" in arguments:
        check_config(arguments)
    lock = take_lock()
    reported = ""
    while other := by_hand():
        if other != reported:
            print(f"waiting for a Snakemake started by hand: {other}", file=sys.stderr, flush=True)
            reported = other
        time.sleep(1)
    os.chdir(ROOT)
    snakemake = [sys.executable, "-m", "snakemake"]
    if any((OWN / "locks").glob("*")):
        check_machine(lock)
        print("removing the lock of a Snakemake that was killed", file=sys.stderr, flush=True)
        subprocess.run([*snakemake, "--unlock", *arguments], check=True)
    started = time.strftime("%Y-%m-%d %H:%M:%S")
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"process {os.getpid()} on {os.uname().nodename} since {started}\n".encode(), 0)
    os.set_inheritable(lock, True)
    # Jobs of a cluster must not run in a process of the machine that the controller runs on.
    if not any(word.startswith(("--profile", "--executor")) for word in arguments):
        start_warm()
    print(f"snakemake {shlex.join(arguments)}", flush=True)
    os.execv(sys.executable, [*snakemake, *arguments])


if __name__ == "__main__":
    main()
