"""A tensorized LSTM that normalisations can train."""

from dataclasses import dataclass
from typing import ClassVar

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.tensorized import TLSTM


@dataclass(frozen=True)
class BiasedTLSTM(TLSTM):
    """`TLSTM` whose kernel's bias b begins as the kernel does, U(+-1 / sqrt(K^D M)); he2017 prints no initial
    values.

    From b = 0 a location that no input has reached is exactly zero, where the gradient of a normalisation is
    1 / sqrt(1e-5) = 316 for each one on the way back: of 3D with channel normalisation, M = 32, the first
    gradient of b is 1e12 with P = 4 and 1e24 with P = 7, that of everything else about 10. With layer
    normalisation all locations must be zero, as before the first ink of an image.
    """

    name: ClassVar[str] = "tlstm_biased"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        found = super().matrices()
        return found | {"b": (found["b"][0], f"uniform({(self.taps * self.hidden) ** -0.5})")}
