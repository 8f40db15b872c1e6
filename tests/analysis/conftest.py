"""Made experiments and made runs, written as a train job writes them."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from tensor_rnns.analysis.collect import METRICS, collect
from tensor_rnns.analysis.curves import CURVES
from tensor_rnns.analysis.runs import Run
from tensor_rnns.analysis.tables import Tables
from tensor_rnns.analysis.verdicts import Judgement, judge_claim
from tensor_rnns.experiments import Catalogue, Experiment, Replica
from tensor_rnns.experiments.run_folders import run_name
from tensor_rnns.files import write_csv, write_json

HEADER = """
title: Made
source: {section: 1}
kind: train
task: {name: addition, length: 20}
model: {name: last_output}
training: {optimiser: adam, learning_rate: 0.1, updates: 12, loss: mse}
"""

BLOCKS = """
dataset: {real: jsb, stand_in: chorales}
conditions: {T250: {task.length: 250}, T500: {task.length: 500}, T750: {task.length: 750}}
variants:
  tgu: {cell: tgu, hidden: 5, rank: 3}
  gru: {cell: gru, hidden: 5}
  lstm: {cell: lstm, hidden: 4}
options:
  slow: {set: {training.learning_rate: 0.01}}
scales:
  paper: {seeds: 6}
  laptop: {seeds: 2}
  smoke: {seeds: 6, conditions: [T250], options: [slow]}
claims:
"""
WOBBLE = [0.0, 0.02, -0.02, 0.01, -0.01, 0.03]
LEVEL = {"tgu": 3.0, "gru": 4.0, "lstm": 5.0}
NLL = "measure: {name: metric, split: test, of: nll}"
VALUE = f"test: value, where: {{condition: T250, variant: tgu}}, {NLL}, tol: 0.1, why: w"
ORDER = f"test: order, less: {{condition: T250, variant: tgu}}, {NLL}"


def why(judgement: Judgement) -> str:
    """Why a claim has no verdict."""
    assert judgement.verdict == "not judged"
    return judgement.reason.split("; ")[0]


def metric_of(replica: Replica) -> dict:
    """The test value: 3, 4 and 5 by cell, rising with the length, and a seed effect that all cells share."""
    length = replica.settings["task"]["length"] / 250
    return {"metrics": {("test", "nll"): LEVEL[replica.variant] + length - 1 + WOBBLE[replica.seed]}}


@pytest.fixture
def catalogue_of(tmp_path: Path) -> Callable[[str], Catalogue]:
    """A catalogue of one experiment `made` of the paper `made2016`, from the blocks that follow HEADER."""

    def write(blocks: str, header: str = HEADER) -> Catalogue:
        folder = tmp_path / "papers" / "made2016"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "made.yaml").write_text(header + blocks, encoding="utf-8")
        return Catalogue.load(tmp_path / "papers")

    return write


def write_run_folder(
    folder: Path, replicas: Sequence[Replica], outcome: Callable[[Replica], dict], **environment
) -> Path:
    """The files of a train job. `outcome(replica)` may hold metrics, curves by their values at updates 1, 2,
    and so on, and what the record says of the replica; `environment` is what it says of the job."""
    metrics, curves, records = [], [], []
    for replica in replicas:
        found = outcome(replica)
        key = replica.key
        # A train job writes this of each replica, failed ones too.
        least = {} if found.get("curves") else {("none", "updates"): 3}
        for (split, name), value in (found.get("metrics") or least).items():
            metrics.append(key | {"split": split, "name": name, "value": value})
        for (split, name), values in found.get("curves", {}).items():
            rows = ({"update": u + 1, "value": v} for u, v in enumerate(values))
            curves += [key | {"split": split, "name": name} | row for row in rows]
        failed = found.get("status") == "failed"
        record = {
            "status": "done",
            "failed_at": 3 if failed else None,
            "updates": 3 if failed else replica.settings["training"]["updates"],
            "parameters": 7,
            "seconds_per_update": 0.25,
        }
        record |= {name: found[name] for name in record.keys() & found.keys()}
        identity = {name: getattr(replica, name) for name in ("hash", "protocol", "searched", "settings")}
        records.append(key | record | identity)
    of = run_name(replicas[0].key)
    write_csv(folder / "metrics.csv", metrics, METRICS, of)
    write_csv(folder / "curves.csv.gz", curves, CURVES, of)
    job = {"engine": "eager", "device": "cpu", "host": "here", "threads": 1, "commit": "c0ffee"}
    write_json(folder / "record.json", {"replicas": records, **job, **environment}, of)
    return folder


@pytest.fixture
def run_folder() -> Callable[..., Path]:
    """`write_run_folder`, for tests that need one folder at a time."""
    return write_run_folder


@pytest.fixture
def trained(tmp_path: Path) -> Callable[..., Path]:
    """Run and collect every replica of an experiment at a scale, of `seeds` where that plans fewer; returns
    the results folder."""

    def write(
        experiment: Experiment,
        outcome: Callable[[Replica], dict],
        scale: str = "paper",
        data: str = "real",
        keep: Callable[[Replica], bool] = lambda replica: True,
        seeds: int = 0,
    ) -> Path:
        results = tmp_path / "results"
        replicas = [one for one in experiment.replicas(scale, data, "final", seeds=seeds) if keep(one)]
        folder = write_run_folder(
            results / scale / "runs" / experiment.paper / experiment.name, replicas, outcome
        )
        collect([folder], results / scale / "collected" / experiment.paper / experiment.name)
        return results

    return write


@pytest.fixture
def run_of() -> Callable[..., Run]:
    """A run with one curve `loss` on train, logged every `spacing` updates from `spacing` on."""

    def make(values, spacing: int = 1, split: str = "train", name: str = "loss", **fields) -> Run:
        updates = spacing * np.arange(1, len(values) + 1)
        curve = {(split, name): (updates, np.asarray(values, dtype=float))}
        given = {"key": {"seed": 0}, "updates": int(updates[-1]), "load_curves": lambda: curve}
        return Run(**(given | fields))

    return make


@pytest.fixture
def judged(
    catalogue_of: Callable[[str], Catalogue], trained: Callable[..., Path]
) -> Callable[..., Judgement]:
    """The judgement of one claim written as a flow mapping, on runs made by `outcome`."""

    def run(
        claim, outcome=metric_of, scale="paper", data="real", keep=lambda replica: True, blocks=BLOCKS,
        header=HEADER, seeds=0, rule=None,
    ):  # fmt: skip
        line = f"  c1: {{statement: said of it, artefact: fig-1, {claim}}}\n"
        catalogue = catalogue_of(blocks + line, header)
        experiment = catalogue.experiments["made2016", "made"]
        results = trained(experiment, outcome, scale, data, keep, seeds)
        tables = Tables(results, scale, "made2016", "made")
        return judge_claim(catalogue.claims[0], experiment, tables, scale, rule)

    return run


def claim(name, text, artefact="table-1"):
    return f"  {name}: {{statement: said about {name}, artefact: {artefact}, {text}}}\n"


def refers(name, claims, extra=""):
    return claim(name, f"test: refers, claims: [{claims}]{extra}", "table-1")
