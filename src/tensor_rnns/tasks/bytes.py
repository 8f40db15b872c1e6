"""Next-byte prediction, kelley2016 section 4."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.tasks.language import NextSymbol


@dataclass(frozen=True)
class Bytes(NextSymbol):
    """Next-byte prediction; `bpc` is the cross entropy in bits a character, which is a byte.

    Of the training part `most` bytes are read, of the test part `most_test`. There is no validation part: the
    split `valid` is the first `watched` bytes of the test part, for curves alone. After each `reset_every`
    chunks the state is zero again, in training and in tests.
    """

    name: ClassVar[str] = "bytes"
    data_kind: ClassVar[str] = "bytes"
    reset_every: int | None = None
    most_test: int | None = None
    watched: int = 1_000_000

    def tokens(self, split: str) -> np.ndarray:
        if split == "train":
            return super().tokens(split)
        test = self.dataset.arrays["test_tokens"][: self.most_test]
        return test if split == "test" else test[: self.watched]

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"bpc": means["nll"] / math.log(2)}
