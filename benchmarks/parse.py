"""Seconds that Snakemake takes to read the whole workflow: here, and inside a Slurm job, which reads it too.

    python -m benchmarks.parse                # here
    python -m benchmarks.parse --slurm        # and in a job of the Slurm that `srun` reaches

The first reading, which checks every experiment file, is not counted; a reading includes starting Python and
importing Snakemake, which a second column says by itself.
"""

import argparse
import os
import statistics
import subprocess
import sys

READ = (sys.executable, "-m", "snakemake", "--list-rules", "--cores", "1")
IMPORT = (sys.executable, "-c", "import snakemake.cli")
CLOCK = """
import subprocess, sys, time
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    print(time.perf_counter() - began)
"""


def seconds(command: tuple[str, ...], turns: int, where: tuple[str, ...] = ()) -> list[float]:
    """How long a command takes each time, by a clock that stands where it runs: after `where`, as `srun`.

    CalledProcessError where it fails.
    """
    line = [*where, sys.executable, "-c", CLOCK, str(turns), *command]
    done = subprocess.run(line, check=True, capture_output=True, text=True)
    return [float(row) for row in done.stdout.split()]


def main() -> None:
    """Print a row for each place."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--slurm", action="store_true", help="in a job of Slurm too")
    given = parser.parse_args()
    seconds(READ, 1)
    print(
        "| where | reading, s: median | least | most | of it the import | load |",
        "|---|---|---|---|---|---|",
        sep="\n",
    )
    for name, where in [("here", ())] + [("in a Slurm job", ("srun", "--ntasks=1"))] * given.slurm:
        taken, alone = seconds(READ, given.turns, where), seconds(IMPORT, given.turns, where)
        columns = (statistics.median(taken), min(taken), max(taken), statistics.median(alone))
        numbers = " | ".join(f"{value:.2f}" for value in (*columns, os.getloadavg()[0]))
        print(f"| {name} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
