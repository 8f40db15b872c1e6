"""Proves that padding never counts: not in a loss, a gradient or a metric, and not in a mean over batches."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from tensor_rnns import engine, models
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.training.learner import Learner

STEPS, SYMBOLS = 6, 5


@dataclass(frozen=True)
class Ragged(Task):
    """Which of 5 symbols came a step before, in sequences of 1 to 6 steps; what follows them is noise."""

    name: ClassVar[str] = "ragged"
    symbols: ClassVar[bool] = True
    lazy: ClassVar[bool] = True
    batch_size: int = 4
    noise: int = 1
    of_items: bool = False

    inputs = SYMBOLS
    outputs = SYMBOLS
    baseline = None
    updates_per_epoch = None

    def made(self, generator, items):
        lengths = generator.integers(1, STEPS + 1, items)
        stream = generator.integers(0, SYMBOLS, (STEPS + 1, items))
        counts = np.arange(STEPS)[:, None] < lengths
        other = np.random.default_rng(self.noise).integers(0, SYMBOLS, (2, STEPS, items))
        inputs, targets = np.where(counts, [stream[1:], stream[:-1]], other)
        weights = counts / lengths if self.of_items else counts.astype(float)
        weight = items if self.of_items else int(lengths.sum())
        return Batch(inputs, targets, weight, weights, lengths)

    def batch(self, seed, update):
        return self.made(rng(seed, update), self.batch_size)

    def evaluation(self, split):
        for part, items in enumerate((3, 5, 1)):
            yield self.made(rng(7, part), items)

    def loss(self, outputs, targets, weights):
        return engine.cross_entropy(outputs, targets, 1, weights)

    def metrics(self, outputs, targets, weights):
        right = (engine.values(outputs).argmax(-1) == targets).to(weights.dtype)
        return {"loss": self.loss(outputs, targets, weights), "accuracy": (right * weights).sum((0, 2))}


@pytest.fixture
def make(make_replica):
    """A learner of three replicas on ragged sequences, in float64."""

    def learner(name="eager", seeds=(0, 1, 2), model=None, **task):
        settings = {
            "model": {"name": "every_step", "embedding": 3, "layers": 2} | (model or {}),
            "cell": {"name": "gru", "hidden": 4},
        }
        task = Ragged(**task)
        built = models.build(settings, SYMBOLS, SYMBOLS, name, symbols=True)
        replicas = [make_replica(seed) for seed in seeds]
        return Learner(built, task, replicas, torch.device("cpu"), torch.float64)

    return learner


@pytest.mark.parametrize("name", ["eager", "compiled"])
@pytest.mark.parametrize("both", [False, True])
def test_the_content_of_padding_changes_no_bit(make, name, both):
    """Loss, gradient and metrics; what counts does change them."""
    block = {"bidirectional": both}
    one, other = (make(name, model=block, noise=noise) for noise in (1, 2))
    flat = one.initial()
    assert not torch.equal(one.batch(3)[0].inputs, other.batch(3)[0].inputs)
    found = [learner.gradient(flat, learner.batch(3)[0])[:2] for learner in (one, other)]
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])
    for key, value in one.evaluate(flat, "test").items():
        assert torch.equal(value, other.evaluate(flat, "test")[key])
    assert not torch.equal(one.gradient(flat, one.batch(4)[0])[1], found[0][1])


def test_a_padded_batch_has_the_loss_of_its_sequences_alone(make):
    """With weights that count targets, the mean over all; with those that count items, the mean of means."""
    for of_items in (False, True):
        learner = make(of_items=of_items, model={"bidirectional": True})
        flat = learner.initial()
        batch, _ = learner.batch(5)
        loss, gradient, *_ = learner.gradient(flat, batch)
        leaf = flat.clone().requires_grad_()
        views = learner.layout.views(leaf)
        for s in range(3):
            own = {name: value[s : s + 1] for name, value in views.items()}
            sums, steps = [], [int(length) for length in batch.lengths[s]]
            for b, length in enumerate(steps):
                outputs, _ = learner.model.forward(own, batch.inputs[:length, s : s + 1, b : b + 1])
                sums.append(cross_entropy(outputs[:, 0, 0], batch.targets[:length, s, b], reduction="sum"))
            parts = [one / length for one, length in zip(sums, steps, strict=True)]
            wanted = sum(parts) / len(parts) if of_items else sum(sums) / sum(steps)
            torch.testing.assert_close(loss[s], wanted.detach(), rtol=0, atol=1e-12)
            (row,) = torch.autograd.grad(wanted, leaf, retain_graph=True)
            torch.testing.assert_close(gradient[s], row[s], rtol=0, atol=1e-12)


def test_batches_of_unequal_weight_average_as_if_they_were_one(make):
    learner = make()
    flat = learner.initial()
    total = {"loss": 0.0, "accuracy": 0.0}
    batches = list(learner.evaluation("test"))
    weights = [batch.weight for batch in batches]
    assert len({float(weight[0]) for weight in weights}) == 3
    for batch in batches:
        outputs = learner.model.apply(learner.layout.views(flat), batch).outputs
        for name, value in learner.task.metrics(outputs, *batch.judged).items():
            total[name] = total[name] + value * torch.from_numpy(batch.weight)
    for name, value in learner.evaluate(flat, "test").items():
        torch.testing.assert_close(
            value, total[name] / sum(map(torch.from_numpy, weights)), rtol=1e-12, atol=0
        )


def test_replicas_of_unequal_weight_are_each_as_alone(make):
    """Lengths come from the data stream of a replica, and so do weights."""
    together, alone = make(), make(seeds=(1,))
    batch, _ = together.batch(2)
    assert len(set(batch.weight.tolist())) > 1
    flat = together.initial()
    ours, theirs = together.gradient(flat, batch), alone.gradient(alone.initial(), alone.batch(2)[0])
    torch.testing.assert_close(ours[0][1:2], theirs[0], rtol=0, atol=1e-12)
    torch.testing.assert_close(ours[1][1:2], theirs[1], rtol=0, atol=1e-12)


def test_the_last_output_is_that_of_the_last_step_that_counts(make):
    """Read from a padded batch, and from each sequence alone; the same from a copy with other padding."""
    learner = make(model={"name": "last_output"})
    flat = learner.layout.views(learner.initial())
    batch, _ = learner.batch(0)
    found = learner.model.apply(flat, batch).outputs
    for b, length in enumerate(batch.lengths[1].tolist()):
        own = {name: value[1:2] for name, value in flat.items()}
        alone, _ = learner.model.forward(own, batch.inputs[:length, 1:2, b : b + 1])
        torch.testing.assert_close(found[1, b], alone[0, 0], rtol=0, atol=1e-12)
    other = replace(batch, inputs=make(noise=2).batch(0)[0].inputs)
    assert torch.equal(learner.model.apply(flat, other).outputs, found)
