"""Images as sequences of single pixels of which none is zero."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tensor_rnns.tasks.base import Batch
from tensor_rnns.tasks.training_sets import PixelsSet


@dataclass(frozen=True, kw_only=True)
class CentredPixels(PixelsSet):
    """Pixels of a training set with levels (p - 127.5) / 255, from -1/2 to 1/2, as in `Pixels`.

    With `PixelsSet` a net whose biases begin at zero is exactly zero until the first ink. There the gradient
    of a normalisation is 1 / sqrt(epsilon) = 316, once for each step and each normalisation on the way.
    """

    name: ClassVar[str] = "centred_pixels"

    def items(self, split: str, chosen: np.ndarray | slice) -> Batch:
        """The chosen images of a split: inputs [T, items, 1], targets [items]."""
        batch = super().items(split, chosen)
        return replace(batch, inputs=batch.inputs * np.float32(256 / 255) - np.float32(1 / 2))
