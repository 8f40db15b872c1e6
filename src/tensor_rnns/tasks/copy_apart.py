"""Copy memory with a test set of its own, for comparisons in which rates are chosen on the validation set."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.training_sets import CopyMemory

TEST = 1
"""The stream of the test set; that of validation is 0."""


@dataclass(frozen=True, kw_only=True)
class CopyMemoryApart(CopyMemory):
    """Copy memory whose split test has as many sequences as valid and shares no stream with it.

    Training and validation are those of `copy_memory`.
    """

    name: ClassVar[str] = "copy_memory_apart"

    def evaluation_of(self, seed: int, split: str) -> Iterator[Batch]:
        """The batches of `split`; see `Repeated.evaluation_of`."""
        batches = super().evaluation_of(seed, split)
        if split != "test":
            return batches
        return (self.generate(rng(TEST, part), batch.weight) for part, batch in enumerate(batches))
