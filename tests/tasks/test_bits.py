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
    one = Batch.stack([batch])
    targets, shares = torch.from_numpy(one.targets), torch.from_numpy(one.weights)
    said = 20 * targets - 10
    said[..., -1] *= -1
    found = task.metrics(said, targets, shares)
    assert (found["accuracy"].item(), found["last_accuracy"].item()) == pytest.approx((0.75, 0))


def test_the_first_bit_stands_out_from_its_distractors():
    batch = built("first_bit", length=6, distractors=0.5).batch(1, 2)
    assert batch.inputs.shape == (6, 5, 1)
    assert set(np.unique(batch.inputs[1:])) == {-0.5, 0.5}
    np.testing.assert_array_equal(batch.inputs[0], 2 * batch.targets - 1)


def test_the_marked_bit_is_never_held_out_in_training():
    task = built("marked_bit", batch=60, length=7, held_out=[2, 5])
    splits = {split: next(task.evaluation_of(1, split)) for split in ("valid", "test")}
    seen = {0, 1, 3, 4, 6}
    for part, allowed in ((task.batch(1, 0), seen), (splits["valid"], seen), (splits["test"], {2, 5})):
        assert set(np.abs(part.inputs[..., 0]).argmax(0)) == allowed
        assert (np.abs(part.inputs).sum(0) == 1).all()
        np.testing.assert_array_equal(part.inputs.sum(0), 2 * part.targets - 1)


def test_marked_bits_among_distractors_come_from_a_training_set():
    task = built("marked_bit", length=7, distractors=True, sequences=15)
    batch = task.batch(1, 1)
    x, mark = batch.inputs[..., 0], batch.inputs[..., 1]
    assert (np.abs(x) == 1).all()
    np.testing.assert_array_equal(mark.sum(0), np.ones(5))
    np.testing.assert_array_equal((x * mark).sum(0), 2 * batch.targets[:, 0] - 1)
    assert (task.batch(1, 4).inputs == batch.inputs).all()
    assert (task.batch(1, 2).inputs != batch.inputs).any()


def test_parity_of_padded_sequences_and_of_long_ones():
    task = built("parity", batch=40, shortest=2, longest=6, checked=(3, 8))
    batch = task.batch(1, 2)
    assert set(batch.weights.sum(0)) == {2, 3, 4, 5, 6}
    assert batch.weight == batch.weights.sum()
    for step in range(6):
        np.testing.assert_array_equal(batch.targets[step], batch.inputs[: step + 1].sum(0) % 2)
    long = next(task.evaluation_of(1, "test"))
    assert len(long.targets) == 8
    said = torch.from_numpy(20 * long.targets - 10)[:, None]
    said[7, 0, :25] *= -1
    found = task.metrics(said, torch.from_numpy(long.targets)[:, None])
    assert (found["accuracy_3"].item(), found["accuracy_8"].item()) == (1, 0.75)


def test_the_rule_switches_and_goes_on_to_switch():
    task = built("switching_rule", length=6, every=2, clock=True)
    for batch, steps in ((task.batch(1, 2), 6), (next(task.evaluation("test")), 12)):
        x, clock = batch.inputs[..., 0], batch.inputs[:, 0, 1]
        np.testing.assert_allclose(clock, np.arange(1, steps + 1) / 6, rtol=1e-6)
        sign = np.array([1, 1, -1, -1] * 3)[:steps, None]
        np.testing.assert_array_equal(2 * batch.targets[..., 0] - 1, sign * x)
    said = torch.from_numpy(20 * batch.targets - 10)[:, None]
    said[6:9] *= -1
    found = task.metrics(said, torch.from_numpy(batch.targets)[:, None])
    assert (found["accuracy"].item(), found["beyond"].item()) == (0.75, 0.5)


@pytest.mark.parametrize(("rule", "table"), [("and", [0, 0, 0, 1]), ("xor", [0, 1, 1, 0])])
def test_neighbours_are_on_both_sides(rule, table):
    batch = built("neighbours", length=6, rule=rule).batch(1, 2)
    assert due(batch) == [1, 2, 3, 4]
    ones = (batch.inputs[..., 0] > 0).astype(int)
    for step in range(1, 5):
        np.testing.assert_array_equal(
            batch.targets[step, :, 0], np.array(table)[2 * ones[step - 1] + ones[step + 1]]
        )


def test_dots_in_the_same_row_or_column():
    batch = built("dots", side=4, dots=3).batch(1, 2)
    for item in range(5):
        grid = batch.inputs[:, item, 0].reshape(4, 4)
        assert grid.sum() == 3
        for i in range(4):
            for j in range(4):
                others = [grid[k, j] for k in range(4) if k != i] + [grid[i, k] for k in range(4) if k != j]
                assert batch.targets[4 * i + j, item, 0] == (max(others) > 0)


def test_dictation_repeats_the_vector_after_idle_steps():
    batch = built("dictation", bits=3, times=2, idle=4).batch(1, 2)
    assert batch.inputs.shape == (10, 5, 3)
    assert due(batch) == list(range(4, 10))
    for step in range(10):
        np.testing.assert_array_equal(batch.inputs[step], batch.inputs[0])
    for step in range(4, 10):
        np.testing.assert_array_equal(2 * batch.targets[step, :, 0] - 1, batch.inputs[0, :, (step - 4) % 3])


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
        (
            "marked_bit",
            {"length": 4, "held_out": [4]},
            "held_out is .4.; allowed: different steps below length = 4",
        ),
        ("marked_bit", {"length": 4, "sequences": 6}, "sequences is 6; allowed: a multiple of the batch, 5"),
        ("dots", {"side": 2, "dots": 5}, "dots is 5; allowed: at most side.2 = 4"),
        ("neighbours", {"length": 2}, "length is 2; allowed: at least 3"),
    ],
)
def test_what_cannot_be_is_refused(name, keys, told):
    with pytest.raises(ValueError, match=told):
        built(name, **keys)


def test_the_loss_of_several_bits_is_their_mean_with_weights_and_without():
    """Answers of log-odds 0: ln 2 a bit, however many there are and whichever steps are due."""
    outputs, targets = torch.zeros(3, 2, 5, 4), torch.ones(3, 2, 5, 4)
    task = tasks.build(
        {"task": {"name": "recall", "length": 9, "lag": 3, "full": True}, "training": {"batch": 5}}
    )
    weights = torch.zeros(3, 2, 5)
    weights[1:] = 1 / 10
    for shares in (None, weights):
        np.testing.assert_allclose(task.loss(outputs, targets, shares), np.log(2), rtol=1e-6)
