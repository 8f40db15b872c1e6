"""The loss and the gradient of one recurrent layer with its read-out, straight from flat parameters to a flat
gradient: three calls of C++ without torch's autograd between them, to the same bits.

Small updates spend most of their time between these calls.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from tensor_rnns.engine.affine import Affine
from tensor_rnns.engine.compiled import parts
from tensor_rnns.engine.compiled.calls import POOL, Lease, Long, Pointer, dense, empty, pointers
from tensor_rnns.engine.compiled.kernel import STRIDES, Arrays, arrays
from tensor_rnns.engine.generated import Ready
from tensor_rnns.engine.given import address, agree
from tensor_rnns.engine.touched import Touched

Views = Callable[[Tensor], Mapping[str, Tensor]]


@dataclass(frozen=True)
class Recorded(Affine):
    """A linear map whose losses are made together with their gradients, those of x, W and b."""

    gradients: tuple[Tensor, ...] = ()
    made: list[Tensor] = field(default_factory=list)

    def loss(self, kind: int, targets: Tensor, over: float, weights: Tensor | None = None) -> Tensor:
        """As `Affine.loss`."""
        weights = self.fit(kind, targets, weights)
        given = (self.steps, self.weight, self.bias)
        loss = parts.loss_of(kind, 1 / over, given, targets, weights, self.gradients)
        self.made.append(loss)
        return loss


@dataclass(frozen=True)
class FlatMatrix:
    """Where a matrix lies in the flat row of a replica, in numbers: its first, and from row to row and column
    to column."""

    start: int
    shape: tuple[int, int]
    steps: tuple[int, int]

    def of(self, flat: Tensor) -> Tensor:
        """The matrix of each replica of `flat` [S, P], [S, rows, columns]."""
        return flat.as_strided(
            (len(flat), *self.shape), (flat.stride(0), *self.steps), flat.storage_offset() + self.start
        )


@dataclass(frozen=True)
class Direct:
    """A kernel, where its leaves, tables, W and b lie in flat parameters, and whether the read-out sees the
    last step alone."""

    ready: Ready
    leaves: tuple[FlatMatrix, ...]
    tables: tuple[FlatMatrix, ...]
    weight: FlatMatrix
    bias: FlatMatrix
    last_only: bool

    def gradient(
        self, flat: Tensor, inputs: Tensor, state: Sequence[Tensor], loss_of: Callable[[Affine], Tensor]
    ) -> tuple[Tensor, Tensor | Touched, tuple[Tensor, ...]] | None:
        """The loss [S] that `loss_of` makes of outputs, its gradient like `flat` [S, P], and the states after
        the last step.

        `inputs` are [T, S, B, I], or symbols [T, S, B], which touch few rows of the tables; `state` is () for
        that at the start. None where what `loss_of` returns is not simply a loss of `engine.losses`.
        """
        flat, inputs = flat.detach().contiguous(), dense(inputs)
        state = state or self.ready.cell.initial_state(*inputs.shape[1:3], dtype=flat.dtype)
        self.check(flat, inputs, state)
        lease = Lease(POOL, flat.numel(), flat.dtype) if self.tables else None
        gradient = torch.empty_like(flat) if lease is None else lease.tensor[: flat.numel()].view_as(flat)
        read = arrays("symbols" if self.tables else "inputs", [inputs])
        read |= placed("leaves", flat, self.leaves) | placed("tables", flat, self.tables)
        outputs, final, kept = self.ready.kernel.forward(
            len(inputs), read, [part.contiguous() for part in state], self.last_only, True
        )
        hidden = final[0] if self.last_only else outputs
        dh = empty(hidden.shape, hidden)
        gradients = (dh, self.weight.of(gradient), self.bias.of(gradient))
        recorded = Recorded(hidden, self.weight.of(flat), self.bias.of(flat), gradients)
        loss = loss_of(recorded)
        if len(recorded.made) != 1 or loss is not recorded.made[0]:
            return None
        others = [None] * (len(state) - 1)
        read["output_gradients"] = pointers([None if self.last_only else dh, *others])
        read["final_gradients"] = pointers([dh if self.last_only else None, *others])
        read |= placed("leaf_gradients", gradient, self.leaves)
        read |= placed("table_gradients", gradient, self.tables)
        self.ready.kernel.backward(inputs.shape[:3], flat.dtype, read, kept)
        if lease is not None:
            tables = tuple((table.start, *table.shape) for table in self.tables)
            gradient = Touched(gradient, tables, inputs, lease)
        return loss, gradient, tuple(final)

    def check(self, flat: Tensor, inputs: Tensor, state: Sequence[Tensor]) -> None:
        """ValueError unless inputs and states are of the shapes and types that the kernel reads."""
        cell, (steps, _, batch) = self.ready.cell, (*inputs.shape[:3], 0, 0, 0)[:3]
        rows, what = (len(flat), batch), f"cell {cell.name}"
        if not math.prod(inputs.shape):
            raise ValueError(f"{what}: inputs {tuple(inputs.shape)} given; allowed are some of each")
        width, dtype = ((), torch.int64) if self.tables else ((cell.inputs,), flat.dtype)
        agree(what, {"inputs": (inputs, (steps, *rows, *width))}, dtype, flat.device)
        shapes = zip(cell.state_shapes().items(), state, strict=True)
        states = {f"state {name}": (part, (*rows, *shape)) for (name, shape), part in shapes}
        agree(what, states, flat.dtype, flat.device)


def placed(name: str, flat: Tensor, matrices: Sequence[FlatMatrix]) -> Arrays:
    """The same as `arrays` of matrices in `flat` [S, P], without a tensor for each."""
    start, size = address(flat), flat.element_size()
    of_strides, axes = STRIDES[name]
    starts = [start + size * matrix.start for matrix in matrices]
    steps = [step for matrix in matrices for step in (flat.shape[1], *matrix.steps)[:axes]]
    return {name: (Pointer * len(starts))(*starts), of_strides: (Long * len(steps))(*steps)}


def direct(
    ready: Ready, last_only: bool, views: Views, width: int, weight: str, bias: str, prefix: str
) -> Direct | None:
    """The way without autograd; None where a leaf is more than parameters read where they lie, where a
    table has gaps in a row or between rows, or where a parameter is read twice or never.

    `views` gives the parameters by name as views of flat ones [S, width]; those of the cell begin with
    `prefix`, W and b of the read-out are `weight` and `bias`.
    """
    # The read-out of C++ takes rows of numbers, so an output with more axes goes through autograd.
    flat_output = len(next(iter(ready.cell.state_shapes().values()))) == 1
    if not ready.hoisted.exact or not flat_output:
        return None
    flat = torch.zeros(1, width)
    params = views(flat)
    own = {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}
    matrices = [*ready.hoisted.evaluate(own, 1), params[weight], params[bias]]
    start, end = flat.data_ptr(), flat.data_ptr() + flat.nbytes
    if not all(start <= matrix.data_ptr() < end for matrix in matrices):
        return None
    layout = [
        FlatMatrix(matrix.storage_offset(), tuple(matrix.shape[1:]), tuple(matrix.stride()[1:]))
        for matrix in matrices
    ]
    for leaf in layout:
        leaf.of(flat).add_(1)
    *leaves, read_out, offset = layout
    first = len(leaves) - ready.tables
    tables = tuple(leaves[first:])
    if any(table.steps != (table.shape[1], 1) for table in tables) or not bool((flat == 1).all()):
        return None
    return Direct(ready, tuple(leaves[:first]), tables, read_out, offset, last_only)
