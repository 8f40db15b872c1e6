"""Proves which pairs are trained and held out, in what order pixels are read, and what is scored."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks

STYLES, LETTERS, ROWS, COLUMNS, BATCH = 5, 12, 2, 3, 7


def task(batch=BATCH, letters=LETTERS, **options):
    images = np.random.default_rng(3).integers(0, 256, (STYLES, letters, ROWS, COLUMNS), dtype=np.uint8)
    images[1, 2] = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    settings = {"task": {"name": "style_content"} | options, "training": {"batch": batch}}
    return tasks.build(settings, SimpleNamespace(name="made", arrays={"images": images}, facts={}))


def as_set(pairs):
    return set(map(tuple, pairs.tolist()))


@pytest.mark.parametrize("rule", ["random", "each_letter"])
def test_every_pair_is_either_trained_or_held_out(rule):
    made = task(held_out=rule)
    seen, unseen = (as_set(made.pairs(4, split)) for split in ("train", "valid"))
    assert len(seen) + len(unseen) == STYLES * LETTERS
    assert not seen & unseen
    assert unseen == as_set(task(held_out=rule).pairs(4, "valid"))
    assert unseen != as_set(made.pairs(5, "valid"))


def test_random_holds_out_a_tenth():
    assert len(task().pairs(0, "valid")) == 6


def test_each_letter_is_held_out_once_and_every_style_about_equally_often():
    for seed in range(10):
        unseen = task(held_out="each_letter").pairs(seed, "valid")
        assert sorted(unseen[:, 1].tolist()) == list(range(LETTERS))
        counts = np.bincount(unseen[:, 0], minlength=STYLES)
        assert (counts.min(), counts.max()) == (2, 3)


def test_an_epoch_shows_training_pairs_once_in_a_new_order():
    made = task()
    assert made.updates_per_epoch == 7
    epochs = [
        [pair for update in range(7) for pair in made.batch(4, 7 * epoch + update).inputs.T.tolist()]
        for epoch in range(2)
    ]
    seen = as_set(made.pairs(4, "train"))
    for shown in epochs:
        assert len({tuple(pair) for pair in shown}) == len(shown) == 49
        assert {tuple(pair) for pair in shown} < seen
    assert epochs[0] != epochs[1]
    again = task().batch(4, 9)
    np.testing.assert_array_equal(again.inputs, made.batch(4, 9).inputs)


def test_targets_are_the_pixels_of_the_pair_in_scan_line_order():
    made = task(held_out="random")
    batch = made.chosen(np.array([[1, 2], [0, 11], [4, 3]]))
    assert (batch.inputs.shape, batch.targets.shape, batch.weight) == ((2, 3), (3, ROWS * COLUMNS), 3)
    assert (batch.inputs.dtype, batch.targets.dtype) == (np.int64, np.float32)
    np.testing.assert_allclose(batch.targets[0], np.arange(6) / 127 - 1, atol=1e-7)
    assert (made.inputs, made.outputs) == ((STYLES, LETTERS), ROWS * COLUMNS)


def test_evaluation_has_all_pairs_of_the_split_of_that_data_stream():
    made = task()
    (batch,) = made.evaluation_of(8, "valid")
    assert as_set(batch.inputs.T) == as_set(made.pairs(8, "valid"))
    with pytest.raises(ValueError, match="split 'test' asked for; allowed: train, valid"):
        list(made.evaluation_of(8, "test"))


def test_loss_and_error():
    outputs, targets = torch.zeros(2, 3, 4), torch.arange(24.0).reshape(2, 3, 4)
    sums = torch.tensor(
        [sum(k * k for k in range(12)), sum(k * k for k in range(12, 24))], dtype=torch.float32
    )
    assert task(reduction="sum").loss(outputs, targets).tolist() == sums.tolist()
    assert task().loss(outputs, targets).tolist() == (sums / 12).tolist()
    assert task(reduction="sum").metrics(outputs, targets)["error"].tolist() == (sums / 12).tolist()


@pytest.mark.parametrize("reduction", ["mean", "sum"])
def test_the_loss_of_a_split_is_that_of_a_training_batch(reduction):
    """Where every pixel is off by 2, whatever the number of pairs; and the metric is the objective there."""
    made = task(reduction=reduction)
    targets = torch.zeros(2, BATCH, made.outputs, dtype=torch.float64)
    objective = made.loss(targets + 2, targets)
    for pairs in (BATCH, 1, 4 * BATCH):
        found = made.metrics(torch.full((2, pairs, made.outputs), 2.0), torch.zeros(2, pairs, made.outputs))
        assert found["loss"].tolist() == objective.tolist()
        assert found["error"].tolist() == [4, 4]
    constant = torch.from_numpy(made.images.mean((0, 1))).double()
    everything = torch.from_numpy(made.images).double().flatten(0, 1)[None]
    assert float(made.metrics(constant, everything)["loss"]) == pytest.approx(made.baseline, rel=1e-6)


def test_the_baseline_is_the_error_of_the_mean_image():
    made = task()
    constant = np.broadcast_to(made.images.mean((0, 1)), made.images.shape)
    assert made.baseline == pytest.approx(np.square(constant - made.images).mean(), rel=1e-5)
    assert task(reduction="sum").baseline == pytest.approx(made.baseline * BATCH * ROWS * COLUMNS)


def test_refusals():
    with pytest.raises(ValueError, match="batch = 55 given; allowed: at most 54 pairs"):
        task(batch=55)
    settings = {"task": {"name": "style_content"}, "training": {"batch": 3}}
    with pytest.raises(ValueError, match="no data set given; allowed: one of the kind fonts"):
        tasks.build(settings, None)
