"""The reference engine, a Python loop over time, and with it what every engine offers."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.given import Inputs, Params, State, Steps

Outputs = Tensor | Affine
"""What a model gives: computed, or still to be."""


class Engine:
    """Runs the step of a cell over time, with gradients.

    This one is the eager loop. The others derive from it: each overrides what it does faster and leaves the
    rest, and what it cannot run, to the loop.
    """

    name: ClassVar[str] = "eager"
    update: ClassVar[Callable[..., Tensor] | None] = None
    """The fused update of an optimiser (`compiled.parts.update`), where the engine has one: its own code then
    makes the losses too, so that the bits of a whole update depend on the replica alone."""
    cudnn: ClassVar[bool] = False
    """Whether its products on a GPU are those of cuDNN, whose precision torch sets apart."""

    def run(self, cell: Cell, params: Params, inputs: Inputs, state: State, last_only: bool = False) -> Steps:
        """The outputs h_1 .. h_T of `cell` [T, S, B, H] and its state after the last step.

        `inputs` are [T, S, B, I]; the eager loop also takes [T, B, I], with parameters and state that have no
        replica axis. With `last_only` the output is h_T alone, [S, B, H]. ValueError for no steps, and from
        engines other than this one for tensors that do not fit the cell.
        """
        if not len(inputs):
            raise ValueError(f"run: inputs {tuple(inputs.shape)} given; allowed: at least one step of time")
        outputs = []
        for x in inputs.unbind(0):
            state = cell.step(params, x, state)
            if not last_only:
                outputs.append(state[0])
        return state[0] if last_only else torch.stack(outputs), state

    def linear(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Outputs:
        """x W + b, or an `Affine` that has yet to compute it."""
        return x @ weight if bias is None else x @ weight + bias

    def direct(self, cell: Cell, dtype: torch.dtype, one_hot: bool, *layout: Any, **names: str) -> Any:
        """Loss and gradient of one layer, of one-hot vectors if so, with its read-out without autograd, as
        `compiled.direct.direct` makes it of the further arguments; None where the engine or the cell has no
        such way."""
        return None

    def unsupported_reason(self, block: Mapping) -> str | None:
        """Why this engine cannot run the cell of a `cell` block on this machine; None where it can."""
        return None

    def prepare(self, cell: Cell, dtype: torch.dtype, device: torch.device, one_hot: bool = False) -> object:
        """Make ready for `cell`, with one-hot vectors as its inputs if so; None, after a warning, where the
        eager loop would run in its place."""
        return self
