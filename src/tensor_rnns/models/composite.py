"""Recurrent models with parts of their own around the cells: layers within a step, a vector as context."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.deep import Dense
from tensor_rnns.declared import Invalid
from tensor_rnns.engine import Affine, Direct, Draws, Params, State, Steps, Views
from tensor_rnns.models.base import Result
from tensor_rnns.models.recurrent import Recurrent


class Composite(Recurrent):
    """A recurrent model whose `parts` are cells beside those of the stack, run by the same engine."""

    last_only: ClassVar[bool] = False

    @property
    def parts(self) -> dict[str, Cell]:
        """The cells that this model alone has, by the name of their parameters."""
        return {}

    @property
    def cells(self) -> dict[str, Cell]:
        return super().cells | self.parts

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """None: there is more than a cell and its read-out."""
        return None

    def run(self, name: str, values: Params, x: Tensor, state: State = ()) -> Steps:
        """The outputs [T, S, B, H] of the cell `name` for x [T, S, B, I], and its state after them."""
        cell = self.cells[name]
        start = cell.initial_state(*x.shape[1:3], dtype=x.dtype, device=x.device)
        # A given state is the first of the cell's; the others start where they do without it.
        return self.engine.run(cell, self.own(name, values), x, (*state, *start[len(state) :]))

    def layer(self, name: str, values: Params, x: Tensor) -> Tensor:
        """The layer `name` of x [.., S, B, I], with or without an axis of time."""
        return self.run(name, values, x if x.dim() == 4 else x[None])[0].view(*x.shape[:-1], -1)

    def read(self, values: Params, hidden: Tensor) -> Tensor | Affine:
        """The read-out of hidden [T, S, B, H], which may not be computed yet."""
        return self.engine.linear(hidden, values["read_out/W"], values["read_out/b"])


@dataclass(frozen=True)
class Deep(Composite):
    """The read-out at every step, with a hidden tanh layer below the first cell (`deep_input`) and above the
    last (`deep_output`), each as wide as what it stands on; section 5.

    Parameters are those of `every_step`, and input/W, input/b, output/W, output/b. Symbols need an embedding
    below such a layer, and numbers above one are not dropped: Invalid.
    """

    name: ClassVar[str] = "deep_every_step"
    deep_input: bool = False
    deep_output: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.deep_input and self.one_hot:
            raise Invalid("deep_input", "deep_input is true on one-hot symbols; allowed with an embedding")
        if self.deep_output and self.output_dropout:
            raise Invalid(
                "output_dropout", f"output_dropout is {self.output_dropout}; allowed below deep_output: 0"
            )

    @property
    def parts(self) -> dict[str, Cell]:
        widths = {"input": self.deep_input and self.cell.inputs, "output": self.deep_output and self.width}
        return {name: Dense(width, width) for name, width in widths.items() if width}

    def entered(self, params: Params, inputs: Tensor, draws: Draws = None) -> Tensor:
        x = super().entered(params, inputs, draws)
        return self.layer("input", params, x) if self.deep_input else x

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        result = super().apply(values, batch, state, draws)
        if not self.deep_output:
            return result
        hidden = self.layer("output", values, result.states[-1])
        return result._replace(outputs=self.read(values, hidden))


@dataclass(frozen=True)
class Conditioned(Composite):
    """A vector to a sequence, section 2.4: the inputs x of the first step drive the cell as an extra input at
    every step (`context: input`), as its state before the first, h_0 = tanh(A x + a) (`start`), or as both.

    Parameters are those of `every_step`, and start/W (A) and start/b (a). One cell that reads forward; a
    `start` alone has zeros for inputs.
    """

    name: ClassVar[str] = "conditioned"
    context: Literal["input", "start", "both"] = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.layers > 1 or self.bidirectional or self.symbols:
            raise ValueError(f"model {self.name}: allowed is one layer that reads numbers forward")

    @property
    def parts(self) -> dict[str, Cell]:
        return {} if self.context == "input" else {"start": Dense(self.inputs, self.width)}

    def entered(self, params: Params, inputs: Tensor, draws: Draws = None) -> Tensor:
        vector = inputs[:1].expand_as(inputs)
        return super().entered(params, torch.zeros_like(inputs) if self.context == "start" else vector, draws)

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        if self.parts:
            first = self.layer("start", values, batch.inputs[0])
            state = (first, *self.start("cell", values, batch.inputs.shape[1:3])[1:])
        return super().apply(values, batch, state, draws)
