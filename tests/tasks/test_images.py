"""Proves that images as vectors keep their classes, and the squared hinge against a loop."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks

ROWS, COLUMNS, CLASSES, SIZES = 3, 5, 4, {"train": 23, "valid": 103, "test": 200}


def task(**options):
    generator = np.random.default_rng(8)
    arrays = {}
    for split, size in SIZES.items():
        arrays[f"{split}_images"] = generator.integers(0, 256, (size, ROWS, COLUMNS), dtype=np.uint8)
        arrays[f"{split}_labels"] = (np.arange(size, dtype=np.uint8) % (CLASSES + 1)) % CLASSES
    data = SimpleNamespace(name="made", arrays=arrays, facts={"classes": CLASSES})
    return tasks.build({"task": {"name": "images"} | options, "training": {"batch": 7}}, data)


def test_every_pixel_at_once_between_0_and_1():
    made = task()
    batches = list(made.evaluation("valid"))
    inputs = np.concatenate([batch.inputs for batch in batches])
    images = made.dataset.arrays["valid_images"].reshape(-1, ROWS * COLUMNS)
    np.testing.assert_allclose(inputs, images / 255, rtol=1e-6)
    assert np.concatenate([batch.targets for batch in batches]).tolist() == made.classes["valid"].tolist()
    assert (made.inputs, made.outputs, made.updates_per_epoch) == (ROWS * COLUMNS, CLASSES, 3)
    seen = [tuple(row) for k in range(3) for row in made.batch(2, k).inputs]
    assert len(set(seen)) == 21


def test_without_reshuffling_every_epoch_has_the_batches_of_the_file():
    """The last two of 23 images make no batch of seven; the seed changes nothing."""
    made, shuffled = task(reshuffle=False), task()
    images = made.dataset.arrays["train_images"].reshape(-1, ROWS * COLUMNS)
    for update in range(7):
        start = 7 * (update % 3)
        for seed in (0, 5):
            batch = made.batch(seed, update)
            np.testing.assert_allclose(batch.inputs, images[start : start + 7] / 255, rtol=1e-6)
            assert batch.targets.tolist() == made.classes["train"][start : start + 7].tolist()
    assert not np.array_equal(shuffled.batch(0, 0).inputs, made.batch(0, 0).inputs)
    assert not np.array_equal(shuffled.batch(0, 0).inputs, shuffled.batch(0, 3).inputs)


@pytest.mark.parametrize("classes_by", ["sum", "mean"])
def test_the_loss_is_the_squared_hinge(classes_by):
    made, rng = task(classes_by=classes_by), np.random.default_rng(4)
    outputs, targets = 2 * rng.standard_normal((2, 6, CLASSES)), rng.integers(CLASSES, size=(2, 6))
    found = made.metrics(torch.tensor(outputs), torch.tensor(targets))
    for s in range(2):
        cost = 0.0
        for row, target in zip(outputs[s], targets[s], strict=True):
            for k, y in enumerate(row):
                cost += max(0.0, 1 - y * (1 if k == target else -1)) ** 2
        cost /= 6 * (CLASSES if classes_by == "mean" else 1)
        assert float(found["loss"][s]) == pytest.approx(cost, rel=1e-12)
        assert float(found["accuracy"][s]) == np.mean(outputs[s].argmax(1) == targets[s])


def test_the_baseline_is_the_best_constant():
    made = task()
    targets = torch.tensor(made.classes["train"])[None]
    constant = torch.zeros(1, 1, CLASSES, dtype=torch.float64, requires_grad=True)
    search = torch.optim.LBFGS([constant], max_iter=100, tolerance_grad=1e-12)

    def cost():
        search.zero_grad()
        value = made.loss(constant.expand(1, targets.shape[1], CLASSES), targets).sum()
        value.backward()
        return value

    search.step(cost)
    assert made.baseline == pytest.approx(float(cost().detach()), rel=1e-9)
