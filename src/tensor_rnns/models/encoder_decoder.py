"""Encoder and decoder, chapter10 section 4: a sequence to another of its own length, maybe with attention."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import one_hot

from tensor_rnns.bilinear.initialisers import draw
from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.deep import Dense
from tensor_rnns.engine import Draws, Params, State
from tensor_rnns.engine import values as computed
from tensor_rnns.models.base import Result
from tensor_rnns.models.composite import Composite
from tensor_rnns.models.unread import refuse_around


@dataclass(frozen=True)
class EncoderDecoder(Composite):
    """Classes of a sequence [T', S, B, O] from inputs [T, S, B, I], T' as many as a batch has targets.

    The encoder is the cell with `encoder` units; its state e_n after the last input gives the context
    C = tanh(A e_n + a), as wide as the decoder, which is the cell itself. The decoder reads the answer before
    as a one-hot vector, zeros at the first step: the right one in training, the likeliest of its own outputs
    in evaluation. With `context: start` C is its state at the start, with `input` it stands beside what is
    read at every step, `both` does both. With `attention` the decoder starts at C and reads, at every step,
    sum_i w_i e_i with w = softmax_i(d' M e_i) over the steps of the input, d its state before. Both are one
    layer, read forward, start at zero where C is no start, and have no dropout: else Invalid.

    Parameters encoder/..., context/W, context/b, cell/..., read_out/W, read_out/b, and attention/M.
    """

    name: ClassVar[str] = "encoder_decoder"
    encoder: int = 32
    context: Literal["start", "input", "both", "attention"] = "both"

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_around(self, self.cell)

    @property
    def eager_reason(self) -> str | None:  # type: ignore[override]
        """Attention alone asks for the eager loop: sums of its own are no part of a cell."""
        return "its attention is summed outside of any cell" if self.attends else None

    @property
    def attends(self) -> bool:
        """Whether the decoder looks at every state of the encoder."""
        return self.context == "attention"

    @property
    def stack(self) -> list[dict[str, Cell]]:
        read = {"input": self.cell.hidden, "both": self.cell.hidden, "attention": self.encoder}
        return [{"cell": replace(self.cell, inputs=self.outputs + read.get(self.context, 0))}]

    @property
    def parts(self) -> dict[str, Cell]:
        encoder = replace(self.cell, hidden=self.encoder)
        return {"encoder": encoder, "context": Dense(self.encoder, self.cell.hidden)}

    def declared(self) -> dict[str, tuple[int, ...]]:
        attention = {"attention/M": (self.cell.hidden, self.encoder)} if self.attends else {}
        return super().declared() | attention

    def initialise(self, rng: np.random.Generator) -> dict[str, np.ndarray]:
        drawn = super().initialise(rng)
        return drawn | {
            name: draw("glorot", shape, rng) for name, shape in self.declared().items() if name not in drawn
        }

    def apply(self, values: Params, batch: Any, state: State = (), draws: Draws = None) -> Result:
        states, _ = self.run("encoder", values, batch.inputs)
        ends = (batch.lengths - 1)[None, ..., None].expand(1, *states.shape[1:])
        context = self.layer("context", values, states.gather(0, ends)[0])
        told = None
        if draws is not None:
            right = one_hot(batch.targets, self.outputs).to(context)
            told = torch.cat([torch.zeros_like(right[:1]), right[:-1]])
        if told is not None and not self.attends:
            hidden, _ = self.run("cell", values, self.fed(told, context), self.first(context))
            return Result(self.read(values, hidden))
        steps = self.decoded(values, states, context, batch.lengths, told)
        hidden = torch.cat([next(steps) for _ in range(len(batch.targets))])
        return Result(self.read(values, hidden))

    def first(self, context: Tensor) -> State:
        """The first entry of the decoder's state before its first step, where the context gives it."""
        return () if self.context == "input" else (context,)

    def fed(self, before: Tensor, context: Tensor) -> Tensor:
        """What enters the decoder beside the answers `before` [.., S, B, O] where nothing attends."""
        if self.context == "start":
            return before
        return torch.cat([before, context.expand(*before.shape[:-1], -1)], -1)

    def decoded(
        self, values: Params, states: Tensor, context: Tensor, lengths: Tensor, told: Tensor | None
    ) -> Iterator[Tensor]:
        """States [1, S, B, H] step by step, each fed the answer before: `told` [T', S, B, O], or its own."""
        state, step = self.first(context), 0
        before = context.new_zeros(*context.shape[:2], self.outputs)
        while True:
            before = before if told is None else told[step]
            if self.attends:
                d = state[0]
                x = torch.cat([before, attended(d @ values["attention/M"], states, lengths)], -1)
            else:
                x = self.fed(before, context)
            hidden, state = self.run("cell", values, x[None], state)
            yield hidden
            logits = computed(self.read(values, hidden))[0]
            before, step = one_hot(logits.argmax(-1), self.outputs).to(logits), step + 1


def attended(query: Tensor, states: Tensor, lengths: Tensor) -> Tensor:
    """sum_i w_i e_i [S, B, E] over the states e [T, S, B, E] that are no padding, w = softmax of the products
    of `query` [S, B, E] with them."""
    scores = (query * states).sum(-1)
    beyond = torch.arange(len(states), device=states.device)[:, None, None] >= lengths
    weights = scores.masked_fill(beyond, -torch.inf).softmax(0)
    return (weights[..., None] * states).sum(0)
