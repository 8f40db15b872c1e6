"""Proves that the one trainer trains encoder and decoder, and models on trees, without a change of it."""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy, one_hot

from tensor_rnns.cells.gated import GRU
from tensor_rnns.experiments.streams import rng
from tensor_rnns.models import Model, Result
from tensor_rnns.models.base import initialise_linear, linear, linear_shapes
from tensor_rnns.tasks import Batch, Task
from tensor_rnns.training import loop
from tensor_rnns.training.learner import Learner

SYMBOLS, END, LONGEST, HIDDEN = 3, 3, 4, 12


@dataclass(frozen=True)
class Reversal(Task):
    """A string of 1 to 4 of 3 symbols backwards, then the end symbol; what follows either is padding."""

    name: ClassVar[str] = "reversal"
    symbols: ClassVar[bool] = True
    batch_size: int = 16

    inputs = SYMBOLS + 1
    outputs = SYMBOLS + 1
    baseline = None
    updates_per_epoch = None

    def made(self, generator, items):
        lengths = generator.integers(1, LONGEST + 1, items)
        text = generator.integers(0, SYMBOLS, (LONGEST, items))
        steps = np.arange(LONGEST + 1)[:, None]
        back = np.take_along_axis(text, np.clip(lengths - 1 - steps, 0, LONGEST - 1), 0)
        targets = np.where(steps < lengths, back, END)
        weights = (steps <= lengths).astype(float)
        return Batch(text, targets, weights.sum(), weights, lengths)

    def batch(self, seed, update):
        return self.made(rng(seed, update), self.batch_size)

    def evaluation(self, split):
        yield self.made(rng(0, 1), 64)

    def loss(self, outputs, targets, weights):
        each = cross_entropy(outputs.movedim(-1, 1), targets, reduction="none")
        return (each * weights).sum((0, 2))

    def metrics(self, outputs, targets, weights):
        right = (outputs.argmax(-1) == targets).to(weights.dtype)
        return {"loss": self.loss(outputs, targets, weights), "accuracy": (right * weights).sum((0, 2))}


@dataclass(frozen=True)
class EncoderDecoder(Model):
    """A GRU reads the string, another writes, fed the symbol before: the true one, its own, or a draw of
    these in which the share of its own grows to 1 at update `until`."""

    name: ClassVar[str] = "encoder_decoder"
    feed: Literal["teacher", "own", "mixed"] = "teacher"
    until: int = 10

    @property
    def cells(self):
        return {"encoder": GRU(SYMBOLS + 1, HIDDEN), "decoder": GRU(SYMBOLS + 1, HIDDEN)}

    def shapes(self):
        cells = {
            f"{k}/{name}": shape for k, cell in self.cells.items() for name, shape in cell.shapes().items()
        }
        return cells | linear_shapes("read_out", HIDDEN, SYMBOLS + 1)

    def initialise(self, generator):
        drawn = {
            f"{k}/{name}": value
            for k, cell in self.cells.items()
            for name, value in cell.initialise(generator).items()
        }
        return drawn | initialise_linear("read_out", HIDDEN, SYMBOLS + 1, {}, generator)

    def draws(self, generator, batch, update):
        if self.feed != "mixed":
            return {}
        return {"own": (generator.random(batch.targets.shape) < update / self.until).astype(np.int64)}

    def apply(self, values, batch, state=(), draws=None):
        own = {k: {name: values[f"{k}/{name}"] for name in cell.shapes()} for k, cell in self.cells.items()}
        like = values["read_out/W"]
        (h,) = self.cells["encoder"].initial_state(*batch.inputs.shape[1:], dtype=like.dtype)
        for t, symbols in enumerate(batch.inputs):
            (new,) = self.cells["encoder"].step(own["encoder"], vectors(symbols, like), (h,))
            h = torch.where((t < batch.lengths).unsqueeze(-1), new, h)
        outputs, before = [], torch.full_like(batch.inputs[0], END)
        for t in range(LONGEST + 1):
            (h,) = self.cells["decoder"].step(own["decoder"], vectors(before, like), (h,))
            outputs.append(linear(values, "read_out", h))
            before = outputs[-1].argmax(-1)
            if draws is not None and self.feed == "teacher":
                before = batch.targets[t]
            if draws is not None and self.feed == "mixed":
                before = torch.where(draws["own"][t] > 0, before, batch.targets[t])
        return Result(torch.stack(outputs))


def vectors(symbols, like):
    """One-hot vectors."""
    return one_hot(symbols, SYMBOLS + 1).to(like.dtype)


@dataclass(frozen=True)
class Brackets(Task):
    """The sum modulo 3 of the leaves of a tree over 2 to 5 digits: node k joins two nodes before it."""

    name: ClassVar[str] = "brackets"
    symbols: ClassVar[bool] = True
    batch_size: int = 24

    inputs = 3
    outputs = 3
    baseline = math.log(3)
    updates_per_epoch = None

    def made(self, generator, items):
        lengths = generator.integers(2, 6, items)
        digits = generator.integers(0, 3, (5, items))
        children = np.zeros((2, 4, items), np.int64)
        for b, leaves in enumerate(lengths):
            free = list(range(leaves))
            for node in range(leaves - 1):
                at = generator.integers(0, len(free) - 1)
                children[:, node, b] = free[at : at + 2]
                free[at : at + 2] = [5 + node]
        counts = np.arange(5)[:, None] < lengths
        sums = (digits * counts).sum(0) % 3
        return Batch(digits, sums, items, None, lengths, {"left": children[0], "right": children[1]})

    def batch(self, seed, update):
        return self.made(rng(seed, update), self.batch_size)

    def evaluation(self, split):
        yield self.made(rng(0, 1), 200)

    def loss(self, outputs, targets):
        return cross_entropy(outputs.movedim(-1, 1), targets, reduction="none").mean(1)

    def metrics(self, outputs, targets):
        right = (outputs.argmax(-1) == targets).to(outputs.dtype)
        return {"loss": self.loss(outputs, targets), "accuracy": right.mean(1)}


@dataclass(frozen=True)
class Tree(Model):
    """node = tanh([left; right] W + b) from the leaves' embeddings up; the last node is read out."""

    name: ClassVar[str] = "tree"

    def shapes(self):
        node = linear_shapes("node", 2 * HIDDEN, HIDDEN)
        return {"embedding/W": (3, HIDDEN)} | node | linear_shapes("read_out", HIDDEN, 3)

    def initialise(self, generator):
        return {name: generator.normal(0, 0.4, shape) for name, shape in self.shapes().items()}

    def apply(self, values, batch, state=(), draws=None):
        table, lengths = values["embedding/W"], batch.lengths
        nodes = list((one_hot(batch.inputs, 3).to(table.dtype) @ table).unbind(0))
        for left, right in zip(batch.extra["left"], batch.extra["right"], strict=True):
            known = torch.stack(nodes)
            pair = [known.gather(0, place[None, ..., None].expand(1, *known.shape[1:]))[0]
                    for place in (left, right)]  # fmt: skip
            nodes.append(torch.tanh(linear(values, "node", torch.cat(pair, -1))))
        root = (lengths + 3)[None, ..., None].expand(1, *nodes[0].shape)
        return Result(linear(values, "read_out", torch.stack(nodes).gather(0, root)[0]))


def learner_of(model, task, make_replica, seeds=(0, 1), **training):
    """A learner of replicas with these seeds, in float64."""
    replicas = [make_replica(seed, clip_norm=1.0, **training) for seed in seeds]
    return Learner(model, task, replicas, torch.device("cpu"), torch.float64)


def trained(learner, updates):
    """The state after so many updates."""
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    for _ in range(updates):
        loop.step(learner, *loop.optimiser_of(learner), state)
    return state


@pytest.mark.parametrize("feed", ["teacher", "own", "mixed"])
def test_an_encoder_and_a_decoder_learn_however_they_are_fed(make_replica, feed):
    """Free running in evaluation: far fewer nats than at the start."""
    learner = learner_of(EncoderDecoder(feed, 60), Reversal(), make_replica, (0,), learning_rate=0.02)
    before = learner.evaluate(learner.initial(), "test")
    after = learner.evaluate(trained(learner, 80).parameters, "test")
    assert float(after["loss"]) < 0.75 * float(before["loss"])
    assert float(after["accuracy"]) > float(before["accuracy"]) + 0.1


def test_evaluation_runs_free_and_training_sees_the_targets_it_is_given(make_replica):
    """Other targets change outputs under teacher forcing, and none in evaluation or of a net fed its own."""
    task = Reversal()
    for feed in ("teacher", "own", "mixed"):
        learner = learner_of(EncoderDecoder(feed, 10), task, make_replica)
        values = learner.layout.views(learner.initial())
        batch, draws = learner.batch(5)
        other = replace(batch, targets=(batch.targets + 1) % 4)
        pairs = [[learner.model.apply(values, one, (), given).outputs for one in (batch, other)]
                 for given in (draws, None)]  # fmt: skip
        assert torch.equal(*pairs[0]) == (feed == "own")
        assert torch.equal(*pairs[1])


def test_the_share_of_own_values_grows_with_the_update_and_comes_from_the_replica(make_replica):
    model, task = EncoderDecoder("mixed", 10), Reversal()
    both, alone = learner_of(model, task, make_replica), learner_of(model, task, make_replica, (1,))
    draws = [both.batch(update)[1]["own"] for update in (0, 5, 10)]
    assert draws[0].shape == (LONGEST + 1, 2, 16)
    assert [float(one.double().mean()) for one in draws] == pytest.approx([0, 0.5, 1], abs=0.15)
    assert torch.equal(alone.batch(5)[1]["own"][:, 0], draws[1][:, 1])
    ours, theirs = trained(both, 7), trained(alone, 7)
    torch.testing.assert_close(ours.parameters[1], theirs.parameters[0], rtol=0, atol=1e-12)


def test_a_model_on_trees_learns_sums(make_replica):
    learner = learner_of(Tree(), Brackets(), make_replica, (0, 1), learning_rate=0.02)
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    assert float(learner.evaluate(state.parameters, "test")["accuracy"].max()) < 0.6
    after = learner.evaluate(trained(learner, 300).parameters, "test")
    assert float(after["accuracy"].min()) > 0.7


def test_a_tree_is_read_as_it_is_bracketed(make_replica):
    """Each root of a batch is that of its tree written out."""
    learner = learner_of(Tree(), Brackets(batch_size=6), make_replica)
    values = learner.layout.views(learner.initial())
    batch, _ = learner.batch(0)
    found = learner.model.apply(values, batch).outputs
    one = {name: value[1:2] for name, value in values.items()}
    for b, leaves in enumerate(batch.lengths[1].tolist()):
        nodes = {place: one["embedding/W"][:, batch.inputs[place, 1, b]] for place in range(leaves)}
        for node in range(leaves - 1):
            pair = [nodes[int(batch.extra[side][node, 1, b])] for side in ("left", "right")]
            nodes[5 + node] = torch.tanh(linear(one, "node", torch.cat(pair, -1)))[:, 0]
        wanted = linear(one, "read_out", nodes[3 + leaves].unsqueeze(1))[0, 0]
        torch.testing.assert_close(found[1, b], wanted, rtol=0, atol=1e-12)
