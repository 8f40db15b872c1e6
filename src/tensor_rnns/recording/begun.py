"""Finished jobs of curves that are not complete: kept with the code, so that a curve that takes longer than
one machine is at hand can be trained on several.

They lie in results/recorded/begun, which nothing judges or draws, until their curve is recorded whole.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.digest import digest
from tensor_rnns.experiments.records import RECORDED
from tensor_rnns.experiments.run_folders import RECORD, read_record
from tensor_rnns.files import Damaged
from tensor_rnns.recording import store
from tensor_rnns.recording.units import Unit
from tensor_rnns.training.job import code_parts


def folder(unit: Unit, results: Path) -> Path:
    """Where the finished jobs of an incomplete curve are kept."""
    return results / RECORDED / "begun" / unit.name


def holds(run: Path, replicas: Sequence[Replica]) -> bool:
    """Whether a run folder has these replicas and no others, of today's settings and code."""
    try:
        held = {(replica["hash"], replica.get("code")) for replica in read_record(run)["replicas"]}
    except (FileNotFoundError, Damaged):
        return False
    return held == {(replica.hash, digest(code_parts(replica.settings))) for replica in replicas}


def keep(unit: Unit, run: Path, results: Path) -> None:
    """Keep the run folder of a finished job; its weights, which are large, only where a probe will look.
    ValueError as of `store.refuse_papers`."""
    store.refuse_papers(unit, folder(unit, results))
    weights = (store.WEIGHTS,) if unit.probes and run.name.startswith("final-") else ()
    copy_whole(run, folder(unit, results) / run.name, results, (*store.TABLES, RECORD, *weights))


def has(unit: Unit, run: Path, results: Path) -> bool:
    """Whether the run folder of a finished job is kept as it is."""
    kept = folder(unit, results) / run.name / RECORD
    return kept.exists() and kept.read_bytes() == (run / RECORD).read_bytes()


def copy_whole(run: Path, target: Path, results: Path, names: Iterable[str]) -> None:
    """Copy files of a run folder so that a kill leaves the whole copy or none."""
    aside = results / RECORDED / ".aside" / run.name
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for name in names:
        shutil.copy2(run / name, aside / name)
    shutil.rmtree(target, ignore_errors=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    aside.rename(target)
    with suppress(OSError):  # of a folder in which a kill left something
        aside.parent.rmdir()


def bring(unit: Unit, results: Path) -> None:
    """Put the kept jobs among the runs of their scale, where their own machine left them. So too those of a
    curve that was recorded with fewer seeds, but for final ones without the weights that a probe needs."""
    for home in (folder(unit, results), unit.folder(results, RECORDED)):
        for run in (path.parent for path in home.glob(f"*/{RECORD}")):
            target = unit.folder(results) / run.name
            lacks_weights = run.name.startswith("final-") and not (run / store.WEIGHTS).exists()
            if not (target / RECORD).exists() and not (unit.probes and lacks_weights):
                copy_whole(run, target, results, [path.name for path in run.iterdir()])


def drop(unit: Unit, results: Path) -> None:
    """Forget the kept jobs of a curve that is recorded."""
    home = folder(unit, results)
    shutil.rmtree(home, ignore_errors=True)
    with suppress(OSError):  # of a folder that holds other curves
        os.removedirs(home.parent)


def share(unit: Unit, results: Path) -> float:
    """The part of a curve's replicas that is kept, of today's settings and code."""
    kept = [it for group in store.runs_of(unit, folder(unit, results)).values() for it in group]
    replicas = [replica for _, _, group in unit.jobs for replica in group]
    codes = {digest(code_parts(replica.settings)) for replica in replicas} if kept else set()
    return sum(it.get("code") in codes for it in kept) / len(replicas)
