"""A kernel of a cell that is ready to run, and what torch does around it."""

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor

from tensor_rnns.cells.base import Cell
from tensor_rnns.engine.given import Inputs, Params, State, check
from tensor_rnns.engine.ir.hoist import Hoisted


class ScanKernel:
    """A built kernel as a function of torch tensors with gradients, by the autograd function `scan`."""

    scan: ClassVar[type[torch.autograd.Function]]

    def __call__(
        self,
        inputs: Sequence[Tensor],
        states: Sequence[Tensor],
        leaves: Sequence[Tensor],
        every: Sequence[bool],
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The states [T, S, B, width] of every step where `every` says so, and all after the last step.

        Inputs are [T, S, B, width], all of one floating dtype on one device, every leaf [S, rows, columns].
        """
        tensors = (*inputs, *states, *leaves)
        keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)
        results = self.scan.apply(self, tuple(every), keep, *tensors)
        return results[: sum(every)], results[sum(every) :]


@dataclasses.dataclass(frozen=True)
class Ready:
    """A cell's kernel, and what torch does before it: parameter-only expressions, and looking up rows of the
    last `tables` of them."""

    cell: Cell
    kernel: ScanKernel
    hoisted: Hoisted
    tables: int

    def scan(
        self,
        params: Params,
        inputs: Inputs,
        state: State,
        every: Sequence[bool],
    ) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
        """The states of every step where `every` says so, and all after the last."""
        one_hot = not isinstance(inputs, Tensor)
        check(self.cell, params, inputs, state)
        stacked = len(inputs.shape) == 4
        if not stacked:
            state = tuple(part.unsqueeze(0) for part in state)
            params = {name: value.unsqueeze(0) for name, value in params.items()}
            inputs = (
                dataclasses.replace(inputs, indices=inputs.indices.unsqueeze(1))
                if one_hot
                else inputs.unsqueeze(1)
            )
        leaves = self.hoisted(params, inputs.shape[1])
        read = len(leaves) - self.tables
        entering = [inputs @ table for table in leaves[read:]] if one_hot else [inputs]
        steps, final = self.kernel(entering, state, leaves[:read], every)
        if stacked:
            return steps, final
        return tuple(part.squeeze(1) for part in steps), tuple(part.squeeze(0) for part in final)
