"""A cohort of replicas of one shape: stacked parameters, stacked batches, one loss for each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import engine
from tensor_rnns.engine import Affine, Direct, Draws, Engine, State, Touched
from tensor_rnns.engine import values as computed
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.streams import rng
from tensor_rnns.models import Model, Result
from tensor_rnns.models.recurrent import Recurrent
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.tasks.base import stacked

DRAWS = 1
"""Position of what a model draws in training, in the stream of a replica's initial values."""
Buffers = Mapping[str, Tensor]


@dataclass(frozen=True)
class Layout:
    """Where each named parameter lies in the flat row of one replica."""

    shapes: dict[str, tuple[int, ...]]

    @cached_property
    def sizes(self) -> list[int]:
        """How many numbers each parameter has."""
        return [math.prod(shape) for shape in self.shapes.values()]

    @property
    def width(self) -> int:
        """The numbers in one row."""
        return sum(self.sizes)

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The parameters [S, *shape] as views of `flat` [S, P]."""
        pieces = zip(self.shapes.items(), flat.split(self.sizes, dim=1), strict=True)
        return {name: piece.view(len(flat), *shape) for (name, shape), piece in pieces}


def check_carrying(model: Model, task: Task | type[Task]) -> None:
    """ValueError where a task carries a state over batches and the model has none, or one of both ends."""
    able = hasattr(model, "cell") and not getattr(model, "bidirectional", False)
    if task.carries_state and not able:
        reason = f"the task {task.name} carries a state over batches"
        raise ValueError(f"model {model.name}: {reason}; allowed are models around a cell that read forward")


@dataclass(frozen=True)
class Learner:
    """A model on a task for S replicas that share every shape; ValueError as for `check_carrying`.

    `engine_name` is the engine of a model without a cell, where it updates the parameters.
    """

    model: Model
    task: Task
    replicas: Sequence[Replica]
    device: torch.device
    dtype: torch.dtype
    engine_name: str = field(default="eager", kw_only=True)

    def __post_init__(self) -> None:
        check_carrying(self.model, self.task)

    @property
    def engine(self) -> Engine:
        """The engine of the model."""
        return getattr(self.model, "engine", engine.find(self.engine_name))

    @cached_property
    def layout(self) -> Layout:
        """How the parameters lie in the flat tensor."""
        return Layout(self.model.shapes())

    def drawn(self) -> list[dict[str, np.ndarray]]:
        """The initial values of each replica by name, from its own stream."""
        return [self.model.initialise(rng(replica.init_seed)) for replica in self.replicas]

    def initial(self) -> Tensor:
        """The flat parameters [S, P]."""
        rows = [np.concatenate([np.ravel(row[name]) for name in self.layout.shapes]) for row in self.drawn()]
        return torch.from_numpy(np.stack(rows)).to(self.device, self.dtype)

    def initial_buffers(self) -> dict[str, Tensor]:
        """What does not learn, by name, each [S, ...]."""
        rows = self.drawn()
        names = [name for name in rows[0] if name not in self.layout.shapes]
        return {name: self.tensor(np.stack([row[name] for row in rows])) for name in names}

    def values(self, flat: Tensor, buffers: Buffers) -> dict[str, Tensor]:
        """Parameters, as views of `flat`, and buffers by name."""
        return self.layout.views(flat) | buffers

    def batch(self, update: int) -> tuple[Batch, dict[str, Tensor]]:
        """The training batch of each replica at `update` (0 is the first) and its model's draws, stacked."""
        batches = [self.task.batch(replica.data_seed, update) for replica in self.replicas]
        if not self.is_random:
            return self.tensors(Batch.stack(batches)), {}
        own = zip(self.replicas, batches, strict=True)
        draws = [self.model.draws(rng(it.init_seed, DRAWS, update), batch, update) for it, batch in own]
        drawn = {name: self.tensor(stacked([draw[name] for draw in draws])) for name in draws[0]}
        return self.tensors(Batch.stack(batches)), drawn

    @cached_property
    def is_random(self) -> bool:
        """Whether the model draws for the first batch; most do not, and need no generator in every update."""
        first = self.replicas[0]
        return bool(self.model.draws(rng(first.init_seed, DRAWS, 0), self.task.batch(first.data_seed, 0), 0))

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, stacked: the same for every replica unless the task has some for each."""
        if self.task.own_evaluation:
            streams = [self.task.evaluation_of(replica.data_seed, split) for replica in self.replicas]
            together = zip(*streams, strict=True)
        else:
            together = ([batch] * len(self.replicas) for batch in self.task.evaluation(split))
        for batches in together:
            yield self.tensors(Batch.stack(batches))

    def tensors(self, batch: Batch) -> Batch:
        """`batch` as tensors on the device; ValueError for a symbol that is none of the task's, which would
        read the row of another replica."""
        sizes = np.reshape(self.task.inputs, (-1, 1, 1))
        if self.task.symbols and ((batch.inputs < 0) | (batch.inputs >= sizes)).any():
            told = f"symbols from {batch.inputs.min()} to {batch.inputs.max()} given"
            raise ValueError(f"task {self.task.name}: {told}; allowed: from 0, below {self.task.inputs}")
        weights, lengths = (it if it is None else self.tensor(it) for it in (batch.weights, batch.lengths))
        extra = {name: self.tensor(part) for name, part in batch.extra.items()}
        inputs, targets = self.tensor(batch.inputs), self.tensor(batch.targets)
        return Batch(inputs, targets, batch.weight, weights, lengths, extra)

    def tensor(self, values: np.ndarray) -> Tensor:
        """`values` on the device: floats in the parameters' dtype, integers as int64, bools as they are."""
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        if tensor.is_floating_point():
            return tensor.to(self.device, self.dtype)
        return tensor.to(self.device, tensor.dtype if tensor.dtype is torch.bool else torch.int64)

    def judged(self, result: Result) -> Tensor | Affine:
        """The outputs as the task takes them: they need not be computed where it can do without."""
        return result.outputs if self.task.lazy else computed(result.outputs)

    def gradient(
        self, flat: Tensor, batch: Batch, carried: State = (), draws: Draws = None,
        buffers: Buffers = MappingProxyType({}), whole: bool = True,
    ) -> tuple[Tensor, Tensor | Touched, State, Buffers]:  # fmt: skip
        """The loss [S] of the task, the gradient [S, P] of the objective, the state to carry on, and the
        buffers that the pass changed.

        The objective is the loss plus the model's penalty. Unless `whole`, a gradient may be `Touched`.
        `carried` is the state that the batch starts from, () for zero; it is a constant, and so is what is
        returned: () unless the task carries its state. A replica's rows depend on that replica alone.
        """
        # The last step of a row is not that of the batch where rows end earlier.
        ragged = batch.lengths is not None and self.direct and self.direct.last_only
        if self.direct and not draws and not ragged:
            made = self.direct.gradient(
                flat, batch.inputs, carried, lambda outputs: self.task.loss(outputs, *batch.judged)
            )
            if made is not None:
                loss, gradient, final = made
                if isinstance(gradient, Touched) and (whole or self.model.has_penalty):
                    gradient = gradient.dense()
                if self.model.has_penalty:
                    gradient = gradient + self.of_penalty(flat)
                return loss, gradient, final if self.task.carries_state else (), {}
        flat = flat.detach().requires_grad_()
        values = self.values(flat, buffers)
        result = self.model.apply(values, batch, carried, draws or {})
        loss = self.task.loss(self.judged(result), *batch.judged)
        penalty = self.model.penalty(values, result, loss) if self.model.has_penalty else None
        objective = loss if penalty is None else loss + penalty
        (gradient,) = torch.autograd.grad(objective.sum(), flat)
        kept = tuple(part.detach() for part in result.final) if self.task.carries_state else ()
        changed = {name: value.detach() for name, value in result.buffers.items()}
        return loss.detach(), gradient, kept, changed

    @cached_property
    def direct(self) -> Direct | None:
        """The way to loss and gradient without autograd, where model and task have one."""
        # The penalty of the cells sees parameters alone.
        simple = not self.model.has_penalty or type(self.model).penalty is Recurrent.penalty
        able = self.task.lazy and self.device.type == "cpu" and simple
        return self.model.direct(self.layout.views, self.layout.width, self.dtype) if able else None

    def of_penalty(self, flat: Tensor) -> Tensor:
        """The gradient [S, P] of a penalty that sees parameters alone."""
        flat = flat.detach().requires_grad_()
        penalty = self.model.penalty(self.layout.views(flat), None, None)
        return torch.autograd.grad(penalty.sum(), flat)[0]

    def resets_state(self, update: int, epoch: int | None) -> bool:
        """Whether batch `update` starts from a zero state: the first of an epoch of so many batches (None:
        data without end), each after `reset_every`, and any where nothing is carried."""
        index = update if epoch is None else update % epoch
        every = self.task.reset_every
        return not self.task.carries_state or index == 0 or (every is not None and index % every == 0)

    def constrain(self, flat: Tensor, running: Tensor) -> None:
        """Put the parameters [S, P] of replicas that run back, in place, where the model allows them."""
        if self.model.has_constraint:
            stopped = ~running.to(flat.device)
            kept = flat[stopped]
            self.model.constrain(self.layout.views(flat))
            flat[stopped] = kept

    def evaluate(
        self, flat: Tensor, split: str, buffers: Buffers = MappingProxyType({})
    ) -> dict[str, Tensor]:
        """Every metric of the task on `split`, float64 [S]: the mean over the batches, weighted by their
        items, and what the task derives from the means.

        A task that carries its state does so here from a zero state on.
        """
        totals: dict[str, Tensor] = {}
        weight, final = 0.0, ()
        with torch.no_grad():
            values = self.values(flat, buffers)
            for index, batch in enumerate(self.evaluation(split)):
                result = self.model.apply(values, batch, () if self.resets_state(index, None) else final)
                final = result.final
                items = torch.as_tensor(batch.weight, dtype=torch.float64, device=self.device)
                for name, value in self.task.metrics(self.judged(result), *batch.judged).items():
                    totals[name] = totals.get(name, 0) + value.double() * items
                weight = weight + items
        means = {name: total / weight for name, total in totals.items()}
        return means | self.task.derived(means)
