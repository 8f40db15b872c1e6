"""What all tasks share: the batch, how batches of replicas are stacked, and the protocol."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.cells.named import check_fields


@dataclass(frozen=True)
class Batch:
    """One batch of one replica, or of S replicas once stacked.

    `inputs` float32 [T, B, I], or [B, I] for a task without time. `targets` float32 [.., B, O], or integers
    [.., B] for classes. `weight` is the number of items of one replica, for averaging over batches.
    """

    inputs: np.ndarray
    targets: np.ndarray
    weight: int

    @staticmethod
    def stack(batches: Sequence["Batch"]) -> "Batch":
        """The replica axis before the batch axis: inputs [T, S, B, I], targets [.., S, B, O] or [.., S,
        B]."""
        first = batches[0]
        axis = -2 if np.issubdtype(first.targets.dtype, np.integer) else -3
        inputs = np.stack([batch.inputs for batch in batches], axis=-3)
        return Batch(inputs, np.stack([batch.targets for batch in batches], axis=axis), first.weight)


class Task:
    """A stream of batches with its loss and metrics.

    `inputs` and `outputs` are the sizes I and O of a model for it; `baseline` the loss of the best constant
    answer, or None; `updates_per_epoch` the batches of one pass over the data, or None where every batch is
    new. A task is a dataclass with its options as fields (see `tensor_rnns.cells.named`).

    With `own_evaluation` the splits depend on the data stream of the replica, as where a target is drawn for
    each, and `evaluation_of` stands in place of `evaluation`.
    """

    name: ClassVar[str]
    own_evaluation: ClassVar[bool] = False
    inputs: int
    outputs: int
    baseline: float | None
    updates_per_epoch: int | None

    def __post_init__(self) -> None:
        check_fields("task", self)

    def batch(self, seed: int, update: int) -> Batch:
        """The training batch of `update`, counted from 0: a pure function of task, seed and update."""
        raise NotImplementedError

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, the same each time and for every replica."""
        raise NotImplementedError

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """The batches of `split` for the replica of data stream `seed`, the same each time."""
        return self.evaluation(split)

    def loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The training objective of each replica, [S]."""
        raise NotImplementedError

    def metrics(self, outputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Means over the batch by name, each [S]."""
        raise NotImplementedError
