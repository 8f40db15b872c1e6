"""Runs of the paper's scale that are kept in the repository, and the report that is made from them alone.

They are a source of runs, not a result: no rule makes them, so nothing can plan a training over them. Weights
stay behind; metrics, curves, the run record with its resolved settings, and the choice of a search are small.
"""

import shutil
from pathlib import Path

from tensor_rnns.analysis.collect import collect
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.run_folders import RECORD, read_record, replica_key

KEPT = ("metrics.csv", "curves.csv.gz", RECORD)
SCALE = "recorded"


def record(catalogue: Catalogue, paper: str, experiment: str, results: Path) -> list[Path]:
    """Copy the runs of one experiment at the paper's scale below `results`/recorded; returns the folders.

    A computed experiment has one table instead. An older recording of the same curve is replaced. ValueError
    where the experiment is unknown or nothing of it was run.
    """
    if (paper, experiment) not in catalogue.experiments:
        known = ", ".join(sorted(map(" ".join, catalogue.experiments)))
        raise ValueError(f"unknown experiment {paper} {experiment}; allowed are {known}")
    written = []
    table = results / "paper" / "computed" / paper / f"{experiment}.csv"
    if table.exists():
        target = results / SCALE / "computed" / paper / table.name
        target.parent.mkdir(parents=True, exist_ok=True)
        written.append(Path(shutil.copy2(table, target)))
    source = results / "paper" / "runs" / paper / experiment
    home = results / SCALE / "runs" / paper / experiment
    for curve in sorted({found.parents[1] for found in source.rglob("record.json")}):
        target = home / curve.relative_to(source)
        shutil.rmtree(target, ignore_errors=True)
        for run in newest_runs(curve):
            (target / run.name).mkdir(parents=True)
            for name in KEPT:
                shutil.copy2(run / name, target / run.name / name)
            written.append(target / run.name)
        if (curve / "chosen.json").exists():
            shutil.copy2(curve / "chosen.json", target / "chosen.json")
    if not written:
        raise ValueError(f"{paper} {experiment}: nothing was run at the paper's scale")
    return written


def newest_runs(curve: Path) -> list[Path]:
    """The run folders of a curve without those that hold a replica which a newer folder holds too.

    After a change of the cohort size, folders of the old cut lie beside the new ones.
    """
    kept, seen = [], set()
    for path in sorted(curve.glob("*/record.json"), key=lambda path: path.stat().st_mtime_ns, reverse=True):
        keys = {replica_key(replica) for replica in read_record(path.parent)["replicas"]}
        if not keys & seen:
            kept.append(path.parent)
            seen |= keys
    return sorted(kept)


def collect_recorded(catalogue: Catalogue, results: Path) -> None:
    """Join the recorded runs of each experiment, as the rule `collect` does for the runs of a scale."""
    for paper, experiment in catalogue.experiments:
        home = results / SCALE / "runs" / paper / experiment
        folders = sorted(path.parent for path in home.rglob("record.json"))
        if folders:
            collect(folders, results / SCALE / "collected" / paper / experiment)
            print(f"{paper}/{experiment}: {len(folders)} recorded runs")
