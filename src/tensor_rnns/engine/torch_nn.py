"""The recurrent functions behind torch.nn.LSTM, GRU and RNN: cuDNN on a GPU, torch's own kernels on a CPU.

Only cells with the equations of torch run here, with their own parameters, which each call packs into the
layout of torch: one call of the function for each replica.
"""

import logging
import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from tensor_rnns import cells
from tensor_rnns.cells.base import Cell
from tensor_rnns.cells.gated import GRU, LSTM
from tensor_rnns.cells.simple import IRNN, Vanilla
from tensor_rnns.engine.eager import Engine
from tensor_rnns.engine.given import Inputs, Params, State, Steps, check, vectors

log = logging.getLogger(__name__)
INPUTS = 3
RNN = {"tanh": torch.rnn_tanh, "relu": torch.rnn_relu}
FUNCTIONS = {LSTM: torch.lstm, GRU: torch.gru}
GATES = {LSTM: ("_i", "_f", "_g", "_o"), GRU: ("_r", "_f", "_z")}
"""The endings of our W, U and b in the order of torch's gates."""


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


def packed(cell: Cell, params: Params) -> list[Tensor]:
    """torch's weights [G H, I] and [G H, H] and its two biases [G H] of one replica, the second zero: pieces
    of one tensor, one after another, as cuDNN wants them."""
    gates = GATES.get(type(cell), ("",))
    added = {"_f": cell.forget_bias} if isinstance(cell, LSTM) else {}
    weights = [torch.cat([params[kind + gate].mT for gate in gates]) for kind in "WU"]
    bias = torch.cat([params["b" + gate][0] + added.get(gate, 0.0) for gate in gates])
    parts = [*weights, bias, torch.zeros_like(bias)]
    pieces = torch.cat([part.flatten() for part in parts]).split([part.numel() for part in parts])
    return [piece.view_as(part) for piece, part in zip(pieces, parts, strict=True)]


def alone(cell: Cell, params: Params, x: Tensor, state: Sequence[Tensor]) -> Sequence[Tensor]:
    """The outputs [T, B, H] and the states [1, B, H] after the last step of one replica, from x [T, B, I],
    parameters and states without a replica axis."""
    function = FUNCTIONS.get(type(cell)) or RNN[cell.activation]
    before = [part.unsqueeze(0).contiguous() for part in state]
    return function(
        x.contiguous(), before if len(before) > 1 else before[0], packed(cell, params),
        has_biases=True, num_layers=1, dropout=0.0, train=torch.is_grad_enabled(),
        bidirectional=False, batch_first=False,
    )  # fmt: skip


class TorchNN(Engine):
    """torch's own recurrent functions, for the cells whose equations they have."""

    name = "torch_nn"
    cudnn = True

    def run(self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False) -> Steps:
        """As `Engine.run`; ValueError for a cell with other equations than torch's."""
        if reason := difference(cell):
            raise ValueError(f"cell {cell.name} with engine torch_nn: {reason}")
        if not math.prod(inputs.shape):
            return super().run(cell, params, inputs, state, last_only)
        check(cell, params, inputs, state)
        ends = []
        for s, x in enumerate(vectors(inputs, state[0].dtype).unbind(1)):
            own = {name: value[s] for name, value in params.items()}
            ends.append(alone(cell, own, x, [part[s] for part in state]))
        outputs, *states = zip(*ends, strict=True)
        final = tuple(torch.cat(parts) for parts in states)
        return (final[0] if last_only else torch.stack(outputs, 1)), final

    def unsupported_reason(self, block: Mapping) -> str | None:
        """In what the cell of a `cell` block differs from torch's; None where it does not."""
        return difference(cells.build(block, INPUTS))

    def prepare(self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> object:
        if reason := difference(cell):
            log.warning("cell %s runs eager, not torch_nn: %s", cell.name, reason)
            return None
        return self
