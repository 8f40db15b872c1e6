"""A cohort of replicas of one shape: stacked parameters, stacked batches, one loss for each."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from tensor_rnns import engine
from tensor_rnns.engine import Direct, Engine
from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.streams import rng
from tensor_rnns.models import Model
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.tasks.base import stacked

MASKS = 1
"""The stream of a replica's masks, beside that of its initial values."""


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
        replicas, pieces = len(flat), flat.split(self.sizes, dim=1)
        return {
            name: piece.view(replicas, *shape)
            for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)
        }


@dataclass(frozen=True)
class Learner:
    """A model on a task for S replicas that share every shape.

    ValueError where the task carries a state over batches and the model has none.
    """

    model: Model
    task: Task
    replicas: Sequence[Replica]
    device: torch.device
    dtype: torch.dtype

    def __post_init__(self) -> None:
        if self.task.carries_state and not hasattr(self.model, "cell"):
            raise ValueError(
                f"model {self.model.name}: the task {self.task.name} carries a state over batches; allowed "
                "are models around a cell"
            )

    @property
    def engine(self) -> Engine:
        """The engine of the model; models without a cell run eager."""
        return getattr(self.model, "engine", engine.find("eager"))

    @property
    def forward(self) -> Callable:
        """How the model is run: outputs need not be computed where the task can do without."""
        return self.model.lazy_forward if self.task.lazy else self.model.forward

    @cached_property
    def layout(self) -> Layout:
        """How the parameters lie in the flat tensor."""
        return Layout(self.model.shapes())

    def initial(self) -> Tensor:
        """The flat parameters [S, P], each replica from its own stream of initial values."""
        rows = []
        for replica in self.replicas:
            values = self.model.initialise(rng(replica.init_seed))
            rows.append(np.concatenate([np.asarray(values[name]).reshape(-1) for name in self.layout.shapes]))
        return torch.from_numpy(np.stack(rows)).to(self.device, self.dtype)

    def batch(self, update: int) -> tuple[Batch, dict[str, Tensor]]:
        """The training batch of each replica at `update` (0 is the first) and the masks of its model,
        stacked."""
        batches = [self.task.batch(replica.data_seed, update) for replica in self.replicas]
        if not self.draws_masks:
            return self.tensors(Batch.stack(batches)), {}
        masks = [
            self.model.masks(rng(replica.init_seed, MASKS, update), batch)
            for replica, batch in zip(self.replicas, batches, strict=True)
        ]
        drawn = {name: self.tensor(stacked([one[name] for one in masks])) for name in masks[0]}
        return self.tensors(Batch.stack(batches)), drawn

    @cached_property
    def draws_masks(self) -> bool:
        """Whether the model has masks, as it would for the first batch; most have none, and need no
        generator in every update."""
        first = self.replicas[0]
        return bool(self.model.masks(rng(first.init_seed, MASKS, 0), self.task.batch(first.data_seed, 0)))

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, stacked: the same for every replica unless the task has some for each."""
        if not self.task.own_evaluation:
            for batch in self.task.evaluation(split):
                yield self.tensors(Batch.stack([batch] * len(self.replicas)))
            return
        streams = [self.task.evaluation_of(replica.data_seed, split) for replica in self.replicas]
        for batches in zip(*streams, strict=True):
            yield self.tensors(Batch.stack(batches))

    def tensors(self, batch: Batch) -> Batch:
        """`batch` as tensors on the device."""
        return Batch(self.tensor(batch.inputs), self.tensor(batch.targets), batch.weight)

    def tensor(self, values: np.ndarray) -> Tensor:
        """`values` on the device: floats in the dtype of the parameters, integers as int64, bools as they
        are."""
        tensor = torch.from_numpy(np.ascontiguousarray(values))
        if tensor.is_floating_point():
            return tensor.to(self.device, self.dtype)
        return tensor.to(self.device, tensor.dtype if tensor.dtype is torch.bool else torch.int64)

    def gradient(
        self,
        flat: Tensor,
        batch: Batch,
        carried: tuple[Tensor, ...] = (),
        masks: Mapping[str, Tensor] | None = None,
    ) -> tuple[Tensor, Tensor, tuple[Tensor, ...]]:
        """The loss [S] of the task, the gradient [S, P] of the objective, and the state to carry on.

        The objective is the loss plus the model's penalty. `carried` is the state that the batch starts from,
        () for zero; it is a constant, and so is what is returned: () unless the task carries its state. A
        replica's rows depend on that replica alone.
        """
        if self.direct and not masks:
            found = self.direct.gradient(
                flat, batch.inputs, carried, lambda outputs: self.task.loss(outputs, batch.targets)
            )
            if found is not None:
                loss, gradient, final = found
                return loss, gradient, final if self.task.carries_state else ()
        flat = flat.detach().requires_grad_()
        views = self.layout.views(flat)
        outputs, final = self.forward(views, batch.inputs, carried or None, masks)
        loss = self.task.loss(outputs, batch.targets)
        penalty = self.model.penalty(views)
        objective = loss if penalty is None else loss + penalty
        (gradient,) = torch.autograd.grad(objective.sum(), flat)
        kept = tuple(part.detach() for part in final) if self.task.carries_state else ()
        return loss.detach(), gradient, kept

    @cached_property
    def direct(self) -> Direct | None:
        """The way to loss and gradient without autograd, where model and task have one."""
        able = self.task.lazy and self.device.type == "cpu" and type(self.model).penalty is Model.penalty
        return self.model.direct(self.layout.views, self.layout.width, self.dtype) if able else None

    def starts_anew(self, update: int) -> bool:
        """Whether the batch of `update` starts from a zero state: the first of an epoch, or any where
        nothing is carried."""
        epoch = self.task.updates_per_epoch
        first = update == 0 or (epoch is not None and update % epoch == 0)
        return first or not self.task.carries_state

    def constrain(self, flat: Tensor) -> None:
        """Put the parameters [S, P] back where the model allows them, in place, after an update."""
        if type(self.model).constrain is not Model.constrain:
            self.model.constrain(self.layout.views(flat))

    def evaluate(self, flat: Tensor, split: str) -> dict[str, Tensor]:
        """Every metric of the task on `split`, float64 [S]: the mean over the batches, weighted by their
        items, and what the task derives from the means.

        A task that carries its state does so here from a zero state on.
        """
        totals: dict[str, Tensor] = {}
        weight = 0.0
        with torch.no_grad():
            views = self.layout.views(flat)
            state = None
            for batch in self.evaluation(split):
                outputs, final = self.forward(views, batch.inputs, state)
                state = final if self.task.carries_state else None
                for name, value in self.task.metrics(outputs, batch.targets).items():
                    totals[name] = totals.get(name, 0) + value.double() * batch.weight
                weight += batch.weight
        means = {name: total / weight for name, total in totals.items()}
        return means | self.task.derived(means)
