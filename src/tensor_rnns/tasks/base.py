"""What all tasks share: the batch, how batches of replicas are stacked, and the protocol."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.cells.named import check_fields
from tensor_rnns.engine import Affine


@dataclass(frozen=True)
class Batch:
    """One batch of one replica, or of S replicas once stacked.

    `inputs` float32 [T, B, I], or [B, I] for a task without time; or integers, the numbers of symbols, with
    the batch last: [T, B], or [K, B] for K symbols an item without time. `targets` float32 [.., B, O], or
    integers [.., B] for classes. `weight` is the number of items of one replica, for averaging over batches.
    """

    inputs: np.ndarray
    targets: np.ndarray
    weight: int

    @staticmethod
    def stack(batches: Sequence["Batch"]) -> "Batch":
        """The replica axis before the batch axis: numbers [.., S, B, I] and integers [.., S, B]."""
        inputs = stacked([batch.inputs for batch in batches])
        return Batch(inputs, stacked([batch.targets for batch in batches]), batches[0].weight)


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays of all replicas as one: integers with the replica axis before the last, others before the
    last two."""
    return np.stack(arrays, axis=-2 if np.issubdtype(arrays[0].dtype, np.integer) else -3)


class Task:
    """A stream of batches with its loss and metrics.

    `inputs` and `outputs` are the sizes I and O of a model for it; `baseline` the loss of the best constant
    answer, or None; `updates_per_epoch` the batches of one pass over the data, or None where every batch is
    new. A task is a dataclass with its options as fields (see `tensor_rnns.cells.named`).

    With `symbols` the inputs of a batch are numbers below `inputs`, the number of symbols. With
    `carries_state` batch `update` continues batch `update - 1` row by row, except at the start of an epoch,
    where the state of a model is zero; the batches of `evaluation` continue one another from a zero state.
    With `lazy` the loss and the metrics take an `Affine` as well as a tensor for the outputs, as the losses
    of `engine` do. With `own_evaluation` the splits depend on the data stream of the replica, as where
    a target is drawn for each, and `evaluation_of` stands in place of `evaluation`.
    """

    name: ClassVar[str]
    symbols: ClassVar[bool] = False
    carries_state: ClassVar[bool] = False
    own_evaluation: ClassVar[bool] = False
    lazy: ClassVar[bool] = False
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

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """The training objective of each replica, [S]."""
        raise NotImplementedError

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """Means over the batch by name, each [S]."""
        raise NotImplementedError

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Metrics of a whole split that are no means, from the means of `metrics`, each [S]; here none."""
        return {}
