"""The first batch of a task, held against what the task says of itself: a net would train on any numbers."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from tensor_rnns.experiments.streams import rng
from tensor_rnns.models import Model
from tensor_rnns.models.recurrent import EveryStep, Recurrent
from tensor_rnns.tasks import Batch, Task

WHERE = ", its first batch: "
"""Between the name of a task and what is wrong."""
ITEMS = 3
"""So many items of the batch have outputs in the trial of the loss: a vocabulary may be wide."""


def sound(task: Task) -> Batch:
    """The first batch of a task; ValueError where it is not made of seed and update alone, where its arrays
    or the loss have other shapes than a task's, or where nothing in it counts."""
    before = shared_states()
    first, _, again = (task.batch(0, update) for update in (0, 1, 0))
    problems = (*draw_problems(before, first, again), *form_problems(task, first))
    for problem in problems or loss_problems(task, first):
        raise ValueError(f"task {task.name}{WHERE}{problem}")
    return first


def shared_states() -> dict[str, Any]:
    """The random states that all code of a process shares, by module."""
    words, *more = np.random.get_state()[1:]  # noqa: NPY002
    torch_words = torch.get_rng_state().numpy().tobytes()
    return {"random": random.getstate(), "numpy": [words.tobytes(), *more], "torch": torch_words}


def arrays(batch: Batch) -> dict[str, np.ndarray]:
    """Everything in a batch, by name."""
    parts = vars(batch) | {f"extra {name}": part for name, part in batch.extra.items()}
    return {name: np.asarray(part) for name, part in parts.items() if part is not None and name != "extra"}


def draw_problems(before: dict[str, Any], first: Batch, again: Batch) -> Iterator[str]:
    """How the draws of a task show that they depend on more than seed and update."""
    allowed = "allowed are draws from tensor_rnns.experiments.streams.rng(seed, update) alone"
    for name, state in shared_states().items():
        if state != before[name]:
            yield f"a batch is drawn from the random state of {name}, which all code shares; {allowed}"
    left, right = arrays(first), arrays(again)
    for name in left | right:
        if not (name in left and name in right and np.array_equal(left[name], right[name], equal_nan=True)):
            yield f"two batches of one seed and update differ in their {name}; {allowed}"


def is_whole(array: np.ndarray) -> bool:
    """Whether an array holds whole numbers: symbols, or classes."""
    return np.issubdtype(array.dtype, np.integer)


def rows_of(targets: np.ndarray) -> tuple[int, ...]:
    """The axes of what is answered: all of classes, all but the last of numbers."""
    return targets.shape if is_whole(targets) else targets.shape[:-1]


def form_problems(task: Task, batch: Batch) -> Iterator[str]:
    """Arrays of other shapes than `Batch` says, what is not finite, and weights that count nothing."""
    size = getattr(task, "batch_size", None) or rows_of(batch.targets)[-1]
    symbols = task.symbols, "inputs", batch.inputs, task.inputs
    classes = is_whole(batch.targets), "targets", batch.targets, task.outputs
    for whole, name, array, width in (symbols, classes):
        last = (size,) if whole else (size, width)
        if is_whole(array) != whole or array.shape[-len(last) :] != last:
            allowed = f"{'whole numbers' if whole else 'numbers'} [{', '.join(['..', *map(str, last)])}]"
            yield f"{name} {list(array.shape)} of {array.dtype} given; allowed: {allowed}"
    for name, shape in (("weights", rows_of(batch.targets)), ("lengths", (size,))):
        array = getattr(batch, name)
        if array is not None and array.shape != shape:
            yield f"{name} {list(array.shape)} given; allowed beside these targets: {list(shape)}"
    for name, array in arrays(batch).items():
        if not np.isfinite(array).all():
            yield f"{name} with a number that is not finite given; allowed: finite numbers"
    weights = np.array(1) if batch.weights is None else batch.weights
    if not (np.min(weights) >= 0 and np.max(weights) > 0 and batch.weight > 0):
        given = f"weights from {np.min(weights)} to {np.max(weights)} and the weight {batch.weight} given"
        yield f"{given}; allowed: weights of at least 0, some above, and a weight above 0"


def loss_problems(task: Task, batch: Batch) -> Iterator[str]:
    """A loss that is not one number for each replica, made of its own outputs alone."""
    whole = is_whole(batch.targets)
    few = batch.targets[..., :ITEMS] if whole else batch.targets[..., :ITEMS, :]
    weights = None if batch.weights is None else batch.weights[..., :ITEMS]
    both = Batch.stack([Batch(batch.inputs, few, batch.weight, weights)] * 2)
    judged = [torch.from_numpy(np.ascontiguousarray(part)) for part in both.judged]
    judged = [part.float() if part.is_floating_point() else part.long() for part in judged]
    outputs = torch.from_numpy(rng(0).normal(size=(*rows_of(both.targets), task.outputs))).float()
    others = outputs.clone()
    others[..., 1, :, :] += 1
    loss, of_others = task.loss(outputs, *judged), task.loss(others, *judged)
    if loss.shape != (2,):
        yield f"a loss {list(loss.shape)} of two replicas given; allowed: one number for each, [2]"
    elif not torch.isclose(loss[0], of_others[0], equal_nan=True):
        yield "the loss of a replica depends on the outputs of another; allowed: of its own"


def check_answers(model: Model, task: Task, batch: Batch) -> None:
    """ValueError where a net answers once and the targets are those of each step, or the other way round: a
    loss would broadcast one of them."""
    once = len(rows_of(batch.targets)) == 1
    if isinstance(model, Recurrent) and model.last_only != once:
        given, allowed = ("one answer", "each step") if once else ("each step", "one answer")
        told = f"the task {task.name} gives targets of {given}"
        raise ValueError(f"model {model.name}: {told}; allowed: of {allowed}, as it answers")
    steps, due = len(batch.inputs), len(batch.targets)
    if isinstance(model, EveryStep) and steps != due:
        told = f"the task {task.name} gives inputs of {steps} steps and targets of {due}"
        raise ValueError(f"model {model.name}: {told}; allowed: as many")
