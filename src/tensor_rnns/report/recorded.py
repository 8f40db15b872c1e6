"""Runs of the paper's scale that are kept in the repository, and the report that is made from them alone.

They are a source of runs, not a result: no rule makes them, so nothing can plan a training over them. The
room `recording` puts them there.
"""

import shutil
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from tensor_rnns.analysis.collect import collect
from tensor_rnns.analysis.tables import PROBED, Tables
from tensor_rnns.experiments import Catalogue, Experiment
from tensor_rnns.experiments.records import KEY, RECORDED
from tensor_rnns.experiments.run_folders import RECORD, table_name
from tensor_rnns.experiments.selector import CURVE
from tensor_rnns.files import read_csv, write_csv
from tensor_rnns.npz_files import read_npz, write_npz
from tensor_rnns.report.provenance import git_or_nothing


def check_papers(results: Path, papers: Collection[str]) -> None:
    """ValueError where runs of another paper than `papers` are recorded: the board would lose it."""
    held = {path.name for path in (results / RECORDED / "runs").glob("[!.]*")}
    if left_out := sorted(held - {*papers}):
        given = f"runs of {', '.join(left_out)} are recorded, which the folders of papers leave out"
        raise ValueError(f"{given}: the board would lose them; allowed are --roots with all of them")


def check_whole(results: Path) -> None:
    """ValueError where git knows recorded files that are not there: their seeds would be missed by nobody."""
    lost = git_or_nothing(results, "ls-files", "--deleted", "--", f"{RECORDED}/runs", f"{RECORDED}/computed")
    if lost:
        first, *others = lost.splitlines()
        more = f" and {len(others)} more" if others else ""
        remedy = f"restore: git checkout -- {results / RECORDED}"
        raise ValueError(f"{results / first}{more} of the record missing; {remedy}")


def collect_recorded(catalogue: Catalogue, results: Path) -> None:
    """Join the recorded runs of each experiment."""
    for experiment in catalogue.experiments.values():
        collect_experiment(experiment, results)


def collect_experiment(experiment: Experiment, results: Path) -> None:
    """Join the recorded runs of an experiment, as the rule `collect` does for the runs of a scale, and what
    each probe took from them. Tables of runs that are no longer there go."""
    home = results / RECORDED / "runs" / experiment.paper / experiment.name
    folders = sorted(path.parent for path in home.rglob(RECORD))
    tables = Tables(results, RECORDED, experiment.paper, experiment.name)
    for old in (tables.probes,) if folders else (tables.probes, tables.collected):
        if old.exists():
            shutil.rmtree(old)
    if folders:
        check_seeds(home, collect(folders, tables.collected))
        join_probes(experiment, home, tables.probes)
        print(f"{experiment.paper}/{experiment.name}: recorded runs: {len(folders)}")


def check_seeds(home: Path, keys: Iterable[Sequence[str | int]]) -> None:
    """ValueError where final runs of a curve below `home` lie without those of the seeds before: a curve is
    recorded whole, so that somebody has put together parts."""
    by_curve = defaultdict(set)
    for key in (dict(zip(KEY, key, strict=True)) for key in keys):
        if key["stage"] == "final":
            by_curve[tuple(key[name] for name in CURVE)].add(key["seed"])
    for curve, seeds in sorted(by_curve.items()):
        if lost := sorted(set(range(max(seeds))) - seeds):
            given = f"{home.joinpath(*curve)}: seed {max(seeds)} without {', '.join(map(str, lost))}"
            raise ValueError(f"{given}; allowed are whole curves: git rm -r it, and record it again")


def join_probes(experiment: Experiment, home: Path, out: Path) -> None:
    """Join what each probe of an experiment took from the recorded curves below `home`: arrays and tables."""
    out.mkdir(parents=True, exist_ok=True)
    for probe in experiment.probes:
        of = f"{table_name(experiment.paper, experiment.name, RECORDED)}/{probe}"
        if parts := sorted(home.rglob(f"probes/{probe}.npz")):
            arrays = {name: array for part in parts for name, array in read_npz(part, of).items()}
            rows = [row for part in parts for row in read_csv(part.with_suffix(".csv"), PROBED, of)]
            write_npz(out / f"{probe}.npz", arrays, of, compressed=True)
            write_csv(out / f"{probe}.csv", rows, PROBED, of)
