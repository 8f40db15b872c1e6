"""What all tasks share: the batch, how batches of replicas are stacked, and the protocol."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor


@dataclass(frozen=True)
class Batch:
    """One batch of one replica.

    `inputs` float32 [T, B, I], or [B, I] for a task without time. `targets` float32 [.., B, O], or integers
    [.., B] for classes. `weight` is the number of items behind the mean of the loss, for averaging over
    batches.
    """

    inputs: np.ndarray
    targets: np.ndarray
    weight: int


def stack(batches: Sequence[Batch]) -> Batch:
    """One batch with the replica axis S before the batch axis: inputs [T, S, B, I], targets [.., S, B, O].

    Integer targets have no unit axis and become [.., S, B]. `weight` stays that of one replica.
    """
    first = batches[0]
    axis = -2 if np.issubdtype(first.targets.dtype, np.integer) else -3
    inputs = np.stack([batch.inputs for batch in batches], axis=-3)
    return Batch(inputs, np.stack([batch.targets for batch in batches], axis=axis), first.weight)


class Task:
    """A stream of batches with its loss and metrics.

    `inputs` and `outputs` are the sizes I and O of a model for it; `baseline` the loss of the best constant
    answer, or None; `updates_per_epoch` the batches of one pass over the data, or None where every batch is
    new.
    """

    name: ClassVar[str]
    inputs: int
    outputs: int
    baseline: float | None
    updates_per_epoch: int | None

    def batch(self, seed: int, update: int) -> Batch:
        """The training batch of `update`, counted from 0: a pure function of task, seed and update."""
        raise NotImplementedError

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, the same each time and for every replica."""
        raise NotImplementedError

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The training objective of each replica, [S]."""
        raise NotImplementedError

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Means over the batch by name, each [S]."""
        raise NotImplementedError


def option(task: str, settings: dict, name: str, allowed: Sequence[str]) -> str:
    """settings[name], its first allowed value if not given; another value raises ValueError."""
    value = settings.get(name, allowed[0])
    if value not in allowed:
        raise ValueError(f"task {task}: {name} = {value!r} given; allowed: {', '.join(allowed)}")
    return value


def whole(task: str, settings: dict, name: str, least: int = 1) -> int:
    """settings[name] as a whole number of at least `least`, else ValueError."""
    value = settings.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        allowed = f"a whole number of at least {least}"
        raise ValueError(f"task {task}: {name} = {value!r} given; allowed: {allowed}")
    return value


def only(task: str, settings: dict, allowed: Sequence[str]) -> None:
    """ValueError when the task block has keys other than `name` and `allowed`."""
    if unknown := sorted(settings.keys() - {"name", *allowed}):
        options = ", ".join(allowed) or "no option"
        raise ValueError(f"task {task}: {', '.join(unknown)} given; allowed: {options}")
