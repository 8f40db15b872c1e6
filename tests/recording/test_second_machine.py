"""What a second machine made of recorded trainings; see docs/reproducibility.md.

benchmarks/recorded/second-machine.csv has the sums of the curves of 66 jobs that were trained again on 27
November 2026, on an Intel Xeon with AVX-512, Python 3.12.3 and torch 2.11.0. A job that is recorded anew,
with another torch or processor, is to be left out of the list.
"""

import csv
import hashlib
from pathlib import Path

from tensor_rnns.files import read_json

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "results" / "recorded" / "runs"


def test_two_makers_of_processors_and_two_torches_gave_the_same_bits():
    """Every job recorded with AVX-512 here has that machine's bits; those recorded with AVX2 have not."""
    with open(ROOT / "benchmarks" / "recorded" / "second-machine.csv", encoding="utf-8") as stream:
        second = {row["job"]: row["curves_sha256"] for row in csv.DictReader(stream)}
    same = {}
    for job, sum_there in second.items():
        folder = RUNS / job
        made = read_json(folder / "record.json")
        assert (made["processor"], made["versions"]["torch"]) == ("AMD EPYC", "2.13.0+cpu")
        sum_here = hashlib.sha256((folder / "curves.csv.gz").read_bytes()).hexdigest()
        same.setdefault(made["instruction_set"], []).append(sum_here == sum_there)
    assert {name: (len(found), sum(found)) for name, found in same.items()} == {
        "AVX512": (62, 62),
        "AVX2": (4, 0),
    }
