"""What all tasks share: the batch, how batches of replicas are stacked, and the protocol."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.cells.named import check_fields
from tensor_rnns.engine import Affine
from tensor_rnns.experiments.streams import rng

SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class Batch:
    """One batch of one replica, or of S replicas once stacked.

    `inputs` float32 [T, B, I], or [B, I] for a task without time; or integers, the numbers of symbols, with
    the batch last: [T, B], or [K, B] for K symbols an item without time. `targets` float32 [.., B, O], or
    integers [.., B] for classes. `weight` is the number of items of one replica, for averaging over batches.

    A batch with padding also has `weights` float32 [.., B], how much each target counts, 0 for padding, and
    `weight` is what its mean is divided by: for a mean over targets their sum, for a mean of the means of
    items the number of items. `lengths` int64 [B] are the steps of each item that are no padding. `extra`
    are further arrays for the forward pass, floats or bools [.., B, width] or integers [.., B]. The forward
    pass may also read the targets.
    """

    inputs: np.ndarray
    targets: np.ndarray
    weight: float | np.ndarray
    weights: np.ndarray | None = None
    lengths: np.ndarray | None = None
    extra: Mapping[str, np.ndarray] = field(default_factory=dict)

    @staticmethod
    def stack(batches: Sequence["Batch"]) -> "Batch":
        """The replica axis before the batch axis: numbers [.., S, B, I] and integers [.., S, B].

        Weights become shares [.., S, B] of the `weight` of their replica, which is then [S].
        """
        first = batches[0]
        inputs = stacked([batch.inputs for batch in batches])
        targets = stacked([batch.targets for batch in batches])
        extra = {name: stacked([batch.extra[name] for batch in batches]) for name in first.extra}
        lengths = None if first.lengths is None else stacked([batch.lengths for batch in batches])
        if first.weights is None:
            return Batch(inputs, targets, first.weight, None, lengths, extra)
        weight = np.array([batch.weight for batch in batches], float)
        shares = np.stack(
            [batch.weights / total for batch, total in zip(batches, weight, strict=True)], axis=-2
        )
        return Batch(inputs, targets, weight, shares, lengths, extra)

    @property
    def judged(self) -> tuple:
        """What a loss or metrics take beside the outputs: the targets, and their shares where they have
        some."""
        return (self.targets,) if self.weights is None else (self.targets, self.weights)


def stacked(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """The arrays of all replicas as one: integers with the replica axis before the last, others before the
    last two."""
    return np.stack(arrays, axis=-2 if np.issubdtype(arrays[0].dtype, np.integer) else -3)


@lru_cache(maxsize=64)
def shuffled(items: int, *stream: int) -> np.ndarray:
    """The numbers below `items` in an order drawn from this place of a data stream; kept, as every batch of
    an epoch reads it."""
    order = rng(*stream).permutation(items)
    order.flags.writeable = False
    return order


class Task:
    """A stream of batches with its loss and metrics.

    `inputs` and `outputs` are the sizes I and O of a model for it; `baseline` the loss of a constant answer
    (the best one, or that at even odds where the task says so), or None; `updates_per_epoch` the batches of
    one pass over the data, or None where every batch is new. A task is a dataclass with its options as fields
    (see `tensor_rnns.cells.named`).

    With `symbols` the inputs of a batch are numbers below `inputs`, the number of symbols. With
    `carries_state` batch `update` continues batch `update - 1` row by row, except at the start of an epoch,
    where the state of a model is zero; the batches of `evaluation` continue one another from a zero state.
    After each `reset_every` batches of either, if it is given, the state is zero again.
    With `lazy` the loss and the metrics take an `Affine` as well as a tensor for the outputs, as the losses
    of `engine` do. With `own_evaluation` the splits depend on the data stream of the replica, as where
    a target is drawn for each, and `evaluation_of` stands in place of `evaluation`. With a `data_kind` the
    task needs a `dataset` of that kind.
    """

    name: ClassVar[str]
    symbols: ClassVar[bool] = False
    carries_state: ClassVar[bool] = False
    reset_every: int | None = None
    own_evaluation: ClassVar[bool] = False
    lazy: ClassVar[bool] = False
    data_kind: ClassVar[str] = ""
    inputs: int
    outputs: int
    baseline: float | None
    updates_per_epoch: int | None

    def __post_init__(self) -> None:
        check_fields("task", self)
        if self.data_kind and self.dataset is None:
            allowed = f"one of the kind {self.data_kind}"
            raise ValueError(f"task {self.name}: no data set given; allowed: {allowed}")

    def check_split(self, split: str, allowed: Iterable[str]) -> None:
        """ValueError for a split that is not `allowed`."""
        if split not in allowed:
            raise ValueError(f"task {self.name}: split {split!r} asked for; allowed: {', '.join(allowed)}")

    def batch(self, seed: int, update: int) -> Batch:
        """The training batch of `update`, counted from 0: a pure function of task, seed and update."""
        raise NotImplementedError

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, the same each time and for every replica."""
        raise NotImplementedError

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """The batches of `split` for the replica of data stream `seed`, the same each time."""
        return self.evaluation(split)

    def loss(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor | None = None) -> Tensor:
        """The training objective of each replica, [S].

        A task whose batches have weights gets their shares [.., S, B], and sums its losses times these.
        """
        raise NotImplementedError

    def metrics(self, outputs: Tensor | Affine, *judged: Tensor) -> dict[str, Tensor]:
        """Means over the batch by name, each [S], weighted as the loss is; unless a task has more, the loss.

        `judged` are the targets, and the weights where there are some.
        """
        return {"loss": self.loss(outputs, *judged)}

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Metrics of a whole split that are no means, from the means of `metrics`, each [S]; here none."""
        return {}


class Generated(Task):
    """A task whose batches are made: those of training are new, the splits valid and test are fixed.

    Each of the two has `parts` batches of `part_size` items, the same inputs for every seed.
    """

    updates_per_epoch = None
    parts: ClassVar[int] = 10
    part_size: ClassVar[int] = 100

    def generate(self, generator: np.random.Generator, items: int, seed: int = 0) -> Batch:
        """`items` fresh items for the run `seed`."""
        raise NotImplementedError

    def batch(self, seed: int, update: int) -> Batch:
        return self.generate(rng(seed, update), self.batch_size, seed)

    def evaluation(self, split: str) -> Iterator[Batch]:
        return self.evaluation_of(0, split)

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """The batches of `split`, with the answers of the run `seed` where they depend on it."""
        stream = {"valid": 1, "test": 2}
        self.check_split(split, stream)
        for part in range(self.parts):
            yield self.generate(rng(0, stream[split], part), self.part_size, seed)


class Chunks(Task):
    """A sequence cut into chunks that are taken in order, in each epoch the same; targets are like inputs.

    Such a task says how many `chunks(split)` has, and what `chunk(split, index)` is.
    """

    @property
    def outputs(self) -> int:
        return self.inputs

    @property
    def updates_per_epoch(self) -> int:
        return self.chunks("train")

    def batch(self, seed: int, update: int) -> Batch:
        """Chunk `update` modulo the number of chunks; the seed plays no part."""
        return self.chunk("train", update % self.updates_per_epoch)

    def evaluation(self, split: str) -> Iterator[Batch]:
        self.check_split(split, SPLITS)
        for index in range(self.chunks(split)):
            yield self.chunk(split, index)

    def metrics(self, outputs: Tensor | Affine, targets: Tensor) -> dict[str, Tensor]:
        """loss and nll, the same number: nats per symbol or frame."""
        loss = self.loss(outputs, targets)
        return {"loss": loss, "nll": loss}
