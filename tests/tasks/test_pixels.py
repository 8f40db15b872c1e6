"""Proves that images become sequences of pixels in the stated order, once an epoch, scored as by hand."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks.pixels import permutation

ROWS, COLUMNS, CLASSES = 3, 5, 4
SIZES = {"train": 23, "valid": 103, "test": 200}


def dataset():
    """Images of random grey levels, and labels of which 0 is the most frequent."""
    generator = np.random.default_rng(8)
    arrays = {}
    for split, size in SIZES.items():
        arrays[f"{split}_images"] = generator.integers(0, 256, (size, ROWS, COLUMNS), dtype=np.uint8)
        arrays[f"{split}_labels"] = (np.arange(size, dtype=np.uint8) % (CLASSES + 1)) % CLASSES
    return SimpleNamespace(name="made", arrays=arrays, facts={"classes": CLASSES})


def task(batch=7, data=None, **options):
    settings = {"task": {"name": "pixels"} | options, "training": {"batch": batch}}
    return tasks.build(settings, data or dataset())


def test_sizes_and_shapes():
    made = task()
    batch = made.batch(3, 4)
    assert batch.inputs.shape == (ROWS * COLUMNS, 7, 1)
    assert batch.targets.shape == (7,)
    assert (batch.inputs.dtype, batch.targets.dtype) == (np.float32, np.int64)
    assert (made.inputs, made.outputs, made.updates_per_epoch, batch.weight) == (1, CLASSES, 3, 7)


def test_scan_line_reads_row_by_row_from_the_top_left():
    data = dataset()
    data.arrays["valid_images"][0] = np.arange(ROWS * COLUMNS, dtype=np.uint8).reshape(ROWS, COLUMNS)
    first = next(task(data=data, order="scan").evaluation("valid"))
    np.testing.assert_allclose(
        first.inputs[:, 0, 0], (np.arange(ROWS * COLUMNS) - 127.5) / 255, rtol=0, atol=1e-7
    )


def test_pixels_lie_between_minus_and_plus_a_half():
    data = dataset()
    data.arrays["test_images"][:, 0, 0], data.arrays["test_images"][:, 0, 1] = 0, 255
    inputs = next(task(data=data).evaluation("test")).inputs
    assert (inputs.min(), inputs.max()) == (-0.5, 0.5)


def test_the_authors_permutation():
    """Its first and last pixels, as numpy's legacy generator of seed 1001 shuffles 0 .. 783."""
    order = permutation(784)
    assert order[:5].tolist() == [203, 324, 56, 355, 136]
    assert order[-3:].tolist() == [526, 286, 189]
    np.testing.assert_array_equal(np.sort(order), np.arange(784))


def test_one_permutation_moves_every_image_alike():
    """Step t of each image of each split is the pixel that the permutation names."""
    order = permutation(ROWS * COLUMNS)
    scan, permuted = task(order="scan"), task()
    for split in SIZES:
        before = np.concatenate([batch.inputs for batch in scan.evaluation(split)], axis=1)
        after = np.concatenate([batch.inputs for batch in permuted.evaluation(split)], axis=1)
        np.testing.assert_array_equal(after, before[order])
        assert (after != before).any()


def test_images_keep_their_labels_through_the_shuffle():
    data = dataset()
    data.arrays["train_images"][:, 0, 0] = np.arange(SIZES["train"])
    made = task(data=data, order="scan")
    for update in range(9):
        batch = made.batch(6, update)
        images = np.rint(batch.inputs[0, :, 0] * 255 + 127.5).astype(int)
        np.testing.assert_array_equal(batch.targets, data.arrays["train_labels"][images])


def test_each_epoch_is_shuffled_anew_and_takes_an_image_once():
    data = dataset()
    data.arrays["train_images"][:, 0, 0] = np.arange(SIZES["train"])
    made = task(data=data, order="scan")

    def images(seed, epoch):
        batches = [made.batch(seed, 3 * epoch + part).inputs[0, :, 0] for part in range(3)]
        return np.rint(np.concatenate(batches) * 255 + 127.5).astype(int).tolist()

    orders = [images(seed, epoch) for seed in (0, 1) for epoch in (0, 1, 2)]
    assert len({tuple(order) for order in orders}) == 6
    assert all(len(set(order)) == 21 for order in orders)
    assert len({frozenset(order) for order in orders}) > 1
    assert orders[1] == images(0, 1)


def test_evaluation_takes_every_image_once_with_its_weight():
    made = task(order="scan")
    for split, size in SIZES.items():
        batches = list(made.evaluation(split))
        assert [batch.weight for batch in batches] == {23: [23], 103: [100, 3], 200: [100, 100]}[size]
        labels = np.concatenate([batch.targets for batch in batches])
        np.testing.assert_array_equal(labels, dataset().arrays[f"{split}_labels"])
        levels = np.concatenate([batch.inputs[..., 0].T for batch in batches])
        np.testing.assert_allclose(
            levels * 255 + 127.5, dataset().arrays[f"{split}_images"].reshape(size, -1), atol=1e-4
        )
    with pytest.raises(ValueError, match="split 'all' asked for; allowed: train, valid, test"):
        next(made.evaluation("all"))


def test_baseline_is_the_entropy_of_the_classes():
    """9 of 23 training images are of class 0 and 5, 5, 4 of the others; the same loss comes out of the
    task for outputs that are these shares."""
    shares = np.array([9, 5, 5, 4]) / 23
    made = task()
    assert made.baseline == pytest.approx(-(shares * np.log(shares)).sum(), rel=1e-12)
    outputs = torch.from_numpy(np.log(shares)).expand(1, 23, CLASSES)
    targets = torch.from_numpy(made.classes["train"])[None]
    assert made.loss(outputs, targets).item() == pytest.approx(made.baseline, rel=1e-12)
    assert made.metrics(outputs, targets)["accuracy"].item() == pytest.approx(9 / 23)


def test_loss_and_accuracy_by_hand():
    generator = np.random.default_rng(5)
    logits = generator.standard_normal((3, 6, CLASSES)) * 2
    targets = generator.integers(0, CLASSES, (3, 6))
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    nats = [[-np.log(shares[s, b, targets[s, b]]) for b in range(6)] for s in range(3)]
    right = [[float(logits[s, b].argmax() == targets[s, b]) for b in range(6)] for s in range(3)]
    found = task().metrics(torch.from_numpy(logits), torch.from_numpy(targets))
    np.testing.assert_allclose(found["loss"], np.mean(nats, axis=1), rtol=1e-12)
    np.testing.assert_allclose(found["accuracy"], np.mean(right, axis=1), rtol=1e-12)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"batch = 24 given; allowed: at most 23"):
        task(batch=24)
    with pytest.raises(ValueError, match="no data set given"):
        tasks.build({"task": {"name": "pixels"}, "training": {"batch": 2}})
    with pytest.raises(ValueError, match="task pixels: order is 'spiral'; allowed are permuted, scan"):
        task(order="spiral")
