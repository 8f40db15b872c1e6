"""Next-byte prediction for a cell whose output for a byte comes later, he2017 "Efficiency Analysis"."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.declared import Natural
from tensor_rnns.engine import Affine, cross_entropy
from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.language import NextSymbol


@dataclass(frozen=True)
class LateBytes(NextSymbol):
    """Next-byte prediction with targets that are `delay` steps late; `bpc` is the loss in bits per byte.

    The stream has no steps more: the first `delay` outputs of each row of a split, not of each chunk, count
    nothing, and the last `delay` bytes of a row are not predicted. Of the splits valid and test
    `most_held` bytes are read, or all. The loss is the mean over the bytes of a chunk that count, in nats.
    """

    name: ClassVar[str] = "late_bytes"
    data_kind: ClassVar[str] = "bytes"
    delay: Natural = 0
    most_held: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delay >= self.bptt:
            allowed = f"allowed: less than bptt = {self.bptt}"
            raise ValueError(f"task {self.name}: delay = {self.delay} given; {allowed}")

    def tokens(self, split: str) -> np.ndarray:
        if split == "train":
            return super().tokens(split)
        return self.dataset.arrays[f"{split}_tokens"][: self.most_held]

    def chunk(self, split: str, index: int) -> Batch:
        """Chunk `index`: inputs and targets [bptt, batch], and which targets count."""
        tokens, step = self.tokens(split), np.arange(self.bptt)[:, None]
        starts = self.starts(split, index)
        counts = np.broadcast_to(index * self.bptt + step >= self.delay, (self.bptt, self.batch_size))
        due = np.where(counts, starts + step + 1 - self.delay, 0)
        inputs, targets = (tokens[places].astype(np.int64) for places in (starts + step, due))
        return Batch(inputs, targets, float(counts.sum()), counts.astype(np.float32))

    def loss(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> Tensor:
        """Cross entropy of logits [T, S, B, V] in nats, weighted by the shares of the targets, [S]."""
        return cross_entropy(outputs, targets, 1, weights)

    def metrics(self, outputs: Tensor | Affine, targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """loss and nll, the same number."""
        loss = self.loss(outputs, targets, weights)
        return {"loss": loss, "nll": loss}

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"bpc": means["nll"] / math.log(2)}
