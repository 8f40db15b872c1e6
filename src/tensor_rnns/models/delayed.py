"""Models that wait for cells whose outputs come late: he2017 part 2, T + L - 1 steps for T inputs."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import torch
from torch import Tensor

from tensor_rnns.declared import Invalid
from tensor_rnns.engine import Affine, Direct, Draws, Params, State, Views
from tensor_rnns.models.base import Result
from tensor_rnns.models.recurrent import Recurrent


class Delayed(Recurrent):
    """A recurrent model whose output for an input is read `delay` steps after it.

    The delay is that of its cells together. After the end of a sequence x = 0 is fed, and the first `delay`
    outputs are dropped. Inputs are numbers, not symbols, and nothing is carried from batch to batch: such a
    stream is shifted by its task. ValueError for symbols, for a cell that reads backward, and for a state
    that is given.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.symbols:
            raise Invalid("", f"model {self.name}: the task gives symbols; allowed are numbers")
        if self.bidirectional:
            raise Invalid("bidirectional", "bidirectional is True; a delayed cell reads forward alone")

    @property
    def delay(self) -> int:
        """Steps from an input to its output."""
        return self.layers * self.cell.delay

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """As without a delay, where there is none."""
        return super().direct(views, width, dtype) if not self.delay else None

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        if state:
            raise ValueError(f"model {self.name}: a state to carry on given; allowed: none")
        x, lengths = batch.inputs, batch.lengths
        inputs = torch.cat([x, x.new_zeros(self.delay, *x.shape[1:])])
        longer = replace(batch, inputs=inputs, lengths=None if lengths is None else lengths + self.delay)
        result = super().apply(values, longer, state, draws)
        return result if self.last_only else result._replace(outputs=later(result.outputs, self.delay))


def later(outputs: Tensor | Affine, delay: int) -> Tensor | Affine:
    """Outputs [T, ..] from step `delay` on."""
    if isinstance(outputs, Affine):
        return replace(outputs, x=outputs.x[delay:])
    return outputs[delay:]


@dataclass(frozen=True)
class DelayedLastOutput(Delayed):
    """The read-out `delay` steps after the last input: outputs [S, B, O]."""

    name: ClassVar[str] = "delayed_last_output"
    last_only: ClassVar[bool] = True


@dataclass(frozen=True)
class DelayedEveryStep(Delayed):
    """The read-out `delay` steps after each input: outputs [T, S, B, O]."""

    name: ClassVar[str] = "delayed_every_step"
    last_only: ClassVar[bool] = False
