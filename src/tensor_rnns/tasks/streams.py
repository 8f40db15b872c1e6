"""Next-character prediction in one text, sentence after sentence: barone2016 section 3.0.4, LSTMs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from tensor_rnns.tasks.language import NextSymbol


@dataclass(frozen=True)
class Streams(NextSymbol):
    """Next-character prediction in `batch` streams; `perplexity` is exp of the mean cross entropy of a
    character, ends of lines among them, and `bpc` that in bits."""

    name: ClassVar[str] = "streams"

    def derived(self, means: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {"perplexity": means["nll"].exp(), "bpc": means["nll"] / math.log(2)}
