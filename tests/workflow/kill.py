"""Kill the smoke scale at random moments, start it again, and compare with a run that nobody killed.

    python tests/workflow/kill.py --kills 10 --seed 1      the whole smoke scale; or name the files to make

Each kill is a SIGKILL, a random time after a train job of this start appeared: of Snakemake alone, so that
its jobs go on without it, or of the whole group; the last kill is of a train job alone. The next start
follows at once, beside what still runs.
"""

import argparse
import difflib
import gzip
import itertools
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ABOVE = ("controller", "group")
LATEST_KILL = 3.0
LIMIT = 900.0
Differences = dict[str, tuple[bytes | None, bytes | None]]


class Copy:
    """A clone of the repository, in which the smoke scale is made."""

    def __init__(self, folder: Path, targets: list[str]) -> None:
        subprocess.run(["git", "clone", "--quiet", "--sparse", str(ROOT), str(folder)], check=True)
        besides = [
            "git",
            "sparse-checkout",
            "set",
            "--no-cone",
            "/*",
            "!/results/recorded/runs/",
            "!/results/recorded/begun/",
        ]
        subprocess.run(besides, cwd=folder, check=True)
        read = ROOT / ".snakemake" / "checked"  # by content, or each clone reads all experiment files anew
        with suppress(shutil.Error, FileNotFoundError):
            shutil.copytree(read, folder / ".snakemake" / "checked")
        self.folder = folder
        self.targets = targets
        self.log = folder.with_suffix(".log")

    def start(self) -> subprocess.Popen:
        """Start Snakemake as `make` does, in a session of its own."""
        command = [sys.executable, "workflow/scripts/snakemake_locked.py", "--cores", "2", "--keep-going"]
        variables = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(self.folder / "src"),
            "OMP_NUM_THREADS": "1",
        }
        with open(self.log, "a", encoding="utf-8") as log:
            return subprocess.Popen(
                [*command, "--config", "scale=smoke", "data=embedded", "cohort_size=1", "--", *self.targets],
                cwd=self.folder,
                env=os.environ | variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def jobs(self) -> list[int]:
        """The train processes that run in this folder, whoever started them."""
        found = []
        for path in Path("/proc").glob("[0-9]*"):
            try:
                words = (path / "cmdline").read_bytes().decode(errors="replace").split("\0")
                here = (path / "cwd").resolve() == self.folder
            except OSError:
                continue
            if here and "train" in words and any(Path(word).name == "tensor-rnns" for word in words[:2]):
                found.append(int(path.name))
        return sorted(found)

    def jobs_of(self, session: int) -> list[int]:
        """The train processes that the Snakemake of one start has started."""
        found = []
        for process in self.jobs():
            try:
                if os.getsid(process) == session:
                    found.append(process)
            except ProcessLookupError:
                continue
        return found

    def kill_once(self, snakemake: subprocess.Popen, kind: str, moment: float) -> bool:
        """SIGKILL `moment` seconds after the first train job; False if Snakemake ended before."""
        due = None
        while snakemake.poll() is None:
            running = self.jobs_of(snakemake.pid)
            if due is None and running:
                due = time.monotonic() + moment
            if due is not None and time.monotonic() >= due and running:
                if kind == "group":
                    os.killpg(snakemake.pid, signal.SIGKILL)
                else:
                    os.kill(running[0] if kind == "job" else snakemake.pid, signal.SIGKILL)
                return True
            time.sleep(0.02)
        return False

    def run(self, kills: int, chance: random.Random) -> list[str]:
        """Make the targets in spite of `kills` kills; what was killed when. RuntimeError if that failed."""
        ends = time.monotonic() + LIMIT
        done = []
        try:
            while True:
                snakemake = self.start()
                # A killed job leaves its Snakemake to finish all else, so it can only be the last kill.
                kind = "job" if len(done) == kills - 1 else chance.choice(ABOVE)
                moment = chance.uniform(0, LATEST_KILL)
                killed = len(done) < kills and self.kill_once(snakemake, kind, moment)
                status = snakemake.wait(timeout=max(ends - time.monotonic(), 1))
                if killed:
                    done.append(f"{kind} after {moment:.2f} s")
                elif status != 0:
                    raise RuntimeError(f"a run that nobody killed failed:\n{self.log.read_text()[-3000:]}")
                else:
                    return done
        finally:
            for process in self.jobs():
                os.kill(process, signal.SIGKILL)

    def results(self) -> dict[str, bytes]:
        """Every table of metrics and curves, by its path; the bytes of which are promised."""
        results = self.folder / "results" / "smoke"
        names = ("metrics.csv", "curves.npz", "curves.csv.gz")
        return {
            str(path.relative_to(results)): path.read_bytes()
            for path in sorted(results.rglob("*"))
            if path.name in names
        }


def lines_that_differ(ours: bytes | None, theirs: bytes | None) -> Iterator[str]:
    """A unified diff of two tables, packed or not; a missing one is empty."""
    texts = [gzip.decompress(raw) if raw and raw[:2] == b"\x1f\x8b" else raw or b"" for raw in (ours, theirs)]
    one, two = (text.decode().splitlines(keepends=True) for text in texts)
    return difflib.unified_diff(one, two, "killed", "unbroken", n=0)


def compare(folder: Path, targets: list[str], kills: int, seed: int) -> tuple[list[str], Differences, int]:
    """What was killed, the files that differ from those of an unbroken run, and how many were compared."""
    broken, whole = Copy(folder / "broken", targets), Copy(folder / "whole", targets)
    killed = broken.run(kills, random.Random(seed))
    whole.run(0, random.Random(seed))
    ours, theirs = broken.results(), whole.results()
    names = sorted(ours.keys() | theirs.keys())
    different = {n: (ours.get(n), theirs.get(n)) for n in names if ours.get(n) != theirs.get(n)}
    return killed, different, len(theirs)


def main() -> None:
    """Read the command line, kill, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("targets", nargs="*", default=["all"])
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill-") as name:
        killed, different, count = compare(Path(name), arguments.targets, arguments.kills, arguments.seed)
    print(f"{len(killed)} kills: {', '.join(killed)}", f"{count} files compared", sep="\n")
    for name, (ours, theirs) in different.items():
        print(f"{name} differs:")
        sys.stdout.writelines(itertools.islice(lines_that_differ(ours, theirs), 12))
    if different or len(killed) < arguments.kills:
        sys.exit(f"{len(different)} files differ; kills asked {arguments.kills}, made {len(killed)}")


if __name__ == "__main__":
    main()
