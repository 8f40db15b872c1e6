"""What an update of a replica has to do, in numbers: steps, rows, widths, parameters, multiplications."""

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tensor_rnns import checking, datasets, engine, models, tasks
from tensor_rnns.cells.base import Cell
from tensor_rnns.datasets import table
from tensor_rnns.dispatch import Flops
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.digest import digest
from tensor_rnns.files import kept
from tensor_rnns.models.delayed import Delayed
from tensor_rnns.models.recurrent import Recurrent
from tensor_rnns.tasks import Task
from tensor_rnns.training import optimisers
from tensor_rnns.training.numerics import numerics
from tensor_rnns.training.settings import Training

EVALUATION = 0.35
"""A batch that is only evaluated, in updates: the forward pass of one."""
NOTES = 88
"""Columns of every piano roll."""
GOLDEN = (math.sqrt(5) - 1) / 2
"""Its multiples modulo 1 are spread evenly."""
REPEATS = 3
"""How often a byte comes in a short text: of 100 some 35 are different."""
SIZES: dict[str, list] = {}
"""What `sized` found, by the digest of what was asked."""
MOST_SIZES = 10_000
"""Of which so many are written for the next process."""


@dataclass(frozen=True)
class Work:
    """Sizes of one update of one replica, and how many updates there are.

    `rows` are the steps of all items of a batch; `state` the numbers in the states of all cells; `core` and
    `head` the floating-point operations of the products in the cells and around them, forward and back;
    `touched` the parameters that the optimiser goes over, `logged` the points of its curves.
    """

    engine: str
    cell: str
    steps: int
    rows: int
    inputs: int
    state: int
    core: float
    head: float
    parameters: int
    touched: float
    updates: float = 0.0
    logged: int = 0


@cache
def hollow(name: str) -> datasets.Dataset:
    """A data set of zeros in the sizes that its entry counts, so that hours can be said before anything is
    downloaded: black images, silent pieces, one word again and again, in lines where there are sentences, all
    bytes in turn. ValueError where it counts too little.
    """
    entry = table.entry(name)
    facts = {**entry.counted, **entry.facts}
    try:
        return datasets.Dataset(name, arrays_of(entry.kind, facts), facts)
    except KeyError as error:
        problem = f"sizes of {name} asked for; its entry counts {', '.join(facts)}, no {error}"
        raise ValueError(problem) from None


def arrays_of(kind: str, facts: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The arrays of a hollow data set; see `datasets.Dataset`."""
    arrays: dict[str, np.ndarray] = {}
    if kind == "fonts":
        shape = [facts[key] for key in ("styles", "letters", "rows", "columns")]
        return {"images": np.zeros(shape, np.uint8)}
    for split, count in facts[{"images": "images", "polyphony": "steps"}.get(kind, "tokens")].items():
        if kind == "images":
            arrays[f"{split}_images"] = np.zeros((count, facts["rows"], facts["columns"]), np.uint8)
            arrays[f"{split}_labels"] = np.zeros(count, np.uint8)
        elif kind == "polyphony":
            arrays[f"{split}_roll"] = np.zeros((count, NOTES), np.uint8)
            arrays[f"{split}_lengths"] = np.bincount(np.arange(count) % facts["pieces"][split])
        else:
            arrays[f"{split}_tokens"] = np.zeros(count, np.uint16)
            if kind == "bytes":
                runs = np.arange(facts["symbols"], dtype=np.uint16).repeat(REPEATS)
                arrays[f"{split}_tokens"] = np.resize(runs, count)
            words = ["<unk>", *map(str, range(1, facts["symbols"]))]
            if "longest" in facts:
                # Of lengths spread from none to twice the mean, so that a batch has the padding of a text.
                lengths = np.arange(1, facts["lines"][split] + 1) * GOLDEN % 1
                ends = (lengths.cumsum() / lengths.sum() * count).astype(int) - 1
                arrays[f"{split}_tokens"][ends.clip(0)] = 1
                words[1] = "\n"
            arrays["vocabulary"] = np.arange(len(words)) if kind == "bytes" else np.array(words)
    return arrays


def work_of(replica: Replica, engine_name: str = "auto", device: str = "cpu") -> Work:
    """The work of a replica on the engine that `engine_name` means; ValueError as of `hollow`."""
    settings = replica.settings
    parts = json.dumps({name: settings[name] for name in ("task", "model", "cell", "dataset")})
    options = optimisers.block_of(settings["training"])
    rests = optimisers.build(options.pop("name"), torch.ones(1), options).rests
    chosen = engine_of(json.dumps(settings["cell"]), engine_name, device)
    work, per_epoch, valid = sized(parts, settings["training"].get("batch"), chosen, rests)
    training = Training.of(settings["training"], per_epoch)
    every = training.evaluate.every
    passes = training.updates // every if every else 0
    evaluated = EVALUATION * valid * (passes + len(training.evaluate.splits))
    logged = training.updates // training.log_every + 2 * passes
    return replace(work, updates=training.updates + evaluated, logged=logged)


@cache
def task_of(block: str, batch: int | None, dataset: str | None) -> tuple[Task, np.ndarray, float]:
    """The task of a block in JSON, on a hollow data set; a batch of inputs; such batches in validation."""
    settings = {"task": json.loads(block), "training": {"batch": batch}}
    task = tasks.build(settings, hollow(dataset) if dataset else None)
    inputs = task.batch(0, 0).inputs
    try:
        return task, inputs, sum(part.inputs.size for part in task.evaluation_of(0, "valid")) / inputs.size
    except (NotImplementedError, ValueError):
        return task, inputs, 0.0


@cache
def engine_of(cell: str, engine_name: str, device: str) -> str:
    """The engine that `engine_name` means here for a `cell` block written as JSON."""
    return engine.choose(engine_name, json.loads(cell), device, runs=False)


def kept_sizes(path: Path) -> AbstractContextManager:
    """Has what `sized` found in an earlier process of the same code: it builds every task and model."""
    code = checking.digest(checking.PACKAGE, ".py", ".yaml", ".csv")
    return kept(path, SIZES, f"sizes by the code {code}, torch {torch.__version__}", MOST_SIZES)


@cache
def sized(parts: str, batch: int | None, chosen: str, rests: bool) -> tuple[Work, int | None, float]:
    """`measured`, once for these settings, but of a guest, whose file may change, in each process."""
    if '"file"' in parts:
        return measured(parts, batch, chosen, rests)
    key = digest([parts, batch, chosen, rests])
    if key not in SIZES:
        work, *more = measured(parts, batch, chosen, rests)
        SIZES[key] = [asdict(work), *more]
    work, per_epoch, valid = SIZES[key]
    return Work(**work), per_epoch, valid


@numerics(1)
def measured(parts: str, batch: int | None, chosen: str, rests: bool) -> tuple[Work, int | None, float]:
    """The work of one update on the engine `chosen`, updates an epoch, and batches of training size in the
    validation split.

    An optimiser that `rests` leaves parameters without a gradient alone.
    """
    settings = json.loads(parts)
    task, inputs, valid = task_of(json.dumps(settings["task"]), batch, settings["dataset"])
    model = models.build(settings, task.inputs, task.outputs, symbols=task.symbols)
    items, parameters = inputs.shape[-1 if task.symbols else -2], model.parameter_count()
    if isinstance(model, Recurrent):
        steps = len(inputs) + (model.delay if isinstance(model, Delayed) else 0)
        rows = steps * items
        core, head = products(model, rows, items)
        shapes = [shape for cell in model.cells.values() for shape in cell.state_shapes().values()]
        sizes = steps, rows, 0 if task.symbols else task.inputs, sum(map(math.prod, shapes))
        name, rested = settings["cell"]["name"], 0.0
        if rests and chosen == "compiled" and not model.has_penalty:
            tables = [shape for table, shape in model.shapes().items() if picks(model, table, shape)]
            rested = sum(math.prod(shape) * max(0, 1 - rows / REPEATS / shape[0]) for shape in tables)
        work = Work(chosen, name, *sizes, 6.0 * core, 6.0 * head, parameters, parameters - rested)
    else:
        name = settings["model"]["name"]
        work = Work(chosen, name, 1, items, 0, 0, 0.0, 6.0 * parameters * items, parameters, parameters)
    return work, task.updates_per_epoch, valid


def picks(model: Recurrent, name: str, shape: Sequence[int]) -> bool:
    """Whether the symbols of a batch pick what the steps read of the array `name`."""
    one_hot = name == "embedding/W" or (model.one_hot and name.partition("/")[0] in model.stack[0])
    return one_hot and shape[0] == model.inputs


def products(model: Recurrent, rows: int, items: int) -> tuple[int, int]:
    """Multiplications of the forward pass in the cells, and in the read-out; rows that are looked up are
    none, matrices that are looked up are as others. A step may use the weights of its cell again."""
    core = head = 0
    for name, shape in model.declared().items():
        if name.startswith("read_out/"):
            head += math.prod(shape) * (items if model.last_only else rows)
        elif not picks(model, name, shape):
            core += math.prod(shape) * rows
        elif len(shape) > 2:
            core += math.prod(shape[1:]) * rows
    for cell in model.cells.values():
        core += max(0, multiplications(cell) - sum(map(math.prod, cell.shapes().values()))) * rows
    return core, head


def multiplications(cell: Cell) -> int:
    """Those in the products of a step of one row."""
    parameters = {name: torch.zeros(shape) for name, shape in cell.shapes().items()}
    with torch.no_grad(), Flops() as counter:
        cell.step(parameters, torch.zeros(1, cell.inputs), cell.initial_state(1))
    return counter.count // 2
