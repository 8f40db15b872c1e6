"""A cell run over time with a linear read-out, at the last step or at every one; mathews2016 section
2.2.1."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.models.base import Model, check_linear, initialise_linear, linear, linear_shapes


@dataclass(frozen=True)
class Recurrent(Model):
    """y = h W + b with h from `cell`, run over time by `run` of an engine; inputs are [T, S, B, I].

    Parameters are cell/..., read_out/W [H, O] and read_out/b [1, O].
    """

    cell: Cell
    outputs: int
    run: Callable

    def __post_init__(self) -> None:
        super().__post_init__()
        check_linear(f"model {self.name}: read_out", self.read_out)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The cell's parameters, then the read-out's."""
        cell = {f"cell/{name}": shape for name, shape in self.cell.shapes().items()}
        return cell | linear_shapes("read_out", self.cell.hidden, self.outputs)

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """The cell first, then the read-out."""
        cell = {f"cell/{name}": value for name, value in self.cell.initialise(rng).items()}
        return cell | initialise_linear("read_out", self.cell.hidden, self.outputs, self.read_out, rng)

    def forward(
        self, params: Mapping[str, Tensor], inputs: Tensor, state: tuple[Tensor, ...] | None = None
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """(outputs, state after the last step)."""
        cell = {name: params[f"cell/{name}"] for name in self.cell.shapes()}
        if state is None:
            state = self.cell.initial_state(*inputs.shape[1:-1], dtype=inputs.dtype, device=inputs.device)
        hidden, state = self.run(self.cell, cell, inputs, state, last_only=self.last_only)
        return linear(params, "read_out", hidden), state


@dataclass(frozen=True)
class LastOutput(Recurrent):
    """The read-out at the last step: outputs [S, B, O]. `read_out` names the initialisers of weight and
    bias."""

    name: ClassVar[str] = "last_output"
    last_only: ClassVar[bool] = True
    read_out: dict = field(default_factory=dict)


@dataclass(frozen=True)
class EveryStep(Recurrent):
    """The read-out at every step: outputs [T, S, B, O]. `read_out` names the initialisers of weight and
    bias."""

    name: ClassVar[str] = "every_step"
    last_only: ClassVar[bool] = False
    read_out: dict = field(default_factory=dict)
