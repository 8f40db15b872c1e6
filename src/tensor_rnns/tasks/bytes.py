"""Next-byte prediction, kelley2016 section 4."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
from torch import Tensor

from tensor_rnns.mapped import release
from tensor_rnns.tasks.base import SPLITS, Batch
from tensor_rnns.tasks.language import PIECE, NextSymbol

SEGMENTS = 64
"""Segments of a split that are read side by side."""
RELEASED = 1 << 12
"""Chunks after which the pages of a text that is mapped from disk are let go."""


@dataclass(frozen=True)
class Bytes(NextSymbol):
    """Next-byte prediction; `bpc` is the cross entropy in bits per character, which is a byte.

    Of the training part `most` bytes are read, of the test part `most_test`. There is no validation part: the
    split `valid` is the first `watched` bytes of the test part, for curves alone. A symbol is a byte that
    occurs, or with `alphabet: all` any of the 256.

    After each `reset_every` chunks the state is zero again, in training and in tests. Then a split is tested
    as one stream, whatever the batch: its segments between two resets do not know of each other and are read
    SEGMENTS at a time. Without resets it is tested in `batch` rows.
    """

    name: ClassVar[str] = "bytes"
    data_kind: ClassVar[str] = "bytes"
    reset_every: int | None = None
    most_test: int | None = None
    watched: int = 1_000_000
    alphabet: Literal["occurring", "all"] = "occurring"

    @property
    def inputs(self) -> int:
        return 256 if self.alphabet == "all" else super().inputs

    @property
    def reads(self) -> tuple[int, str]:
        """What an update reads, for lines of progress."""
        return self.bptt * self.batch_size, "bytes"

    def tokens(self, split: str) -> np.ndarray:
        if split == "train":
            return super().tokens(split)
        test = self.dataset.arrays["test_tokens"][: self.most_test]
        return test if split == "test" else test[: self.watched]

    @cached_property
    def baseline(self) -> float:
        """As of `NextSymbol`; a text that is mapped from disk is not left in memory."""
        counts, tokens = np.zeros(self.inputs, dtype=np.int64), self.tokens("train")
        length = self.chunks("train") * self.bptt
        for start in self.starts("train", 0) + 1:
            for first in range(start, start + length, PIECE):
                part = tokens[first : min(first + PIECE, start + length)]
                counts += np.bincount(part, minlength=self.inputs)
                if first // PIECE % SEGMENTS == 0:
                    release(tokens)
        shares = counts[counts > 0] / counts.sum()
        return float(-(shares * np.log(shares)).sum())

    def chunk(self, split: str, index: int) -> Batch:
        return self.piece(split, self.starts(split, index))

    def piece(self, split: str, starts: np.ndarray) -> Batch:
        """The chunks that begin at `starts` [rows]: inputs and targets [bptt, rows]."""
        tokens = self.tokens(split)
        piece = tokens[starts + np.arange(self.bptt + 1)[:, None]]
        if starts[0] // self.bptt % RELEASED == 0:
            release(tokens)
        if self.alphabet == "all":
            piece = self.dataset.arrays["vocabulary"][piece]
        piece = piece.astype(np.int64)
        return Batch(piece[:-1], piece[1:], self.bptt * len(starts))

    def evaluation(self, split: str) -> Iterator[Batch]:
        if self.reset_every is None:
            yield from super().evaluation(split)
            return
        self.check_split(split, SPLITS)
        segments, rest = divmod((len(self.tokens(split)) - 1) // self.bptt, self.reset_every)
        length = self.reset_every * self.bptt
        for first in range(0, segments, SEGMENTS):
            starts = np.arange(first, min(first + SEGMENTS, segments)) * length
            for chunk in range(self.reset_every):
                yield self.piece(split, starts + chunk * self.bptt)
        for chunk in range(rest):
            yield self.piece(split, np.array([segments * length + chunk * self.bptt]))

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"bpc": means["nll"] / math.log(2)}
