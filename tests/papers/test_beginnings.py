"""Every task of the documents draws its first batches, and every model starts, as when runs of it were
recorded: a constant or a default that changes would change them all, so that each change must be meant.

beginnings.csv holds a number for each; `python -m tests.papers.test_beginnings` writes it anew.
"""

import csv
import json
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tensor_rnns import datasets, models, papers, tasks
from tensor_rnns.experiments import Catalogue, resolve
from tensor_rnns.tasks import Batch, Task

TABLE = Path(__file__).with_name("beginnings.csv")
PLACE = ("paper", "experiment", "condition", "variant", "option")
NUMBERS = {"task": ("training", "validation"), "model": ("training",)}
"""The batches that a task is known by; a model has its start alone."""


def number_of(*arrays: np.ndarray | None) -> float:
    """One number for arrays, to which every element of them adds, each by its place."""
    found = 0.0
    for array in arrays:
        flat = np.zeros(1) if array is None else np.asarray(array, float).ravel()
        found += float(flat @ np.cos(np.arange(flat.size))) / np.sqrt(flat.size)
    return found


def of_batch(batch: Batch) -> float:
    """What a batch is known by."""
    extra = (value for _, value in sorted(batch.extra.items()))
    return number_of(
        batch.inputs, batch.targets, batch.weights, batch.lengths, np.array(batch.weight), *extra
    )


def of_task(task: Task) -> list[float]:
    """What a task is known by: its first batch, and its first for validation, of one data stream."""
    held = task.evaluation_of(5, "valid") if task.own_evaluation else task.evaluation("valid")
    return [of_batch(task.batch(5, 0)), of_batch(next(iter(held)))]


def distinct() -> Iterator[tuple[str, tuple[str, ...], dict[str, Any]]]:
    """(task or model, place, settings) of the first curve with each task and each model at smoke scale."""
    papers.look_in(["workflow/papers"])
    seen: set[str] = set()
    for experiment in Catalogue.load(["workflow/papers"]).experiments.values():
        for curve in resolve.curves(experiment, "smoke") if experiment.kind == "train" else ():
            settings = resolve.settings_of(experiment, "smoke", "embedded", *curve)
            blocks = {
                "task": [settings["task"], settings["dataset"], settings["training"]["batch"]],
                "model": [settings["model"], settings["cell"], settings["task"]["name"]],
            }
            for what, block in blocks.items():
                if (text := json.dumps(block, sort_keys=True)) not in seen:
                    seen.add(text)
                    yield what, (experiment.paper, experiment.name, *curve), settings


@cache
def dataset(name: str) -> datasets.Dataset:
    """A data set of the package."""
    with tempfile.TemporaryDirectory() as folder:
        datasets.prepare(name, None, folder)
        return datasets.load(folder, name)


def found() -> dict[tuple[str, ...], list[float]]:
    """{(task or model, place): its numbers}."""
    numbers, built = {}, {}
    for what, place, settings in distinct():
        key = json.dumps([settings["task"], settings["dataset"], settings["training"]["batch"]])
        if key not in built:
            built[key] = tasks.build(settings, settings["dataset"] and dataset(settings["dataset"]))
        task = built[key]
        if what == "task":
            numbers[what, *place] = of_task(task)
        else:
            model = models.build(settings, task.inputs, task.outputs, symbols=task.symbols)
            start = model.initialise(np.random.default_rng(7))
            numbers[what, *place] = [number_of(*(value for _, value in sorted(start.items())))]
    return numbers


def test_every_task_and_model_begins_as_it_did():
    with open(TABLE, newline="") as file:
        held = {
            (row["what"], *(row[key] for key in PLACE)): [float(row[key]) for key in NUMBERS[row["what"]]]
            for row in csv.DictReader(file)
        }
    begun = found()
    assert begun.keys() == held.keys()
    assert len({settings["task"]["name"] for _, _, settings in distinct()}) == len(tasks.names())
    wrong = {
        place: (numbers, held[place])
        for place, numbers in begun.items()
        if numbers != pytest.approx(held[place], rel=1e-6, abs=1e-4)
    }
    assert not wrong


if __name__ == "__main__":
    begun = found()
    with open(TABLE, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("what", *PLACE, *NUMBERS["task"]))
        for place, numbers in begun.items():
            writer.writerow((*place, *(f"{number:.9g}" for number in numbers), *[""] * (2 - len(numbers))))
