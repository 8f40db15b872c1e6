"""Proves the tasks of bits against their definition, item by item."""

import math

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks import Batch


def built(name, batch=5, **keys):
    return tasks.build({"task": {"name": name, **keys}, "training": {"batch": batch}})


def due(batch):
    """The steps at which some target counts."""
    return [int(step) for step in np.flatnonzero(batch.weights.any(1))]


@pytest.mark.parametrize("feedback", [False, True])
def test_recall_asks_for_an_earlier_bit(feedback):
    task = built("recall", length=9, lag=2, feedback=feedback)
    batch = task.batch(3, 4)
    assert batch.inputs.shape == (9, 5, 1 + feedback)
    assert due(batch) == [2, 3, 4, 5, 6, 7, 8]
    assert batch.weight == 7 * 5
    assert set(np.unique(batch.inputs[..., 0])) == {-1, 1}
    np.testing.assert_array_equal(2 * batch.targets[2:, :, 0] - 1, batch.inputs[:-2, :, 0])
    if feedback:
        np.testing.assert_array_equal(batch.inputs[3:, :, 1], 2 * batch.targets[2:-1, :, 0] - 1)
        assert (batch.inputs[:3, :, 1] == 0).all()


def test_recall_of_the_full_state():
    task = built("recall", length=7, lag=3, full=True, feedback=True)
    batch = task.batch(3, 4)
    assert (task.inputs, task.outputs) == (5, 4)
    x = batch.inputs[..., 0]
    for step in range(3, 7):
        for lag in range(4):
            np.testing.assert_array_equal(2 * batch.targets[step, :, lag] - 1, x[step - lag])
    np.testing.assert_array_equal(batch.inputs[4:, :, 1:], 2 * batch.targets[3:-1] - 1)


def test_the_first_bit_stands_out_from_its_distractors():
    batch = built("first_bit", length=6, distractors=0.5).batch(1, 2)
    assert batch.inputs.shape == (6, 5, 1)
    assert set(np.unique(batch.inputs[1:])) == {-0.5, 0.5}
    np.testing.assert_array_equal(batch.inputs[0], 2 * batch.targets - 1)


def test_loss_and_accuracy_count_due_steps_alone():
    """What is said before anything is due, infinities too, changes nothing; ln 2 is the loss of silence."""
    task = built("recall", length=6, lag=2)
    batch = Batch.stack([task.batch(seed, 0) for seed in (1, 2)])
    targets, weights = torch.from_numpy(batch.targets), torch.from_numpy(batch.weights).float()
    said = torch.zeros_like(targets)
    assert task.loss(said, targets, weights).numpy() == pytest.approx([math.log(2)] * 2, rel=1e-6)
    said = 20 * targets - 10
    said[:2] = math.inf
    said[2, 1, 0] *= -1
    found = task.metrics(said, targets, weights)
    assert found["loss"].numpy() == pytest.approx([0, 10 / (4 * 5)], abs=1e-4)
    assert found["accuracy"].numpy() == pytest.approx([1, 19 / 20], rel=1e-6)


def test_batches_are_new_and_repeatable():
    task = built("first_bit", length=6)
    assert (task.batch(1, 2).inputs == task.batch(1, 2).inputs).all()
    assert (task.batch(1, 2).inputs != task.batch(1, 3).inputs).any()
    assert (task.batch(1, 2).inputs != task.batch(2, 2).inputs).any()


@pytest.mark.parametrize(
    ("name", "keys", "told"),
    [
        ("recall", {"length": 4, "lag": 4}, "lag is 4; allowed is less than length = 4"),
        ("first_bit", {"length": 4, "distractors": 0}, "distractors is 0; allowed is a number above 0"),
    ],
)
def test_what_cannot_be_is_refused(name, keys, told):
    with pytest.raises(ValueError, match=told):
        built(name, **keys)
