"""Processor time of Snakemake's controller per job, with the workflow's rules for it and without.

    python -m benchmarks.controller                  # 20 minutes: 500 and 5,000 jobs
    python -m benchmarks.controller --jobs 100 200 --ours

Each job makes one file from one that all share, and one more joins every hundred of them: Snakemake's time
for a job grows with the square of its inputs, of which none in the workflow has thousands. The own time of
the controller counts: that of reading the workflow (with 0 jobs) is taken off, that of the jobs is theirs.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RULES = Path(__file__).parents[1] / "workflow" / "rules"
INCLUDED = ("scheduler.smk", "graph.smk")
WORKFLOW = """
import atexit
import resource
{includes}
def print_own_time():
    own = resource.getrusage(resource.RUSAGE_SELF)
    print("OWN", own.ru_utime + own.ru_stime)

if workflow.is_main_process:
    atexit.register(print_own_time)

rule all:
    input: expand("joined/{{first}}", first=range(0, {jobs}, 100))
rule join:
    input: lambda wildcards: [f"out/{{i}}" for i in range(int(wildcards.first), {jobs})[:100]]
    output: "joined/{{first}}"
    shell: "touch {{output}}"
rule one:
    input: "start"
    output: "out/{{i}}"
    params: digest=lambda wildcards: "digest"
    shell: "touch {{output}}"
"""


def seconds(jobs: int, included: tuple[str, ...], cores: int) -> tuple[float, float]:
    """The controller's processor time and the clock's, of so many jobs with these rules."""
    includes = "".join(f"include: {str(RULES / name)!r}\n" for name in included)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "Snakefile").write_text(WORKFLOW.format(includes=includes, jobs=jobs))
        Path(folder, "start").touch()
        line = [sys.executable, "-m", "snakemake", "--cores", str(cores), "--quiet", "all", "--", "all"]
        began = time.perf_counter()
        done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False)
        took = time.perf_counter() - began
        if done.returncode != 0:
            raise SystemExit(done.stderr)
    own = next(text for text in done.stdout.splitlines() if text.startswith("OWN"))
    return float(own.split()[1]), took


def main() -> None:
    """Print a row for each number of jobs, with the rules and without."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, nargs="+", default=[500, 5000])
    parser.add_argument("--ours", action="store_true", help="without the rows of Snakemake's own scheduler")
    parser.add_argument("--cores", type=int, default=2)
    given = parser.parse_args()
    print(
        "| jobs | rules | controller, ms per job | share of a core, % | minutes |",
        "|---|---|---|---|---|",
        sep="\n",
    )
    for included in [INCLUDED] if given.ours else [INCLUDED, ()]:
        name = "the workflow's" if included else "Snakemake's own"
        base, _ = seconds(0, included, given.cores)
        for jobs in given.jobs:
            own, took = seconds(jobs, included, given.cores)
            per_job = 1e3 * (own - base) / jobs
            print(
                f"| {jobs:,} | {name} | {per_job:.1f} | {100 * own / took:.1f} | {took / 60:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
