"""A tensorized LSTM that a normalisation lets learn from blank inputs."""

from dataclasses import dataclass
from typing import ClassVar

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.tensorized import TLSTM


@dataclass(frozen=True)
class BiasedTLSTM(TLSTM):
    """`TLSTM` whose kernel's bias b begins as the kernel does, U(+-1 / sqrt(K^D M)); he2017 prints no initial
    values.

    From b = 0 what no input has reached is exactly zero, where the gradient of a normalisation is 1 /
    sqrt(1e-5) = 316, for each one on the way back. Before the first ink of an image that is every location at
    every step, and the first update overflows; where some wait for their first input, a net can recover.
    """

    name: ClassVar[str] = "tlstm_biased"

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        found = super().matrices()
        return found | {"b": (found["b"][0], f"uniform({(self.taps * self.hidden) ** -0.5})")}
