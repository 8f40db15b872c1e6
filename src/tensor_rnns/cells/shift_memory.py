"""A memory of numbers that is addressed by location alone, chapter10 section 12."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import Rule, is_whole

Several = Annotated[int, Rule("a whole number of at least 3", lambda value: is_whole(value, 3))]
CONTROLS = (3, 3, 1, 1)
"""Shift of the writing focus, shift of the reading focus, how much is erased, what is added."""


@dataclass(frozen=True)
class ShiftMemory(Cell):
    """`cells` N numbers m on a circle, a writing focus w and a reading focus v over them, each with sum 1.

    x_t W_c + b_c gives two kernels s, softmaxes over {-1, 0, 1}, e = sigma(..) and a. Both foci move by their
    kernel, w_t[n] = sum_j s_j w_{t-1}[n - j]; they begin at cell 0. Then m_t = m_{t-1} (1 - w e) + w a,
    r_t = sum_n v[n] m_t[n] and h_t = tanh(x_t W + r_t V + b). The address depends on no content, and h_t on
    no state but m. Parameters W_c [I, 8], b_c [1, 8], W [I, H], V [1, H], b [1, H]. States h, m, w, v.
    """

    name: ClassVar[str] = "shift_memory"
    states: ClassVar[tuple[str, ...]] = ("h", "m", "w", "v")
    inputs: int
    hidden: int
    cells: Several = 3
    weights: Scheme = "uniform(0.5)"

    def state_shapes(self) -> dict[str, tuple[int, ...]]:
        return {"h": (self.hidden,)} | dict.fromkeys("mwv", (self.cells,))

    def matrices(self) -> dict:
        wide, hidden = sum(CONTROLS), self.hidden
        return {
            "W_c": ((self.inputs, wide), self.weights),
            "b_c": ((1, wide), "zeros"),
            "W": ((self.inputs, hidden), self.weights),
            "V": ((1, hidden), self.weights),
            "b": ((1, hidden), "zeros"),
        }

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        _, m, w, v = state
        writing, reading, e, a = (x @ p["W_c"] + p["b_c"]).split(CONTROLS, -1)
        w, v = moved(w, writing), moved(v, reading)
        m = m * (1 - w * torch.sigmoid(e)) + w * a
        r = (v * m).sum(-1, keepdim=True)
        return torch.tanh(x @ p["W"] + r @ p["V"] + p["b"]), m, w, v


def moved(focus: Tensor, kernel: Tensor) -> Tensor:
    """A focus [.., N] shifted by the softmax of its kernel [.., 3]; what is missing to a sum of 1, all of it
    before the first step, lies at cell 0."""
    focus = torch.cat([focus[..., :1] + (1 - focus.sum(-1, keepdim=True)), focus[..., 1:]], -1)
    back, stay, on = torch.softmax(kernel, -1).split(1, -1)
    return back * torch.roll(focus, -1, -1) + stay * focus + on * torch.roll(focus, 1, -1)
