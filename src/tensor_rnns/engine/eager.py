"""The reference engine: a Python loop over time, one `step` after another, gradients by torch."""

from collections.abc import Mapping

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell


def run(
    cell: Cell,
    params: Mapping[str, Tensor],
    inputs: Tensor,
    state: tuple[Tensor, ...],
    last_only: bool = False,
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step.

    `inputs` are [T, S, B, I], or [T, B, I] with parameters and state that have no replica axis.
    With `last_only` the output is h_T alone, [S, B, H].
    """
    if not len(inputs):
        raise ValueError(f"run: inputs {tuple(inputs.shape)} given; allowed: at least one step of time")
    outputs = []
    for x in inputs.unbind(0):
        state = cell.step(params, x, state)
        if not last_only:
            outputs.append(state[0])
    return state[0] if last_only else torch.stack(outputs), state


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """x W + b."""
    return x @ weight if bias is None else x @ weight + bias


def trajectory(
    cell: Cell, params: Mapping[str, Tensor], inputs: Tensor, state: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """Every state of `cell` by name after each step, [T, S, B, H]."""
    states = []
    for x in inputs.unbind(0):
        state = cell.step(params, x, state)
        states.append(state)
    return {name: torch.stack([step[i] for step in states]) for i, name in enumerate(cell.states)}
