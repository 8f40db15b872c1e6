"""Proves that the four points are table 3.2 of mathews2016 and that the loss is their mean cross entropy."""

import math

import numpy as np
import torch

from tensor_rnns import tasks


def task():
    return tasks.build({"task": {"name": "xor"}, "training": {}})


def test_the_truth_table():
    batch = task().batch(7, 8)
    for (first, second), (target,) in zip(batch.inputs, batch.targets, strict=True):
        assert target == float(bool(first) != bool(second))
    assert len(np.unique(batch.inputs, axis=0)) == 4
    assert batch.inputs.dtype == batch.targets.dtype == np.float32
    assert batch.weight == 4


def test_every_update_and_split_is_the_same():
    batches = [task().batch(0, 0), task().batch(9, 3)]
    batches += [*task().evaluation("test"), *task().evaluation("valid")]
    assert len({batch.inputs.tobytes() + batch.targets.tobytes() for batch in batches}) == 1
    assert len(batches) == 4


def test_loss_and_accuracy_by_hand():
    targets = torch.from_numpy(tasks.Batch.stack([task().batch(0, 0)] * 2).targets).double()
    logits = torch.tensor([[0.0, 0, 0, 0], [-2, 3, -1, -4]], dtype=torch.float64)[..., None]
    p = 1 / (1 + np.exp(-np.array([-2.0, 3, -1, -4])))
    expected = -(math.log(1 - p[0]) + math.log(p[1]) + math.log(p[2]) + math.log(1 - p[3])) / 4
    metrics = task().metrics(logits, targets)
    np.testing.assert_allclose(metrics["loss"], [math.log(2), expected], rtol=1e-14)
    np.testing.assert_array_equal(metrics["accuracy"], [0.5, 0.75])
    assert task().baseline == math.log(2)


def test_the_loss_stays_finite_far_out():
    targets = torch.from_numpy(task().batch(0, 0).targets)[None]
    assert task().loss(torch.full((1, 4, 1), 1e4), targets).item() == 5000
