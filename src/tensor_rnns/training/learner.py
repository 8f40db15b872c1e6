"""A cohort of replicas of one shape: stacked parameters, stacked batches, one loss for each."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from tensor_rnns.experiments import Replica
from tensor_rnns.experiments.seeds import rng
from tensor_rnns.models import Model
from tensor_rnns.tasks import Batch, Task


@dataclass(frozen=True)
class Layout:
    """Where each named parameter lies in the flat row of one replica."""

    shapes: dict[str, tuple[int, ...]]

    @property
    def width(self) -> int:
        """The numbers in one row."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def views(self, flat: Tensor) -> dict[str, Tensor]:
        """The parameters [S, *shape] as views of `flat` [S, P]."""
        pieces = flat.split([int(np.prod(shape)) for shape in self.shapes.values()], dim=1)
        return {
            name: piece.view(len(flat), *shape)
            for (name, shape), piece in zip(self.shapes.items(), pieces, strict=True)
        }


@dataclass(frozen=True)
class Learner:
    """A model on a task for S replicas that share every shape."""

    model: Model
    task: Task
    replicas: Sequence[Replica]
    device: torch.device
    dtype: torch.dtype

    @property
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

    def batch(self, update: int) -> Batch:
        """The training batch of each replica at `update` (0 is the first), stacked."""
        return self.tensors(
            Batch.stack([self.task.batch(replica.data_seed, update) for replica in self.replicas])
        )

    def evaluation(self, split: str) -> Iterator[Batch]:
        """The batches of `split`, stacked: the same for every replica unless the task has its own for each."""
        if not self.task.own_evaluation:
            for batch in self.task.evaluation(split):
                yield self.tensors(Batch.stack([batch] * len(self.replicas)))
            return
        streams = [self.task.evaluation_of(replica.data_seed, split) for replica in self.replicas]
        for batches in zip(*streams, strict=True):
            yield self.tensors(Batch.stack(batches))

    def tensors(self, batch: Batch) -> Batch:
        """`batch` as tensors on the device; floating inputs and targets take the dtype of the parameters."""

        def convert(values: np.ndarray) -> Tensor:
            tensor = torch.from_numpy(np.ascontiguousarray(values))
            return (
                tensor.to(self.device, self.dtype) if tensor.is_floating_point() else tensor.to(self.device)
            )

        return Batch(convert(batch.inputs), convert(batch.targets), batch.weight)

    def loss(self, flat: Tensor, batch: Batch) -> Tensor:
        """The training loss [S] of the replicas on `batch`."""
        outputs, _ = self.model.forward(self.layout.views(flat), batch.inputs)
        return self.task.loss(outputs, batch.targets)

    def gradient(self, flat: Tensor, batch: Batch) -> tuple[Tensor, Tensor]:
        """The loss [S] and its gradient [S, P]; a replica's row depends on that replica alone."""
        flat = flat.detach().requires_grad_()
        loss = self.loss(flat, batch)
        (gradient,) = torch.autograd.grad(loss.sum(), flat)
        return loss.detach(), gradient

    def constrain(self, flat: Tensor) -> None:
        """Put the parameters [S, P] back where the model allows them, in place, after an update."""
        self.model.constrain(self.layout.views(flat))

    def evaluate(self, flat: Tensor, split: str) -> dict[str, Tensor]:
        """Every metric of the task on `split`, float64 [S]: the mean over the batches, weighted by their
        items."""
        totals: dict[str, Tensor] = {}
        weight = 0.0
        with torch.no_grad():
            views = self.layout.views(flat)
            for batch in self.evaluation(split):
                outputs, _ = self.model.forward(views, batch.inputs)
                for name, value in self.task.metrics(outputs, batch.targets).items():
                    totals[name] = totals.get(name, 0) + value.double() * batch.weight
                weight += batch.weight
        return {name: total / weight for name, total in totals.items()}
