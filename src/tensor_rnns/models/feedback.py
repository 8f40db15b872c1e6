"""A recurrent net that is fed its own outputs, chapter10 section 2.1: teacher forcing and its remedies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.declared import Invalid, Natural, Share
from tensor_rnns.engine import values as computed
from tensor_rnns.models.base import Result
from tensor_rnns.models.composite import Composite
from tensor_rnns.models.unread import refuse_around


@dataclass(frozen=True)
class FedBack(Composite):
    """The read-out at every step of a cell whose inputs x_t are the right answers y_{t-1} of as many numbers,
    or from step `warm_up` on its own, y^_{t-1}.

    In training each step of each row from then on is fed its own answer with probability `own_share`, or with
    `rising` U min(1, u / U) at update u; the gradient passes through what is fed back. In evaluation all of
    them are: the net runs free. `own_share: 0` is teacher forcing. There is one cell, which reads
    forward from zeros, and no dropout: else Invalid.
    """

    name: ClassVar[str] = "fed_back"
    warm_up: Natural = 0
    own_share: Share = 0.0
    rising: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.inputs != self.outputs:
            told = f"{self.inputs} inputs and {self.outputs} outputs; allowed: as many"
            raise ValueError(f"model {self.name}: {told}, as outputs are fed back for inputs")
        if self.own_share and self.rising is not None:
            given = f"own_share is {self.own_share} beside rising = {self.rising}"
            raise Invalid("own_share", f"{given}; allowed is one of the two")
        refuse_around(self, self.cell)

    @property
    def eager_reason(self) -> str | None:  # type: ignore[override]
        """Where its own outputs are fed back in training, no scan of the cell alone is left."""
        return "its outputs are fed back step by step" if self.own_share or self.rising else None

    def draws(self, rng: np.random.Generator, batch: Any, update: int) -> dict[str, np.ndarray]:
        """Which steps are fed their own answer, bools [T, B, 1]; none with teacher forcing."""
        if not self.own_share and self.rising is None:
            return {}
        share = min(1.0, update / self.rising) if self.rising else self.own_share
        drawn = rng.random((*batch.inputs.shape[:2], 1)) < share
        drawn[: self.warm_up] = False
        return {"own": drawn}

    def apply(
        self,
        values: Mapping[str, Tensor],
        batch: Any,
        state: tuple[Tensor, ...] = (),
        draws: Mapping[str, Tensor] | None = None,
    ) -> Result:
        if draws == {}:
            return super().apply(values, batch, state, draws)
        own = (draws or {}).get("own")
        if own is None:
            late = torch.arange(len(batch.inputs), device=batch.inputs.device) >= self.warm_up
            own = late[:, None, None, None]
        said, states = None, []
        for x, mine in zip(batch.inputs, own, strict=True):
            x = x if said is None else torch.where(mine, said, x)
            hidden, state = self.run("cell", values, x[None], state)
            said = computed(self.read(values, hidden))[0]
            states.append(hidden)
        hidden = torch.cat(states)
        return Result(self.read(values, hidden), state, (hidden,))
