"""Proves that the two written tasks ask what they say, and that their baselines are what timing gives."""

import math

import numpy as np
import torch

from tensor_rnns.tasks.algorithmic import IntegerAddition, Memorization


def test_the_target_is_the_sum():
    """Read back as whole numbers, with a delimiter where the format has one."""
    task = IntegerAddition(digits=4, batch_size=300)
    batch = task.batch(3, 5)
    read, due = batch.inputs.argmax(-1), batch.targets
    assert batch.inputs.shape == (16, 300, 11)
    assert (batch.inputs.sum(-1) == 1).all()
    power = 10 ** np.arange(3, -1, -1)
    left, right = power @ read[1:5], power @ read[6:10]
    total = 10 ** np.arange(4, -1, -1) @ due[10:15]
    np.testing.assert_array_equal(left + right, total)
    assert (np.delete(read, [*range(1, 5), *range(6, 10)], axis=0) == 10).all()
    assert (np.delete(due, range(10, 15), axis=0) == 10).all()
    assert total.min() < 10**4 <= total.max()


def test_the_printed_lengths():
    assert IntegerAddition(digits=15, batch_size=1).steps == 49
    assert Memorization(length=20, batch_size=1).steps == 42
    assert Memorization(length=20, batch_size=1).inputs == 65


def test_the_symbols_come_back_in_their_order():
    task = Memorization(length=5, batch_size=200, kinds=6)
    batch = task.batch(1, 2)
    read, due = batch.inputs.argmax(-1), batch.targets
    np.testing.assert_array_equal(read[1:6], due[6:11])
    assert set(np.unique(read[1:6])) == set(range(6))
    assert (np.delete(read, range(1, 6), axis=0) == 6).all()
    assert (np.delete(due, range(6, 11), axis=0) == 6).all()


def test_baselines_are_the_entropy_of_the_answers():
    """Of the digits as they are drawn, counted step by step; the delimiters cost nothing."""
    for task in (
        IntegerAddition(digits=2, batch_size=200_000),
        Memorization(length=3, batch_size=200_000, kinds=5),
    ):
        due = task.batch(7, 0).targets
        shares = [np.bincount(row) / row.size for row in due]
        entropy = sum(-(share[share > 0] * np.log(share[share > 0])).sum() for share in shares)
        assert math.isclose(task.baseline, entropy / task.steps, rel_tol=1e-4)


def test_a_perfect_answer_and_a_wrong_digit():
    """Accuracy counts the digits that are due alone: 1 of 6 of them is wrong here."""
    task = IntegerAddition(digits=1, batch_size=3)
    batch = task.batch(0, 0)
    targets = torch.from_numpy(batch.targets)[:, None]
    logits = 30.0 * torch.nn.functional.one_hot(targets, 11).double()
    assert task.metrics(logits, targets)["accuracy"].item() == 1
    assert task.metrics(logits, targets)["loss"].item() < 1e-10
    logits[4, 0, 0] = logits[4, 0, 0].roll(1)
    logits[0, 0, 1] = logits[0, 0, 1].roll(1)
    found = task.metrics(logits, targets)
    assert math.isclose(found["error"].item(), 1 / 6)
    assert math.isclose(found["loss"].item(), 2 * 30 / (7 * 3), rel_tol=1e-9)
