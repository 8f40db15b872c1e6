"""What is carried from batch to batch, what is masked, what the objective adds, for each replica alone."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from tensor_rnns import models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.models.feedforward import MLP
from tensor_rnns.tasks.xor import Xor
from tensor_rnns.training import loop
from tensor_rnns.training.learner import DRAWS, Learner

DRY = {"input_dropout": 0}


def whole_text(learner, split):
    """(inputs, targets) [T, S, B] of all batches of a split, one after another."""
    parts = list(learner.evaluation(split))
    return torch.cat([part.inputs for part in parts]), torch.cat([part.targets for part in parts])


def test_a_carried_state_continues_the_batch_before(make_reading):
    """The losses of an epoch are those of one pass over its whole text; the next epoch starts from zero."""
    learner = make_reading(model=DRY, optimiser="sgd", learning_rate=1e-30)
    state = loop.start(learner, loop.optimiser_of(learner)[0])
    losses = [loop.step(learner, *loop.optimiser_of(learner), state) for _ in range(4)]
    text, targets = whole_text(learner, "train")
    outputs, _ = learner.model.forward(learner.layout.views(state.parameters), text)
    for part in range(3):
        piece = slice(5 * part, 5 * part + 5)
        expected = learner.task.loss(outputs[piece], targets[piece])
        torch.testing.assert_close(losses[part], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(losses[3], losses[0], rtol=0, atol=0)


def test_no_gradient_flows_into_the_batch_before(make_reading):
    """The gradient is that of a batch whose initial state is a constant; the state itself changes it."""
    learner = make_reading(model=DRY)
    flat = learner.initial()
    (first, _), (second, _) = learner.batch(0), learner.batch(1)
    _, _, carried, _ = learner.gradient(flat, first)
    assert len(carried) == 4
    assert not any(part.requires_grad for part in carried)
    _, gradient, _, _ = learner.gradient(flat, second, carried)
    leaf = flat.clone().requires_grad_()
    outputs, _ = learner.model.forward(learner.layout.views(leaf), second.inputs, carried)
    (expected,) = torch.autograd.grad(learner.task.loss(outputs, second.targets).sum(), leaf)
    torch.testing.assert_close(gradient, expected, rtol=0, atol=0)
    assert (learner.gradient(flat, second)[1] - gradient).abs().max() > 1e-4


def test_evaluation_carries_from_a_zero_state(make_reading):
    """The metrics of a split are those of one pass over all of it, whatever was trained before."""
    learner = make_reading()
    flat = learner.initial()
    text, targets = whole_text(learner, "valid")
    outputs, _ = learner.model.forward(learner.layout.views(flat), text)
    for _ in range(2):
        found = learner.evaluate(flat, "valid")
        expected = learner.task.metrics(outputs, targets)
        torch.testing.assert_close(found["loss"], expected["loss"], rtol=0, atol=1e-12)


def test_nothing_is_carried_where_the_task_does_not(make_reading, make_learner, monkeypatch):
    """Without `carries_state` each batch of training and evaluation starts from zero, nothing is saved."""
    learner = make_reading(model=DRY)
    monkeypatch.setattr(type(learner.task), "carries_state", False)
    flat = learner.initial()
    _, _, carried, _ = learner.gradient(flat, learner.batch(0)[0])
    assert carried == ()
    assert learner.resets_state(1, 3)
    views = learner.layout.views(flat)
    parts = [learner.task.loss(learner.model.forward(views, b.inputs)[0], b.targets)
             for b in learner.evaluation("test")]  # fmt: skip
    torch.testing.assert_close(learner.evaluate(flat, "test")["loss"], sum(parts) / 3, rtol=0, atol=1e-12)
    assert not make_learner().task.carries_state


def test_a_carried_state_is_zero_at_the_start_of_an_epoch_and_at_the_pace_of_resets(
    make_reading, monkeypatch
):
    """Where a task has no epochs and no pace the state is zero before update 0 alone."""
    learner = make_reading()
    assert [learner.resets_state(update, 3) for update in range(5)] == [True, False, False, True, False]
    assert [learner.resets_state(update, None) for update in range(5)] == [True, False, False, False, False]
    monkeypatch.setattr(type(learner.task), "reset_every", 2)
    assert [learner.resets_state(update, 3) for update in range(5)] == [True, False, True, True, False]
    assert [learner.resets_state(update, None) for update in range(5)] == [True, False, True, False, True]


def test_a_model_without_a_state_cannot_carry_one(make_reading):
    learner = make_reading()
    bare = models.build({"model": {"name": "perceptron"}, "cell": None}, 6, 6)
    with pytest.raises(
        ValueError, match=r"perceptron: the task chain carries a state .*models around a cell"
    ):
        replace(learner, model=bare)


def test_draws_are_a_function_of_the_replica_and_the_update(make_reading):
    """Alone as in a cohort, again as before; other updates and other replicas have others."""
    both, alone = make_reading(seeds=(0, 1)), make_reading(seeds=(1,))
    masks = [both.batch(update)[1]["input_dropout"] for update in (4, 5, 4)]
    assert masks[0].shape == (5, 2, 2, 4)
    assert masks[0].dtype == torch.bool
    assert torch.equal(masks[0], masks[2])
    assert not torch.equal(masks[0], masks[1])
    assert not torch.equal(masks[0][:, 0], masks[0][:, 1])
    assert torch.equal(alone.batch(4)[1]["input_dropout"][:, 0], masks[0][:, 1])


def test_dropout_reaches_the_gradient_and_no_metric(make_reading):
    """The masks change the loss of a training batch; evaluation has none."""
    wet, dry = make_reading(), make_reading(model=DRY)
    flat = wet.initial()
    batch, masks = wet.batch(2)
    assert dry.batch(2)[1] == {}
    dropped = wet.gradient(flat, batch, (), masks)[0]
    whole = dry.gradient(flat, batch)[0]
    assert (dropped - whole).abs().min() > 1e-4
    for name, value in wet.evaluate(flat, "valid").items():
        assert torch.equal(value, dry.evaluate(flat, "valid")[name])


@dataclass(frozen=True)
class Decayed(MLP):
    """An MLP whose objective has half the squares of its read-out matrix."""

    has_penalty = True

    def penalty(self, values, result, loss):
        return 0.5 * values["read_out/W"].square().sum((-2, -1))


def test_a_penalty_is_in_the_gradient_and_in_no_loss(make_learner):
    """The gradient differs by that of the penalty, replica by replica; losses and metrics do not."""
    task = Xor()
    plain = MLP(inputs=2, outputs=1, hidden=3)
    replicas = make_learner().replicas
    bare, decayed = (
        Learner(model, task, replicas, torch.device("cpu"), torch.float64)
        for model in (plain, Decayed(inputs=2, outputs=1, hidden=3))
    )
    flat = bare.initial()
    batch, _ = bare.batch(0)
    loss, gradient, _, _ = bare.gradient(flat, batch)
    same, more, _, _ = decayed.gradient(flat, batch)
    assert torch.equal(loss, same)
    added = bare.layout.views(more - gradient)
    for name, value in bare.layout.views(flat).items():
        wanted = value if name == "read_out/W" else torch.zeros_like(value)
        torch.testing.assert_close(added[name], wanted, rtol=0, atol=1e-14)
    assert torch.equal(bare.evaluate(flat, "test")["loss"], decayed.evaluate(flat, "test")["loss"])


def test_masks_are_of_the_stream_of_initial_values_and_own_splits_of_that_of_data(make_reading, make_replica):
    """So that variants share their data, and each has its own masks."""
    learner = make_reading(seeds=(0, 1))
    batch, drawn = learner.batch(4)
    for index, replica in enumerate(learner.replicas):
        one = learner.task.batch(replica.data_seed, 4)
        masks = learner.model.draws(rng(replica.init_seed, DRAWS, 4), one, 4)
        assert torch.equal(drawn["input_dropout"][:, index], torch.from_numpy(masks["input_dropout"]))
        np.testing.assert_array_equal(batch.inputs[:, index], one.inputs)
    replicas = [make_replica(seed) for seed in (3, 5)]
    task = {"name": "random_product", "size": 4, "target": "cp", "target_rank": 3, "deviation": 0.1}
    for replica in replicas:
        model = {"name": "tensor_product", "form": "cp", "rank": 2}
        replica.settings.update({"task": task, "cell": None, "model": model})
    task = tasks.build(replicas[0].settings)
    model = models.build(replicas[0].settings, task.inputs, task.outputs)
    own = next(Learner(model, task, replicas, torch.device("cpu"), torch.float64).evaluation("valid"))
    for index, replica in enumerate(replicas):
        expected = next(iter(task.evaluation_of(replica.data_seed, "valid")))
        np.testing.assert_allclose(own.targets[..., index, :, :].squeeze(), expected.targets.squeeze())
