"""The way of finished runs into results/recorded: whole, today's, sealed, with the arrays of their probes.

A unit is put together aside and renamed. Weights stay behind; metrics, curves, the run record with its
resolved settings, the choice of a search and what probes took from the weights are small.
"""

import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from tensor_rnns import functions
from tensor_rnns.experiments import Experiment
from tensor_rnns.experiments.digest import digest
from tensor_rnns.experiments.records import RECORDED, rule_of
from tensor_rnns.experiments.run_folders import RECORD, read_record, replica_key, run_name, table_name
from tensor_rnns.files import Damaged, read_json, read_table, writing
from tensor_rnns.probes import run as probes
from tensor_rnns.recording.units import Unit
from tensor_rnns.training.job import code_parts

TABLES = ("metrics.csv", "curves.csv.gz")
CHOSEN, WEIGHTS = "chosen.json", "weights.safetensors"


def runs_of(unit: Unit, home: Path) -> dict[Path, list[Mapping[str, Any]]]:
    """The replicas of each run folder in `home` that belongs to the unit; a newer folder goes before one that
    holds the same replicas, and none of other settings, of another grid or of another choice counts, nor a
    final one of other code than the newest."""
    newest = sorted(home.glob(f"*/{RECORD}"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
    records = {path.parent: read_record(path.parent) for path in newest}
    there = [replica for record in records.values() for replica in record["replicas"]]
    finals = [replica for replica in there if replica["stage"] == "final"]
    seeds = 1 + max((replica["seed"] for replica in finals), default=0)
    chosen, protocol = choice(unit, home), unit.final[0][0].protocol
    ours = {replica.hash for group in unit.search for replica in group}
    ours |= {replica.hash for replica in unit.finals(chosen, seeds)} if chosen else set()

    def belongs(replica: Mapping[str, Any]) -> bool:
        final = replica["stage"] == "final"
        if final and replica.get("code") != finals[0].get("code"):
            return False
        free = final and not chosen
        return replica["protocol"] == protocol if free else replica["hash"] in ours

    by_folder, seen = {}, set()
    for folder, record in records.items():
        replicas = [{"dirty": record.get("dirty"), **replica} for replica in record["replicas"]]
        keys = {replica_key(replica) for replica in replicas}
        if not keys & seen and all(map(belongs, replicas)):
            by_folder[folder] = replicas
            seen |= keys
    return dict(sorted(by_folder.items()))


def choice(unit: Unit, home: Path) -> Mapping[str, Any] | None:
    """The values that the search whose runs lie in `home` chose by today's rule; None where it has not."""
    if not unit.search or not (home / CHOSEN).exists():
        return None
    of = "/".join((unit.experiment.paper, unit.experiment.name, unit.scale, *unit.curve))
    chosen = read_json(home / CHOSEN, of)
    return chosen["values"] if chosen.get("rule") == rule_of(unit.experiment.search["select"]) else None


def lacks(unit: Unit, home: Path) -> str:
    """Why the runs in the folder `home` are not all of this unit as it is set today, in words; else ""."""
    try:
        held = {replica["hash"] for replicas in runs_of(unit, home).values() for replica in replicas}
        values = choice(unit, home)
    except Damaged as error:
        return str(error)
    if unit.search and values is None:
        return f"{CHOSEN} is not there, or by another rule than today's"
    wanted = [replica.hash for group in unit.search for replica in group]
    wanted += [replica.hash for replica in unit.finals(values)]
    missing = len(set(wanted) - held)
    return f"{missing} of {len(wanted)} replicas have not been run as they are set today" if missing else ""


def is_recorded(unit: Unit, results: Path) -> bool:
    """Whether the unit is recorded as it is set today, with the arrays of every probe."""
    home = unit.folder(results, RECORDED)
    probed = all((home / "probes" / f"{name}.npz").exists() for name in unit.probes)
    return probed and not lacks(unit, home)


def is_of_older_code(unit: Unit, results: Path) -> bool:
    """Whether other code than today's of cell, forms, model, task, engine or training trained a final run."""
    folders = [path.parent for path in unit.folder(results, RECORDED).glob(f"final-*/{RECORD}")]
    codes = {replica.get("code") for home in folders for replica in read_record(home)["replicas"]}
    return bool(codes and codes - {digest(code_parts(unit.final[0][0].settings))})


def seeds(unit: Unit, results: Path) -> int:
    """How many final seeds of the unit are recorded, with values that a search chose by today's rule."""
    home = unit.folder(results, RECORDED)
    return finals(unit, home) if not unit.search or choice(unit, home) else 0


def finals(unit: Unit, home: Path) -> int:
    """How many final replicas of the unit lie in the folder `home`."""
    runs = runs_of(unit, home).values()
    return sum(replica["stage"] == "final" for replicas in runs for replica in replicas)


def keep(sources: Sequence[tuple[Unit, Path]], results: Path, ready: Path, dirty: bool = False) -> list[Path]:
    """Record the units whose runs lie in the folders beside them: all or, where one cannot be put together,
    none; returns their folders among the recorded ones.

    An older recording of a unit is replaced, but not by one of a smaller scale or, as it is set today, of
    fewer seeds (ValueError). So, too, where runs are lacking or damaged, or were trained by code that was not
    committed and `dirty` is not given; FileNotFoundError where a probe lacks weights.
    """
    for unit, _ in sources:
        refuse_papers(unit, unit.folder(results, RECORDED))
    aside = results / RECORDED / ".aside"
    for old in (aside / "old").glob("*/*/*/*/*"):  # what a kill between two renames left
        if not (target := results / RECORDED / "runs" / old.relative_to(aside / "old")).exists():
            move(old, target)
    shutil.rmtree(aside, ignore_errors=True)
    for unit, source in sources:
        put_together(unit, source, aside / "new" / unit.name, ready, dirty)
        homes = aside / "new" / unit.name, unit.folder(results, RECORDED)
        now, before = (finals(unit, home) for home in homes)
        if now < before and not lacks(unit, homes[1]):
            raise ValueError(f"{unit.name}: {now} seeds given; allowed: the {before} recorded ones, or more")
    targets = {unit.name: unit.folder(results, RECORDED) for unit, _ in sources}
    try:
        for name, target in targets.items():
            if target.exists():
                move(target, aside / "old" / name)
            move(aside / "new" / name, target)
    except BaseException:
        for name, target in targets.items():
            if target.exists() and not (aside / "new" / name).exists():
                move(target, aside / "failed" / name)
            if (aside / "old" / name).exists():
                move(aside / "old" / name, target)
        raise
    shutil.rmtree(aside)
    return list(targets.values())


def refuse_papers(unit: Unit, home: Path) -> None:
    """ValueError where runs of the paper's scale lie in the folder `home` and the unit is of another."""
    for path in home.glob(f"*/{RECORD}") if unit.scale != "paper" else ():
        if any(replica["scale"] == "paper" for replica in read_record(path.parent)["replicas"]):
            asked = f"{unit.name}: keeping runs of the {unit.scale} scale in {home} asked for, where runs of "
            raise ValueError(f"{asked}the paper's scale lie; allowed is another folder: --results")


def move(folder: Path, target: Path) -> None:
    """Rename a folder to one that may need its parents."""
    target.parent.mkdir(parents=True, exist_ok=True)
    folder.rename(target)


def put_together(unit: Unit, source: Path, new: Path, ready: Path, dirty: bool) -> None:
    """Write into `new` what is recorded of the unit whose runs lie in `source`; raises what `keep` raises."""
    if problem := lacks(unit, source):
        raise ValueError(f"{unit.name}: recording asked for, but {problem}")
    runs = runs_of(unit, source)
    unclean = {it["commit"] for group in runs.values() for it in group if it["dirty"] is not False}
    if unclean and not dirty:
        given = f"runs of {', '.join(map(str, unclean))} with changes that were not committed"
        allowed = "allowed are runs of a clean checkout, or --dirty"
        raise ValueError(f"{unit.name}: recording asked for of {given}; {allowed}")
    for run, replicas in runs.items():
        (new / run.name).mkdir(parents=True)
        for name in TABLES:
            read_table(run / name, run_name(replicas[0]))
        for name in (*TABLES, RECORD):
            shutil.copy2(run / name, new / run.name / name)
    if unit.search:
        shutil.copy2(source / CHOSEN, new / CHOSEN)
    take_probes(unit, [run for run in runs if run.name.startswith("final-")], new / "probes", ready)


def take_probes(unit: Unit, finals: Iterable[Path], out: Path, ready: Path) -> None:
    """Take every probe of the unit from the weights of its final runs, on one thread."""
    torch.set_num_threads(1)
    for name, block in unit.probes.items():
        of = f"{table_name(unit.experiment.paper, unit.experiment.name, unit.scale)}/{name}"
        if missing := [str(run) for run in finals if not (run / WEIGHTS).exists()]:
            raise FileNotFoundError(f"the probe {of} needs {WEIGHTS}, which is not in {', '.join(missing)}")
        function = functions.probe(block["function"])
        probes.run(function, block.get("arguments") or {}, finals, ready, out / f"{name}.npz", of)


def import_runs(
    units: Iterable[Unit], source: Path, results: Path, ready: Path, dirty: bool = False
) -> Iterator[tuple[bool, str]]:
    """Record what lies complete below the results folder `source` of a scale and is not recorded yet.

    Yields whether a unit, of which something was run, was recorded; and its folder, or why not.
    """
    for unit in units:
        home = source / "runs" / unit.name
        if any(home.glob(f"*/{RECORD}")) and not is_recorded(unit, results):
            try:
                yield True, str(*keep([(unit, home)], results, ready, dirty))
            except (ValueError, OSError) as error:
                yield False, str(error)


def computed_tables(experiments: Iterable[Experiment], results: Path) -> Iterator[tuple[str, Path, str]]:
    """Of each computed experiment its name, its table below the results folder `results` of a scale, and what
    keeps that from counting for the paper's scale today, in words: "" where nothing does."""
    for experiment in experiments:
        if experiment.kind == "compute":
            path = results / "computed" / experiment.paper / f"{experiment.name}.csv"
            problem = "missing"
            if path.exists():
                try:
                    todays = functions.is_todays(path, experiment)
                    problem = "" if todays else f"{functions.OTHER}; compute it again"
                except Damaged as error:
                    problem = str(error)
            yield f"{experiment.paper}/{experiment.name}", path, problem


def import_computed(
    experiments: Iterable[Experiment], source: Path, results: Path
) -> Iterator[tuple[bool, str]]:
    """Record the tables of computed experiments that lie below the results folder `source` of a scale and
    are not recorded as they are set today: a run time that was measured first stays.

    Yields whether one was recorded; and its path, or why not.
    """
    tables = (computed_tables(experiments, home) for home in (source, results / RECORDED))
    for (name, table, problem), (_, target, lacks_today) in zip(*tables, strict=True):
        if not problem and lacks_today:
            with writing(target, "wb") as stream:
                stream.write(table.read_bytes())
            yield True, str(target)
        elif problem not in ("", "missing"):
            yield False, f"{name}: recording asked for, but {table}: {problem}"
