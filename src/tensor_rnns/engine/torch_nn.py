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
from tensor_rnns.engine import eager
from tensor_rnns.engine.given import Symbols, check, vectors

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

    def packed(self, params: Mapping[str, Tensor]) -> list[Tensor]:
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


def run(
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor | Symbols,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step, as `eager.run` gives.

    ValueError for a cell with other equations than torch's, and for tensors that do not fit it.
    """
    layout = layout_of(cell)
    if not math.prod(inputs.shape):
        return eager.run(cell, params, inputs, state, last_only)
    check(cell, params, inputs, state)
    x = vectors(inputs, state[0].dtype)
    if x.dim() == 3:
        outputs, final = alone(layout, params, x, state)
        return (final[0] if last_only else outputs), final
    found = [
        alone(
            layout, {name: value[s] for name, value in params.items()}, x[:, s], [part[s] for part in state]
        )
        for s in range(x.shape[1])
    ]
    final = tuple(torch.stack(parts) for parts in zip(*(end for _, end in found), strict=True))
    return (final[0] if last_only else torch.stack([outputs for outputs, _ in found], 1)), final


def alone(
    layout: Layout, params: Mapping[str, Tensor], x: Tensor, state: tuple[Tensor, ...] | list[Tensor]
) -> tuple[Tensor, tuple[Tensor, ...]]:
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


def trajectory(
    cell: Cell, params: Mapping[str, Tensor], inputs: Tensor | Symbols, state: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """Every state of `cell` by name after each step, [T, S, B, H], as `eager.trajectory` gives.

    torch keeps the c of an LSTM to itself, so that cell takes the eager loop here.
    """
    if len(cell.states) > 1:
        return eager.trajectory(cell, params, inputs, state)
    outputs, _ = run(cell, params, inputs, state)
    return {cell.states[0]: outputs}


def obstacle(block: Mapping) -> str | None:
    """In what the cell of a `cell` block differs from torch's; None where it does not."""
    return difference(cells.build(block, INPUTS))


def prepare(cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> Layout | None:
    """How torch runs `cell`; None after a warning where it cannot."""
    if reason := difference(cell):
        log.warning("cell %s runs eager, not torch_nn: %s", cell.name, reason)
        return None
    return layout_of(cell)
