"""The recurrent functions behind torch.nn.LSTM, GRU and RNN: cuDNN on a GPU, torch's own kernels on a CPU.

Only cells with the equations of torch run here, with their own parameters, which each call packs into the
layout of torch: one call of the function for each replica.
"""

import logging
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.gated import GRU, LSTM
from tensor_rnns.cells.simple import IRNN, Vanilla
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Inputs, Params, State, check, vectors

log = logging.getLogger(__name__)
INPUTS = 3
RNN = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}


@dataclass(frozen=True)
class Layout:
    """How torch runs a cell: its function, and the endings of our W, U and b in the order of torch's gates.

    `added` is put onto the biases with these endings.
    """

    function: Callable
    gates: tuple[str, ...]
    added: Mapping[str, float] = field(default_factory=dict)

    def packed(self, params: Params) -> list[Tensor]:
        """torch's weights [G H, I] and [G H, H] and its two biases [G H] of one replica, the second zero.

        They are pieces of one tensor, one after another, as cuDNN wants them.
        """
        weights = [torch.cat([params[kind + gate].mT for gate in self.gates]) for kind in "WU"]
        bias = torch.cat([params["b" + gate][0] + self.added.get(gate, 0.0) for gate in self.gates])
        parts = [*weights, bias, torch.zeros_like(bias)]
        pieces = torch.cat([part.flatten() for part in parts]).split([part.numel() for part in parts])
        return [piece.view_as(part) for piece, part in zip(pieces, parts, strict=True)]


def difference(cell: Cell) -> str | None:
    """In what the equations of `cell` differ from those of torch; None where they are the same."""
    if type(cell) not in (LSTM, GRU, Vanilla, IRNN):
        return "torch.nn has no such cell"
    if isinstance(cell, LSTM | GRU) and cell.candidate != "tanh":
        return f"its candidate is {cell.candidate}, that of torch tanh"
    if isinstance(cell, LSTM) and not cell.input_gate:
        return "it has no input gate, that of torch has one"
    if isinstance(cell, GRU) and cell.reset != "after":
        return "it resets the state before the product, torch the product after it"
    if isinstance(cell, Vanilla | IRNN) and cell.activation not in RNN:
        return f"its activation is {cell.activation}, that of torch tanh or relu"
    return None


def layout_of(cell: Cell) -> Layout:
    """How torch runs `cell`; ValueError where torch has other equations."""
    if reason := difference(cell):
        raise ValueError(f"cell {cell.name} with engine torch_nn: {reason}")
    if isinstance(cell, LSTM):
        return Layout(torch.lstm, ("_i", "_f", "_g", "_o"), {"_f": cell.forget_bias})
    if isinstance(cell, GRU):
        return Layout(torch.gru, ("_r", "_f", "_z"))
    return Layout(RNN[cell.activation], ("",))


def alone(layout: Layout, params: Params, x: Tensor, state: State | list[Tensor]) -> tuple[Tensor, State]:
    """`run` for one replica: x [T, B, I], parameters and states without a replica axis."""
    before = [part.unsqueeze(0).contiguous() for part in state]
    outputs, *final = layout.function(
        x.contiguous(),
        before if len(before) > 1 else before[0],
        layout.packed(params),
        has_biases=True,
        num_layers=1,
        dropout=0.0,
        train=torch.is_grad_enabled(),
        bidirectional=False,
        batch_first=False,
    )
    return outputs, tuple(part.squeeze(0) for part in final)


class TorchNN(Engine):
    """torch's own recurrent functions, for the cells whose equations they have."""

    name = "torch_nn"

    def run(
        self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False
    ) -> tuple[Tensor, State]:
        """As `Engine.run`; ValueError for a cell with other equations than torch's."""
        layout = layout_of(cell)
        if not math.prod(inputs.shape):
            return super().run(cell, params, inputs, state, last_only)
        check(cell, params, inputs, state)
        x = vectors(inputs, state[0].dtype)
        if x.dim() == 3:
            outputs, final = alone(layout, params, x, state)
            return (final[0] if last_only else outputs), final
        ends = []
        for s in range(x.shape[1]):
            own = {name: value[s] for name, value in params.items()}
            ends.append(alone(layout, own, x[:, s], [part[s] for part in state]))
        final = tuple(torch.stack(parts) for parts in zip(*(end for _, end in ends), strict=True))
        return (final[0] if last_only else torch.stack([outputs for outputs, _ in ends], 1)), final

    def trajectory(self, cell: Cell, params: Params, inputs: Inputs, state: State) -> dict[str, Tensor]:
        """As `Engine.trajectory`: an LSTM, whose c torch keeps to itself, takes the eager loop."""
        if len(cell.states) > 1:
            return super().trajectory(cell, params, inputs, state)
        return {cell.states[0]: self.run(cell, params, inputs, state)[0]}

    def unsupported_reason(self, block: Mapping) -> str | None:
        """In what the cell of a `cell` block differs from torch's; None where it does not."""
        return difference(cells.build(block, INPUTS))

    def prepare(
        self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False
    ) -> object | None:
        if reason := difference(cell):
            log.warning("cell %s runs eager, not torch_nn: %s", cell.name, reason)
            return None
        return self
