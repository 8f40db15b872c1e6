"""Passthrough cells with Bayesian dropout of their old state (Gal 2015), the same at all steps of a row:
barone2016 sections 3.0.4, A.2 and A.3."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.cells.low_rank import LowRankGRU, LowRankLSTM, Passthrough
from tensor_rnns.declared import Invalid


class Dropped(Passthrough):
    """A cell whose masks d_g [H] are states: map g sees d_g * h. `shared` maps have one mask."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weight_norm:
            raise Invalid("weight_norm", "weight_norm is True; allowed is false, it is not in this step")

    @property
    def shared(self) -> tuple[tuple[str, ...], ...]:
        """The maps that see one mask, in groups; here each has its own."""
        return tuple((gate,) for gate in self.gates)

    @property
    def masks(self) -> tuple[str, ...]:
        return tuple(f"d_{group[0]}" for group in self.shared)

    def seen(self, state: tuple[Tensor, ...]) -> dict[str, Tensor]:
        """The old state as each map sees it."""
        kept = dict(zip(self.shared, state[-len(self.shared) :], strict=True))
        return {gate: mask * state[0] for group, mask in kept.items() for gate in group}


@dataclass(frozen=True)
class DroppedGRU(Dropped, LowRankGRU):
    """`lr_gru` with `reset: after`, equation 7, and masks: W_g h_{t-1} becomes W_g (d_g * h_{t-1}).

    `dropout: clean` has a mask for each map. `authors` is as the authors' code: maps that share R have one,
    full matrices of r and z have one and that of c another; and what the model drops of the input drops the
    biases too, U_g x_t + b_g becomes (U_g + b_g) x_t, which for a one-hot x_t is the same without dropout.
    """

    name: ClassVar[str] = "lr_gru_dropout"
    reset: Literal["after"] = "after"
    dropout: Literal["authors", "clean"] = "authors"

    @property
    def shared(self) -> tuple[tuple[str, ...], ...]:
        if self.dropout == "clean":
            return super().shared
        if self.tied:
            return (self.gates,)
        return (("r", "z"), ("c",)) if self.map == "full" else super().shared

    @property
    def states(self) -> tuple[str, ...]:
        return "h", *self.masks

    def entering(self, p: dict[str, Tensor], gate: str, x: Tensor) -> Tensor:
        """U_g x_t + b_g, by the authors' code with b_g in each column of U_g."""
        if self.dropout == "authors":
            return x @ (p[f"U_{gate}"] + p[f"b_{gate}"])
        return x @ p[f"U_{gate}"] + p[f"b_{gate}"]

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        h, seen, maps = state[0], self.seen(state), self.recurrent
        r = torch.sigmoid(self.entering(p, "r", x) + maps(p, "r", seen["r"]))
        z = torch.sigmoid(self.entering(p, "z", x) + maps(p, "z", seen["z"]))
        c = torch.tanh(self.entering(p, "c", x) + r * maps(p, "c", seen["c"]))
        return (1 - z) * c + z * h, *state[1:]


@dataclass(frozen=True)
class DroppedLSTM(Dropped, LowRankLSTM):
    """`lr_lstm` with a mask for each map: W_g h_{t-1} becomes W_g (d_g * h_{t-1})."""

    name: ClassVar[str] = "lr_lstm_dropout"

    @property
    def states(self) -> tuple[str, ...]:
        return "h", "c", *self.masks

    def step(self, p: dict[str, Tensor], x: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return *self.after(p, x, self.seen(state), state[1]), *state[2:]
