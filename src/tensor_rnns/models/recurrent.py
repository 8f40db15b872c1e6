"""A cell run over time with a linear read-out, at the last step or at every one; mathews2016 section
2.2.1."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import draw
from tensor_rnns.cells.base import Cell
from tensor_rnns.engine import Affine, Direct, Engine, Views, values
from tensor_rnns.models.base import Model, check_linear, initialise_linear, linear_shapes
from tensor_rnns.models.symbols import OneHot

DROPOUT = "input_dropout"


def entering(name: str, block: Mapping[str, Any], inputs: int, symbols: bool) -> int:
    """The width of what enters the first cell of the model `name`, whose keys are `block`.

    ValueError where the task's inputs do not fit the keys: an embedding is of symbols, a projection of
    numbers, and one-hot vectors have no dropout. A width of the wrong kind is left to the model to refuse.
    """
    embedding, projection = block.get("embedding"), block.get("projection")
    if embedding is not None and not symbols:
        raise ValueError(
            f"model {name}: embedding = {embedding} given; allowed: none, the inputs are numbers"
        )
    if projection is not None and symbols:
        raise ValueError(
            f"model {name}: projection = {projection} given; allowed: none, the inputs are symbols"
        )
    if symbols and embedding is None and block.get(DROPOUT, 0):
        raise ValueError(f"model {name}: {DROPOUT} = {block[DROPOUT]} given; allowed: 0 without an embedding")
    width = projection if embedding is None else embedding
    return width if type(width) is int and width > 0 else inputs


@dataclass(frozen=True)
class Recurrent(Model):
    """y = h W + b with h from the last of `layers` cells, run over time by an engine.

    Inputs are numbers [T, S, B, I] or, with `symbols`, their numbers [T, S, B] below I. What enters the first
    cell: with `embedding` E rows of a table embedding/W [I, E], with `projection` E the products with
    projection/W [I, E] (no bias), else the inputs, symbols as one-hot vectors. `input_weights` initialises
    either matrix. In training each number that enters is dropped with probability `input_dropout`, afresh
    for each step and row, and the others are divided by the probability of staying.

    Each further cell is `cell` again, with its own parameters, on the outputs of the one before. Parameters
    are embedding/W or projection/W, cell/..., cell2/..., read_out/W [H, O] and read_out/b [1, O]; `read_out`
    names the initialisers of weight and bias.
    """

    cell: Cell
    inputs: int
    outputs: int
    engine: Engine
    symbols: bool
    embedding: int | None = None
    projection: int | None = None
    input_dropout: float = 0.0
    layers: int = 1
    input_weights: str | dict = "unit_scaling"
    read_out: dict = field(default_factory=dict)

    last_only: ClassVar[bool]

    def __post_init__(self) -> None:
        super().__post_init__()
        check_linear(f"model {self.name}: read_out", self.read_out)
        if not 0 <= self.input_dropout < 1:
            raise ValueError(
                f"model {self.name}: {DROPOUT} = {self.input_dropout} given; allowed: at least 0, below 1"
            )
        block = {key: getattr(self, key) for key in ("embedding", "projection", DROPOUT)}
        wanted = entering(self.name, block, self.inputs, self.symbols)
        if self.cell.inputs != wanted:
            raise ValueError(
                f"model {self.name}: a cell of {self.cell.inputs} inputs given; allowed: {wanted}"
            )

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """The cell of each layer by the name of its parameters."""
        above = replace(self.cell, inputs=self.cell.hidden)
        return {"cell": self.cell} | {f"cell{layer}": above for layer in range(2, self.layers + 1)}

    @property
    def one_hot(self) -> bool:
        """Whether one-hot vectors enter the first cell."""
        return self.symbols and self.embedding is None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The matrix of the inputs, the parameters of each cell, then the read-out's."""
        shapes: dict[str, tuple[int, ...]] = {}
        if self.matrix:
            shapes[self.matrix] = (self.inputs, self.cell.inputs)
        for layer, cell in self.cells.items():
            shapes |= {f"{layer}/{name}": shape for name, shape in cell.shapes().items()}
        return shapes | linear_shapes("read_out", self.cell.hidden, self.outputs)

    @property
    def matrix(self) -> str | None:
        """The name of the matrix that the inputs are multiplied by, None where they enter as they are."""
        given = [name for name in ("embedding", "projection") if getattr(self, name) is not None]
        return f"{given[0]}/W" if given else None

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Drawn in the order of `shapes`."""
        drawn: dict[str, np.ndarray] = {}
        if self.matrix:
            drawn[self.matrix] = draw(self.input_weights, (self.inputs, self.cell.inputs), rng)
        for layer, cell in self.cells.items():
            drawn |= {f"{layer}/{name}": value for name, value in cell.initialise(rng).items()}
        return drawn | initialise_linear("read_out", self.cell.hidden, self.outputs, self.read_out, rng)

    def masks(self, rng: np.random.Generator, batch: Any) -> dict[str, np.ndarray]:
        """Which of the numbers that enter stay: bools [T, B, E]."""
        if not self.input_dropout:
            return {}
        steps, items = batch.inputs.shape[:2]
        return {DROPOUT: rng.random((steps, items, self.cell.inputs), np.float32) >= self.input_dropout}

    def entered(
        self, params: Mapping[str, Tensor], inputs: Tensor, masks: Mapping[str, Tensor] | None
    ) -> Tensor | OneHot:
        """What enters the first cell, [T, S, B, E]."""
        x = OneHot(inputs, self.inputs) if self.symbols else inputs
        if self.matrix:
            matrix = params[self.matrix]
            x = x @ matrix if self.symbols else values(self.engine.linear(x, matrix, None))
        if masks and DROPOUT in masks:
            x = x * masks[DROPOUT] / (1 - self.input_dropout)
        return x

    @property
    def run(self) -> Callable:
        """The engine's `run`."""
        return self.engine.run

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """Where numbers enter one cell whose outputs are read out, and nothing else happens."""
        if self.layers > 1 or self.symbols or self.matrix or self.input_dropout:
            return None
        names = {"weight": "read_out/W", "bias": "read_out/b", "prefix": "cell/"}
        return self.engine.direct(self.cell, dtype, self.last_only, views, width, **names)

    def forward(
        self,
        params: Mapping[str, Tensor],
        inputs: Tensor,
        state: tuple[Tensor, ...] | None = None,
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """(outputs, state after the last step); the state is that of each layer, one after another."""
        outputs, final = self.lazy_forward(params, inputs, state, masks)
        return values(outputs), final

    def lazy_forward(
        self,
        params: Mapping[str, Tensor],
        inputs: Tensor,
        state: tuple[Tensor, ...] | None = None,
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor | Affine, tuple[Tensor, ...]]:
        """`forward`, with outputs that may not be computed yet."""
        hidden = self.entered(params, inputs, masks)
        lead, like = inputs.shape[1:3], params["read_out/W"]
        final: tuple[Tensor, ...] = ()
        for number, (layer, cell) in enumerate(self.cells.items(), start=1):
            own = {name: params[f"{layer}/{name}"] for name in cell.shapes()}
            if state is None:
                before = cell.initial_state(*lead, dtype=like.dtype, device=like.device)
            else:
                before = state[len(final) : len(final) + len(cell.states)]
            last_only = self.last_only and number == self.layers
            hidden, after = self.run(cell, own, hidden, before, last_only=last_only)
            final += after
        return self.engine.linear(hidden, params["read_out/W"], params["read_out/b"]), final


@dataclass(frozen=True)
class LastOutput(Recurrent):
    """The read-out at the last step: outputs [S, B, O]."""

    name: ClassVar[str] = "last_output"
    last_only: ClassVar[bool] = True


@dataclass(frozen=True)
class EveryStep(Recurrent):
    """The read-out at every step: outputs [T, S, B, O]."""

    name: ClassVar[str] = "every_step"
    last_only: ClassVar[bool] = False
