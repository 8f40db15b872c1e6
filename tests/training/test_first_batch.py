"""A task whose first batch a net would train on with wrong numbers is refused, by a check and by a job."""

import random
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np
import pytest
import torch

from tensor_rnns import checking, models, tasks
from tensor_rnns.checking import building
from tensor_rnns.experiments import Catalogue
from tensor_rnns.experiments.records import SCALES
from tensor_rnns.experiments.streams import rng
from tensor_rnns.recording.units import units
from tensor_rnns.recording.work import hollow
from tensor_rnns.tasks.base import Batch, Generated
from tensor_rnns.training import first_batch, job
from tests.training.conftest import replica


@lru_cache
def drawn_once(shape):
    """Kept, so that a second batch has the numbers of the first."""
    return np.random.normal(size=shape)  # noqa: NPY002


@dataclass(frozen=True)
class Room:
    """Settings in a block of their own, of which not all are allowed."""

    left: int = 1

    def __post_init__(self):
        if self.left > 3:
            raise ValueError(f"left is {self.left}; allowed are at most 3")


@dataclass(frozen=True)
class Sums(Generated):
    """The sums of two streams of numbers, in 3 outputs, after the last step or after each."""

    name: ClassVar[str] = "sums_of_the_test"
    batch_size: int
    length: int
    wrong: str = ""
    each: bool = False
    weighted: bool = False
    room: Room = Room()

    inputs = 2
    outputs = 3
    baseline = None

    def generate(self, generator, items, seed=0):
        shape = (self.length, items, int(self.wrong) if self.wrong == "two" else 2)
        x = generator.normal(size=shape)
        x = WRONG_INPUTS.get(self.wrong, lambda x, shape: x)(x, shape)
        y = generator.normal(size=(*(shape[:1] if self.each else ()), items, 3))
        y = WRONG_TARGETS.get(self.wrong, lambda y: y)(y)
        weights = WRONG_WEIGHTS.get(self.wrong, np.ones)(y.shape[:-1]) if self.weighted else None
        return Batch(x, y, 0 if self.wrong == "nothing" else items, weights)

    def loss(self, outputs, targets, weights=None):
        errors = (outputs - targets).square()
        errors = errors.mean(0) if self.each else errors
        return WRONG_LOSSES.get(self.wrong, lambda errors: errors.mean((-2, -1)))(errors)


WRONG_INPUTS = {
    "batch first": lambda x, shape: x.swapaxes(0, 1),
    "symbols": lambda x, shape: (x > 0).astype(int),
    "no number": lambda x, shape: np.where(x > 1, np.nan, x),
    "numpy": lambda x, shape: np.random.normal(size=shape),  # noqa: NPY002
    "kept": lambda x, shape: drawn_once(shape),
    "torch": lambda x, shape: torch.randn(shape).numpy(),
    "random": lambda x, shape: x + random.random(),
    "fresh": lambda x, shape: np.random.default_rng().normal(size=shape),
}
WRONG_TARGETS = {
    "one column": lambda y: y[..., :1],
    "no column": lambda y: y[..., 0],
    "classes in a column": lambda y: (y[..., :1] > 0).astype(int),
}
WRONG_WEIGHTS = {
    "all zero": np.zeros,
    "below zero": lambda shape: -np.ones(shape),
    "infinite": lambda shape: np.full(shape, np.inf),
    "of another shape": lambda shape: np.ones((1, *shape)),
}
WRONG_LOSSES = {
    "one number": lambda errors: errors.mean(),
    "one for each row": lambda errors: errors.mean(-1),
    "of all replicas": lambda errors: errors.mean().expand(2),
}
OF_ALL = r"which all code shares; allowed are draws from tensor_rnns.experiments.streams.rng\(seed, update\)"
SAID = {
    "batch first": r"inputs \[5, 7, 2\] of float64 given; allowed: numbers \[.., 5, 2\]",
    "symbols": r"inputs \[7, 5, 2\] of int64 given; allowed: numbers \[.., 5, 2\]",
    "no number": r"inputs with a number that is not finite given; allowed: finite numbers",
    "numpy": rf"a batch is drawn from the random state of numpy, {OF_ALL}",
    "kept": r"a batch is drawn from the random state of numpy, ",
    "torch": r"a batch is drawn from the random state of torch, ",
    "random": r"a batch is drawn from the random state of random, ",
    "fresh": r"two batches of one seed and update differ in their inputs; allowed are draws from ",
    "one column": r"targets \[5, 1\] of float64 given; allowed: numbers \[.., 5, 3\]",
    "no column": r"targets \[5\] of float64 given; allowed: numbers \[.., 5, 3\]",
    "classes in a column": r"targets \[5, 1\] of int64 given; allowed: whole numbers \[.., 5\]",
    "all zero": r"weights from 0.0 to 0.0 and the weight 5 given; allowed: weights of at least 0, some above",
    "below zero": r"weights from -1.0 to -1.0 and the weight 5 given; allowed: ",
    "infinite": r"weights with a number that is not finite given; allowed: finite numbers",
    "of another shape": r"weights \[1, 5\] given; allowed beside these targets: \[5\]",
    "nothing": r"weights from 1.0 to 1.0 and the weight 0 given; allowed: .* and a weight above 0",
    "one number": r"a loss \[\] of two replicas given; allowed: one number for each, \[2\]",
    "one for each row": r"a loss \[2, 3\] of two replicas given; allowed: ",
    "of all replicas": r"the loss of a replica depends on the outputs of another; allowed: of its own",
}
WEIGHTED = (*WRONG_WEIGHTS, "nothing")


@pytest.fixture
def known(monkeypatch):
    """Let the task of the test be one of the project's."""
    names = tasks.names()
    with_sums = lambda: names | {Sums.name: Sums}  # noqa: E731 - it stands in for a function
    monkeypatch.setattr(tasks, "names", with_sums)
    block = replace(building.NAMED["task"], known=with_sums)
    monkeypatch.setitem(building.NAMED, "task", block)
    building.task_class.cache_clear()
    yield
    building.task_class.cache_clear()


def settings_of(model="last_output", **options):
    """A job of the test's task."""
    settings = replica(updates=2).settings
    task = {"name": Sums.name, "length": 7, **options}
    return settings | {"task": task, "model": {"name": model}}


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_sound_task_is_taken(each, weighted):
    batch = first_batch.sound(Sums(5, 7, each=each, weighted=weighted))
    np.testing.assert_array_equal(batch.inputs, rng(0, 0).normal(size=(7, 5, 2)))


@pytest.mark.parametrize("wrong", SAID)
def test_a_batch_that_would_be_learnt_wrongly_is_refused(wrong):
    task = Sums(5, 7, wrong, weighted=wrong in WEIGHTED)
    drawn_once.cache_clear()
    with pytest.raises(ValueError, match=f"^task {task.name}, its first batch: {SAID[wrong]}"):
        first_batch.sound(task)


@pytest.mark.parametrize(("model", "each"), [("last_output", True), ("every_step", False)])
def test_answers_at_other_steps_than_the_targets_are_refused(model, each, known):
    """A loss by hand would broadcast the one against the other."""
    settings = settings_of(model, each=each)
    task = tasks.build(settings)
    net = models.build(settings, task.inputs, task.outputs)
    given, allowed = ("each step", "one answer") if each else ("one answer", "each step")
    with pytest.raises(ValueError, match=f"model {model}: .* targets of {given}; allowed: of {allowed}, as"):
        first_batch.check_answers(net, task, first_batch.sound(task))


def test_targets_of_more_steps_than_the_inputs_are_refused(known):
    settings = settings_of("every_step", each=True)
    task = tasks.build(settings)
    net, first = models.build(settings, task.inputs, task.outputs), first_batch.sound(task)
    longer = replace(first, targets=np.concatenate([first.targets, first.targets[:2]]))
    with pytest.raises(ValueError, match="gives inputs of 7 steps and targets of 9; allowed: as many"):
        first_batch.check_answers(net, task, longer)


def test_a_job_refuses_the_task_before_it_trains(known, tmp_path):
    folders = [tmp_path / name for name in ("out", "state", "ready")]
    good, bad = (replace(replica(), settings=settings_of(wrong=wrong)) for wrong in ("", "one column"))
    job.run([good], *folders, "eager", "cpu")
    with pytest.raises(ValueError, match=SAID["one column"]):
        job.run([bad], *folders, "eager", "cpu")


TRAINED = """\
title: Sums
kind: train
source: {{section: 1}}
task: {{name: {name}, length: 7{more}}}
model: {{name: last_output}}
training: {{optimiser: adam, learning_rate: 0.01, batch: 5, updates: 3}}
conditions:
  short: {{}}
  long: {{task.length: 9}}
variants:
  gru: {{cell: gru, hidden: 3}}
scales: {{paper: {{}}, laptop: {{}}, smoke: {{}}}}
"""


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", None),
        (", wrong: batch first", r"4: task.name: task \S+, its first batch: inputs \[., ., 2\] of float64"),
        (", each: true", r"5: model.name: model last_output: the task \S+ gives targets of each step"),
        (", wrong: two", r"4: task.name: task \S+ fails: ValueError: invalid literal for int\(\) .*'two'"),
        (", room: {left: 4}", r"4: task.room: task \S+: left is 4; allowed are at most 3"),
    ],
)
def test_a_check_tells_it_once_with_the_line(more, said, known, tmp_path):
    """Batches of two lengths are one mistake; what a task raises is told with the line, whatever it is."""
    path = tmp_path / "paper2000" / "sums.yaml"
    path.parent.mkdir()
    path.write_text(TRAINED.format(name=Sums.name, more=more))
    found = checking.problems([tmp_path], path.parent)
    if said is None:
        assert found == []
    else:
        (problem,) = found
        assert re.match(rf"sums.yaml:{said}", problem)


def test_tasks_of_the_papers_with_data_are_sound():
    """On data of the sizes of theirs; those that make their data are tried when the papers are checked."""
    tried = {}
    catalogue = Catalogue.load(["workflow/papers"])
    for scale in SCALES:
        for unit in units(catalogue.experiments.values(), 10, scale, "real"):
            settings = unit.final[0][0].settings
            if settings["dataset"] is not None:
                tried.setdefault((settings["task"]["name"], settings["dataset"]), settings)
    assert len(tried) >= 15
    for (_, dataset), settings in tried.items():
        task = tasks.build(settings, hollow(dataset))
        model = models.build(settings, task.inputs, task.outputs, symbols=task.symbols)
        first_batch.check_answers(model, task, first_batch.sound(task))
