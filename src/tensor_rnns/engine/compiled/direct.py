"""The loss and the gradient of one recurrent layer with its read-out, straight from flat parameters to a flat
gradient: three calls of C++ without torch's autograd between them, to the same bits.

Small updates spend most of their time between these calls. What is an expression of parameters torch makes
before them, and its gradients after them.
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
from tensor_rnns.engine.generated import Ready, Tensors
from tensor_rnns.engine.given import Params, address, agree
from tensor_rnns.engine.ir.hoist import Hoisted
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
class FlatView:
    """Where a matrix or a parameter lies in the flat row of a replica, in numbers: its first, and along each
    axis from one to the next."""

    start: int
    shape: tuple[int, ...]
    steps: tuple[int, ...]

    @classmethod
    def at(cls, view: Tensor) -> "FlatView":
        """Where a view [S, ...] of flat parameters lies."""
        return cls(view.storage_offset(), tuple(view.shape[1:]), tuple(view.stride()[1:]))

    def of(self, flat: Tensor) -> Tensor:
        """The matrix of each replica of `flat` [S, P], [S, rows, columns]."""
        return flat.as_strided(
            (len(flat), *self.shape), (flat.stride(0), *self.steps), flat.storage_offset() + self.start
        )


@dataclass(frozen=True)
class Expressions:
    """The leaves that torch makes, and where the parameters lie that they are made of."""

    hoisted: Hoisted
    places: Mapping[str, FlatView]

    def params(self, flat: Tensor) -> dict[str, Tensor]:
        """Those that they are made of; constants alone are of the dtype and on the device of `flat`."""
        return {name: place.of(flat) for name, place in self.places.items()} or {"": flat}

    def evaluate(self, flat: Tensor) -> list[Tensor]:
        """The leaves for `flat` [S, P]."""
        return self.hoisted.evaluate(self.params(flat)) if self.hoisted.leaves else []

    def pass_on(self, flat: Tensor, of_leaves: Tensors, gradient: Tensor) -> None:
        """Put the gradients of parameters where they lie in that of `flat`, from those of the leaves."""
        if self.places:
            for name, part in self.hoisted.gradients(self.params(flat), of_leaves).items():
                self.places[name].of(gradient).copy_(torch.zeros(()) if part is None else part)


@dataclass(frozen=True)
class Start:
    """Where the first state of every row lies, if it is learned."""

    place: FlatView
    state: int

    def rows(self, flat: Tensor, batch: int) -> Tensor:
        """It for each of `batch` rows, [1, S, B, width]."""
        made = empty((1, len(flat), batch, self.place.shape[-1]), flat)
        parts.call(parts.FORWARD, flat.new_ones(1, len(flat), batch, 1), self.place.of(flat), None, y=made)
        return made

    def pass_on(self, of_rows: Tensor | None, gradient: Tensor) -> None:
        """Put the sum over the rows of the gradient [S, B, ..] of the state where it lies in that of the
        parameters; zero for None."""
        mine = self.place.of(gradient)
        if of_rows is None:
            mine.zero_()
            return
        of_rows = of_rows.view(1, *of_rows.shape[:2], -1)
        ones = of_rows.new_ones(*of_rows.shape[:3], 1)
        parts.call(parts.BACKWARD, ones, torch.empty_like(mine), None, (None, mine, None), targets=of_rows)


@dataclass(frozen=True)
class Direct:
    """A kernel, where its leaves, tables, W and b lie in flat parameters (None: among the expressions), and
    whether the read-out sees the last step alone."""

    ready: Ready
    leaves: tuple[FlatView | None, ...]
    tables: tuple[FlatView, ...]
    weight: FlatView
    bias: FlatView
    expressions: Expressions
    starts: tuple[Start, ...]
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
        before = state or self.start(flat, (*inputs.shape, 0, 0, 0)[2])
        self.check(flat, inputs, before)
        lease = Lease(POOL, flat.numel(), flat.dtype) if self.tables else None
        gradient = torch.empty_like(flat) if lease is None else lease.tensor[: flat.numel()].view_as(flat)
        made = self.expressions.evaluate(flat)
        read = arrays("symbols" if self.tables else "inputs", [inputs])
        read |= placed("leaves", flat, self.filled(made)) | placed("tables", flat, self.tables)
        outputs, final, kept = self.ready.kernel.forward(
            len(inputs), read, [part.contiguous() for part in before], self.last_only, True
        )
        hidden = final[0] if self.last_only else outputs
        dh = empty(hidden.shape, hidden)
        gradients = (dh, self.weight.of(gradient), self.bias.of(gradient))
        recorded = Recorded(hidden, self.weight.of(flat), self.bias.of(flat), gradients)
        loss = loss_of(recorded)
        if len(recorded.made) != 1 or loss is not recorded.made[0]:
            return None
        of_made = [empty(leaf.shape, flat) for leaf in made]
        of_start = [empty(part.shape, flat) for part in before] if self.starts and not state else None
        read |= self.passed(dh, gradient, of_made, of_start)
        self.ready.kernel.backward(inputs.shape[:3], flat.dtype, read, kept)
        self.expressions.pass_on(flat, of_made, gradient)
        for start in self.starts:
            start.pass_on(of_start and of_start[start.state], gradient)
        if lease is not None:
            tables = tuple((table.start, *table.shape) for table in self.tables)
            gradient = Touched(gradient, tables, inputs, lease)
        return loss, gradient, tuple(final)

    def start(self, flat: Tensor, batch: int) -> list[Tensor]:
        """The states before the first step."""
        states = list(self.ready.cell.initial_state(len(flat), batch, dtype=flat.dtype))
        for start in self.starts:
            states[start.state] = start.rows(flat, batch).view_as(states[start.state])
        return states

    def filled(self, made: Tensors) -> list[FlatView | Tensor]:
        """The leaves, with what was made for those that are expressions."""
        rest = iter(made)
        return [next(rest) if leaf is None else leaf for leaf in self.leaves]

    def passed(self, dh: Tensor, gradient: Tensor, of_made: Tensors, of_start: Tensors | None) -> Arrays:
        """What the way back reads and writes beside what the way there read."""
        others = [None] * (len(self.ready.cell.states) - 1)
        found = {
            "output_gradients": pointers([None if self.last_only else dh, *others]),
            "final_gradients": pointers([dh if self.last_only else None, *others]),
        }
        if of_start is not None:
            found["initial_gradients"] = pointers(of_start)
        found |= placed("leaf_gradients", gradient, self.filled(of_made))
        return found | placed("table_gradients", gradient, self.tables)

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


def placed(name: str, flat: Tensor, matrices: Sequence[FlatView | Tensor]) -> Arrays:
    """The same as `arrays` of matrices, without a tensor for each that lies in `flat` [S, P]."""
    start, size = address(flat), flat.element_size()
    of_strides, axes = STRIDES[name]
    starts, steps = [], []
    for matrix in matrices:
        inside = isinstance(matrix, FlatView)
        starts.append(start + size * matrix.start if inside else address(matrix))
        steps += ((flat.shape[1], *matrix.steps) if inside else matrix.stride())[:axes]
    return {name: (Pointer * len(starts))(*starts), of_strides: (Long * len(steps))(*steps)}


def lying(hoisted: Hoisted, params: Params, flat: Tensor) -> FlatView | None:
    """Where its one leaf lies in flat parameters; None where it is made of them."""
    if not hoisted.exact or not hoisted.reads:
        return None
    (leaf,) = hoisted.moved(params, 1)
    start = flat.data_ptr()
    return FlatView.at(leaf) if start <= leaf.data_ptr() < start + flat.nbytes else None


def direct(
    ready: Ready, last_only: bool, views: Views, width: int, weight: str, bias: str, prefix: str
) -> Direct | None:
    """The way without autograd; None where a table has gaps in a row or between rows or is more than a
    parameter read where it lies, and where a parameter is read twice or never.

    `views` gives the parameters by name as views of flat ones [S, width]; those of the cell begin with
    `prefix`, W and b of the read-out are `weight` and `bias`.
    """
    # The read-out of C++ takes rows of numbers, so an output with more axes goes through autograd.
    cell, hoisted = ready.cell, ready.hoisted
    if len(next(iter(cell.state_shapes().values()))) != 1:
        return None
    flat = torch.zeros(1, width)
    params = views(flat)
    own = {name.removeprefix(prefix): value for name, value in params.items() if name.startswith(prefix)}
    layout = [lying(hoisted.only([leaf]), own, flat) for leaf in hoisted.leaves]
    others = hoisted.only(leaf for leaf, place in zip(hoisted.leaves, layout, strict=True) if place is None)
    made = Expressions(others, {name: FlatView.at(own[name]) for name in others.reads})
    starts = [Start(FlatView.at(own[key]), cell.states.index(of)) for of, key in cell.starts.items()]
    read_out = [FlatView.at(params[name]) for name in (weight, bias)]
    for place in [*filter(None, layout), *made.places.values(), *(it.place for it in starts), *read_out]:
        place.of(flat).add_(1)
    first = len(layout) - ready.tables
    leaves, tables = tuple(layout[:first]), tuple(layout[first:])
    gaps = any(table is None or table.steps != (table.shape[1], 1) for table in tables)
    if gaps or not bool((flat == 1).all()):
        return None
    return Direct(ready, leaves, tables, *read_out, made, tuple(starts), last_only)
