"""A cell run over time with a linear read-out, at the last step or each; mathews2016 section 2.2.1."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.bilinear.initialisers import Scheme, draw
from tensor_rnns.cells.base import Cell
from tensor_rnns.declared import BelowOne, Invalid, Positive
from tensor_rnns.engine import Direct, Engine, Views
from tensor_rnns.engine import values as computed
from tensor_rnns.models.base import LinearSchemes, Model, Result, initialise_linear, linear_shapes
from tensor_rnns.models.symbols import OneHot, reversed_time, scales

DROPOUT = "input_dropout"
SYMBOLS = "symbol_dropout"


def entering(block: Mapping[str, Any], inputs: int, symbols: bool) -> int:
    """The width of what enters the first cell of a model whose keys are `block`.

    ValueError where the task's inputs do not fit the keys: an embedding is of symbols, a projection of
    numbers, and one-hot vectors have no dropout. A width of the wrong kind is left to the model to refuse.
    """
    embedding, projection = block.get("embedding"), block.get("projection")
    wrong, kind = ("projection", "symbols") if symbols else ("embedding", "numbers")
    if block.get(wrong) is not None:
        raise Invalid(wrong, f"the task gives {kind}, which have no {wrong}; allowed is none (null)")
    if not symbols and (dropout := block.get(SYMBOLS)):
        raise Invalid(SYMBOLS, f"{SYMBOLS} is {dropout}, and the task gives numbers; allowed is 0")
    if symbols and embedding is None and (dropout := block.get(DROPOUT, 0)):
        told = f"{DROPOUT} is {dropout}, and one-hot symbols have no dropout"
        raise Invalid(DROPOUT, f"{told}; allowed is 0, or an embedding, or {SYMBOLS} in its place")
    width = projection if embedding is None else embedding
    return width if type(width) is int and width > 0 else inputs


@dataclass(frozen=True)
class Recurrent(Model):
    """y = h W + b with h from the last of `layers` cells, run over time by an engine.

    Inputs are numbers [T, S, B, I] or, with `symbols`, their numbers [T, S, B] below I. What enters the first
    cell: with `embedding` E rows of a table embedding/W [I, E], with `projection` E the products with
    projection/W [I, E] (no bias), else the inputs, symbols as one-hot vectors. `input_weights` initialises
    either matrix. In training each number that enters is dropped with probability `input_dropout`, and each
    that the read-out sees with probability `output_dropout`; the others are divided by the probability of
    staying. `dropout: step` draws afresh for each step and row, `sequence` once for all steps of a row. The
    masks that a cell has among its states are of the second kind, with probability `state_dropout`. Whole
    symbols are dropped with probability `symbol_dropout`, by `step`, or each `type` of a row at once.

    Each further cell is `cell` again, with its own parameters, on the outputs of the one before. With
    `bidirectional` each layer has a second cell that reads from the last step to the first, and gives its
    outputs beside those of the first, [.., 2 H]. Parameters are embedding/W or projection/W, cell/...,
    reverse/..., cell2/..., reverse2/..., read_out/W [H, O] and read_out/b [1, O]; `read_out` names the
    initialisers of weight and bias.

    Parameters whose names match the pattern `fixed`, such as `cell/*` for a reservoir, do not learn: they are
    buffers. After each update columns of the matrices of cells, the weights into one unit, are scaled down
    to the norm `max_norm`. Steps beyond the `lengths` of a batch are padding: nothing is read from them, but
    the final state is that after all steps.
    """

    cell: Cell
    inputs: int
    outputs: int
    engine: Engine
    symbols: bool
    embedding: int | None = None
    projection: int | None = None
    input_dropout: BelowOne = 0.0
    output_dropout: BelowOne = 0.0
    state_dropout: BelowOne = 0.0
    symbol_dropout: BelowOne = 0.0
    symbols_by: Literal["step", "type"] = "step"
    dropout: Literal["step", "sequence"] = "step"
    layers: int = 1
    bidirectional: bool = False
    fixed: str = ""
    max_norm: Positive | None = None
    input_weights: Scheme = "unit_scaling"
    read_out: LinearSchemes = field(default_factory=dict)

    last_only: ClassVar[bool]

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.state_dropout and not self.cell.masks:
            given = f"state_dropout is {self.state_dropout}"
            why = f"the cell {self.cell.name} has no masks among its states"
            raise Invalid("state_dropout", f"{given}; allowed: 0, {why}")
        if self.fixed and len(self.shapes()) == len(self.declared()):
            names = ", ".join(self.declared())
            raise ValueError(
                f"model {self.name}: fixed = {self.fixed!r} given; allowed: a pattern of {names}"
            )

    @cached_property
    def stack(self) -> list[dict[str, Cell]]:
        """The cells of each layer by the name of their parameters, the one that reads forward first."""
        names = ("cell", "reverse") if self.bidirectional else ("cell",)
        above = replace(self.cell, inputs=self.width)
        return [dict.fromkeys(names, self.cell)] + [
            dict.fromkeys((f"{name}{layer}" for name in names), above) for layer in range(2, self.layers + 1)
        ]

    @property
    def cells(self) -> dict[str, Cell]:
        """Every cell by the name of its parameters."""
        return {name: cell for layer in self.stack for name, cell in layer.items()}

    @property
    def width(self) -> int:
        """Numbers that a layer gives at a step."""
        outputs = next(iter(self.cell.state_shapes().values()))
        return math.prod(outputs) * (2 if self.bidirectional else 1)

    @property
    def one_hot(self) -> bool:
        """Whether one-hot vectors enter the first cell."""
        return self.symbols and self.embedding is None

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The matrix of the inputs, the parameters of each cell, the read-out's; without what is fixed."""
        return {name: shape for name, shape in self.declared().items() if not fnmatchcase(name, self.fixed)}

    def declared(self) -> dict[str, tuple[int, ...]]:
        """Name and shape of everything that is drawn."""
        shapes: dict[str, tuple[int, ...]] = {}
        if self.matrix:
            shapes[self.matrix] = (self.inputs, self.cell.inputs)
        for layer, cell in self.cells.items():
            shapes |= {f"{layer}/{name}": shape for name, shape in cell.shapes().items()}
        return shapes | linear_shapes("read_out", self.width, self.outputs)

    @property
    def matrix(self) -> str | None:
        """The name of the matrix that the inputs are multiplied by, None where they enter as they are."""
        given = [name for name in ("embedding", "projection") if getattr(self, name) is not None]
        return f"{given[0]}/W" if given else None

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        """Drawn in the order of `declared`."""
        drawn: dict[str, np.ndarray] = {}
        if self.matrix:
            drawn[self.matrix] = draw(self.input_weights, (self.inputs, self.cell.inputs), rng)
        for layer, cell in self.cells.items():
            drawn |= {f"{layer}/{name}": value for name, value in cell.initialise(rng).items()}
        return drawn | initialise_linear("read_out", self.width, self.outputs, self.read_out, rng)

    def draws(self, rng: np.random.Generator, batch: Any, update: int) -> dict[str, np.ndarray]:
        """Which of the numbers that enter, and of those that are read out, stay: bools [T, B, E] and
        [T, B, H], or with one step for all, [1, B, E]; of the last step alone [B, H]; of states [B, H]."""
        steps, items = batch.inputs.shape[:2]
        lead = (steps if self.dropout == "step" else 1, items)
        masks = {}
        if self.symbol_dropout:
            masks[SYMBOLS] = scales(rng, batch.inputs, self.inputs, self.symbol_dropout, self.symbols_by)
        if self.input_dropout:
            masks[DROPOUT] = rng.random((*lead, self.cell.inputs), np.float32) >= self.input_dropout
        if self.output_dropout:
            shape = (items, self.width) if self.last_only else (*lead, self.width)
            masks["output_dropout"] = rng.random(shape, np.float32) >= self.output_dropout
        if self.state_dropout:
            for key in [f"{name}/{mask}" for name, cell in self.cells.items() for mask in cell.masks]:
                masks[key] = rng.random((items, self.cell.hidden), np.float32) >= self.state_dropout
        return masks

    def entered(
        self, params: Mapping[str, Tensor], inputs: Tensor, draws: Mapping[str, Tensor] | None = None
    ) -> Tensor | OneHot:
        """What enters the first cell, [T, S, B, E]."""
        x = OneHot(inputs, self.inputs, (draws or {}).get(SYMBOLS)) if self.symbols else inputs
        if self.matrix:
            matrix = params[self.matrix]
            x = x @ matrix if self.symbols else computed(self.engine.linear(x, matrix, None))
        return self.dropped(DROPOUT, x, draws)

    def dropped(self, key: str, x: Tensor, draws: Mapping[str, Tensor] | None) -> Tensor:
        """`x` with the mask `key` on it, if there is one."""
        return x * draws[key] / (1 - getattr(self, key)) if draws and key in draws else x

    def direct(self, views: Views, width: int, dtype: torch.dtype) -> Direct | None:
        """Where numbers or one-hot vectors enter one cell whose outputs are read out, and no more."""
        more = self.matrix or self.input_dropout or self.output_dropout or self.fixed
        if len(self.cells) > 1 or more:
            return None
        names = {"weight": "read_out/W", "bias": "read_out/b", "prefix": "cell/"}
        return self.engine.direct(self.cell, dtype, self.one_hot, self.last_only, views, width, **names)

    def apply(
        self,
        values: Mapping[str, Tensor],
        batch: Any,
        state: tuple[Tensor, ...] = (),
        draws: Mapping[str, Tensor] | None = None,
    ) -> Result:
        """Outputs that may not be computed yet; the final state is that of each cell, one after another."""
        hidden = self.entered(values, batch.inputs, draws)
        like = values["read_out/W"]
        final, states = (), ()
        for number, layer in enumerate(self.stack, start=1):
            outputs = []
            for name, cell in layer.items():
                before = state[len(final) : len(final) + len(cell.states)]
                before = before or self.start(name, values, batch.inputs.shape[1:3])
                if self.state_dropout and draws is not None:
                    kept = dict(zip(cell.states, before, strict=True))
                    for key in cell.masks:
                        kept[key] = draws[f"{name}/{key}"].to(kept[key]) / (1 - self.state_dropout)
                    before = tuple(kept.values())
                last_only = self.last_only and number == self.layers
                hidden_of, after = self.scan(name, values, hidden, before, last_only, batch.lengths)
                outputs.append(hidden_of)
                final += after
            hidden = torch.cat(outputs, -1) if len(outputs) > 1 else outputs[0]
            states += (hidden,)
        hidden = self.dropped("output_dropout", hidden, draws)
        return Result(self.engine.linear(hidden, like, values["read_out/b"]), final, states)

    def start(self, name: str, values: Mapping[str, Tensor], lead: Sequence[int]) -> tuple[Tensor, ...]:
        """The state of the cell `name` before the first step, for the replicas and rows of the batch `lead`:
        what the cell learns, in every row, and its zeros and ones."""
        cell, like = self.cells[name], values["read_out/W"]
        before = dict(
            zip(cell.states, cell.initial_state(*lead, dtype=like.dtype, device=like.device), strict=True)
        )
        for state, key in cell.starts.items():
            # A product with ones adds up its gradient over the batch in an order of the engine's own.
            rows = computed(self.engine.linear(like.new_ones(*lead, 1), values[f"{name}/{key}"], None))
            before[state] = rows.view_as(before[state])
        return tuple(before.values())

    def scan(
        self,
        name: str,
        values: Mapping[str, Tensor],
        inputs: Tensor | OneHot,
        state: tuple[Tensor, ...],
        last_only: bool,
        lengths: Tensor | None,
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        """The outputs of the cell `name` [T, S, B, H], or with `last_only` that of the last step of each row
        that it reads [S, B, H]; and its state after all steps."""
        cell, own, reverse = self.cells[name], self.own(name, values), name.startswith("reverse")
        x = reversed_time(inputs, lengths) if reverse else inputs
        outputs, final = self.engine.run(cell, own, x, state, last_only=last_only and lengths is None)
        # An output of several axes, as of a tensorised state, is read out as one vector.
        outputs = outputs.flatten(2 if last_only and lengths is None else 3)
        if last_only and lengths is not None:
            step = (lengths - 1)[None, ..., None].expand(1, *outputs.shape[1:])
            return outputs.gather(0, step)[0], final
        return (reversed_time(outputs, lengths) if reverse and not last_only else outputs), final

    def own(self, name: str, values: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The parameters of the cell `name` by their names in the cell."""
        return {key: values[f"{name}/{key}"] for key in self.cells[name].shapes()}

    @property
    def has_penalty(self) -> bool:
        return self.cell.has_penalty

    def penalty(self, values: Mapping[str, Tensor], result: Result, loss: Tensor) -> Tensor:
        """Those of all cells."""
        return sum(cell.penalty(self.own(name, values)) for name, cell in self.cells.items())

    @property
    def has_constraint(self) -> bool:
        return self.max_norm is not None

    def constrain(self, params: Mapping[str, Tensor]) -> None:
        """Scale down the columns of the matrices of cells whose norm is above `max_norm`, in place."""
        for name, matrix in params.items():
            if matrix.dim() == 3 and matrix.shape[1] > 1 and name.split("/")[0] in self.cells:
                norms = torch.linalg.vector_norm(matrix, dim=1, keepdim=True)
                matrix.mul_(self.max_norm / norms.clamp(min=self.max_norm))


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
