"""Next-symbol prediction in text: words, mathews2016 section 5.2.2, and characters, section 5.2.3."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.engine import Affine, cross_entropy
from tensor_rnns.tasks.base import SPLITS, Batch, Chunks

UNKNOWN = "<unk>"
PIECE = 1 << 16
"""Symbols that are counted at once."""


@dataclass(frozen=True)
class NextSymbol(Chunks):
    """Each symbol from those before it; the loss is the cross entropy in nats per symbol.

    A split is cut into `batch` rows of equal length, and these into chunks of `bptt` symbols; incomplete rows
    and chunks are dropped (`Characters` has another loader too). The target is the next symbol, within the
    row. The state is carried from chunk to chunk and is zero at the start of an epoch and of a split.
    Training takes the chunks in order, in each epoch the same. Ends of lines are symbols like others. `most`
    symbols of a split are read, or all. Tokens that are mapped from disk are not copied; what was read of
    them may stay in memory (`Bytes` lets it go).
    """

    symbols: ClassVar[bool] = True
    carries_state: ClassVar[bool] = True
    lazy: ClassVar[bool] = True
    data_kind: ClassVar[str] = "text"
    dataset: Any
    batch_size: int
    bptt: int
    most: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for split in SPLITS:
            if self.chunks(split) < 1:
                have = f"split {split} has {len(self.tokens(split)):,} symbols"
                asked = f"bptt = {self.bptt} in {self.batch_size} rows"
                raise ValueError(
                    f"task {self.name}: {asked} given; {have}; allowed: at least one chunk of each row"
                )

    @property
    def inputs(self) -> int:
        return len(self.dataset.arrays["vocabulary"])

    @cached_property
    def baseline(self) -> float:
        """Nats a symbol of the best constant answer to the targets of an epoch: their own frequencies."""
        counts, length = np.zeros(self.inputs, dtype=np.int64), self.chunks("train") * self.bptt
        for start in self.starts("train", 0) + 1:
            row = self.tokens("train")[start : start + length]
            # In pieces: a row may be most of a file that is mapped and does not fit into memory as int64.
            for first in range(0, length, PIECE):
                counts += np.bincount(row[first : first + PIECE], minlength=self.inputs)
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def tokens(self, split: str) -> np.ndarray:
        """The numbers of the symbols of a split that are read, in order."""
        return self.dataset.arrays[f"{split}_tokens"][: self.most]

    def chunks(self, split: str) -> int:
        """Whole chunks of a split, each with a symbol after it."""
        return (len(self.tokens(split)) // self.batch_size - 1) // self.bptt

    def starts(self, split: str, index: int) -> np.ndarray:
        """Where in the split each row of chunk `index` begins, [batch]."""
        length = len(self.tokens(split)) // self.batch_size
        return np.arange(self.batch_size) * length + index * self.bptt

    def chunk(self, split: str, index: int) -> Batch:
        """Chunk `index`: inputs and targets [bptt, batch], targets one symbol later."""
        places = self.starts(split, index) + np.arange(self.bptt + 1)[:, None]
        piece = self.tokens(split)[places].astype(np.int64)
        return Batch(piece[:-1], piece[1:], self.bptt * self.batch_size)

    def loss(self, outputs: Tensor | Affine, targets: Tensor) -> Tensor:
        """Cross entropy of logits [T, S, B, V], nats per symbol: mean over steps and rows."""
        return cross_entropy(outputs, targets, targets[:, 0].numel())


@dataclass(frozen=True)
class Words(NextSymbol):
    """Next-word prediction; `perplexity` is exp of the mean cross entropy of a split.

    `vocabulary` keeps the commonest words of the training split, and the others become the unknown word;
    left out, all words of the data set are kept. Its numbers fall with the frequency.
    """

    name: ClassVar[str] = "words"
    vocabulary: int | None = None

    @property
    def inputs(self) -> int:
        """The size of the vocabulary that is kept."""
        return self.vocabulary or super().inputs

    @cached_property
    def kept(self) -> dict[str, np.ndarray]:
        """The numbers of each split, with the unknown word in place of what is not kept.

        ValueError where the data set has no word of that kind among those kept, or fewer words.
        """
        words = list(self.dataset.arrays["vocabulary"])
        unknown = words.index(UNKNOWN) if UNKNOWN in words else len(words)
        if not unknown < self.inputs <= len(words):
            have = f"{len(words):,} words, {UNKNOWN} is number {unknown:,}"
            raise ValueError(f"task words: vocabulary = {self.inputs:,} given; the data set has {have}")
        tokens = {split: super(Words, self).tokens(split) for split in SPLITS}
        return {split: np.where(words < self.inputs, words, unknown) for split, words in tokens.items()}

    def tokens(self, split: str) -> np.ndarray:
        return super().tokens(split) if self.vocabulary is None else self.kept[split]

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"perplexity": means["nll"].exp()}


@dataclass(frozen=True)
class Characters(NextSymbol):
    """Next-character prediction.

    `loader: authors` reads as the authors' code did: row b of chunk n starts at character
    bptt n + (bptt + 1) b, and a split has as many chunks as blocks of batch (bptt + 1) characters. So a row
    continues itself, but most characters are read by many rows, and only the first of a split are read at
    all: of N chunks N bptt + (batch - 1) (bptt + 1) + 1. With 100 rows of 100 steps these are 35,300 of
    2,556,970 characters, and 14,900 of 500,000. `baseline` is that of the characters that are read, as often
    as they are.
    """

    name: ClassVar[str] = "characters"
    loader: Literal["rows", "authors"] = "rows"

    def chunks(self, split: str) -> int:
        if self.loader == "authors":
            return len(self.tokens(split)) // (self.batch_size * (self.bptt + 1))
        return super().chunks(split)

    def starts(self, split: str, index: int) -> np.ndarray:
        if self.loader == "authors":
            return index * self.bptt + np.arange(self.batch_size) * (self.bptt + 1)
        return super().starts(split, index)
