"""The unitary evolution RNN as another public commit of its authors' code has it."""

import math
from dataclasses import dataclass
from typing import ClassVar

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.unitary import Unitary


@dataclass(frozen=True)
class UnitaryArticle(Unitary):
    """`urnn` as models.py of amarshah/complex_RNN at 938c263 has it: F and F^-1 as in the equation of the
    article, no s, and other initial values, theta ~ U(-pi, pi), V_re and V_im Glorot as one matrix [I, 2 H],
    h_0 ~ U(+-sqrt(3 / (2 H))).
    """

    name: ClassVar[str] = "urnn_article"
    fft: bool = True
    scale: bool = False

    @property
    def start(self) -> Scheme:
        return {"uniform": math.sqrt(3 / (2 * self.hidden))}

    def matrices(self) -> dict[str, tuple[tuple[int, int], Scheme]]:
        schemes: dict[str, Scheme] = {f"theta_{k}": {"uniform": math.pi} for k in (1, 2, 3)}
        wide = {"uniform": math.sqrt(6 / (self.inputs + 2 * self.hidden))}
        schemes |= dict.fromkeys(("V_re", "V_im"), wide)
        return {
            name: (shape, schemes.get(name, scheme)) for name, (shape, scheme) in super().matrices().items()
        }
