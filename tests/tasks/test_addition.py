"""Proves that addition draws what algorithm 1 of mathews2016 says, purely, and scores it as by hand."""

import numpy as np
import pytest
import torch
from scipy import stats

from tensor_rnns import tasks

LENGTH, BATCH = 21, 8


def task(batch=BATCH, **options):
    settings = {"task": {"name": "addition", "length": LENGTH} | options, "training": {"batch": batch}}
    return tasks.build(settings)


def places(batch):
    """The steps of the two marks of each item, in order."""
    return np.array([np.flatnonzero(batch.inputs[:, item, 1]) for item in range(batch.inputs.shape[1])])


def even(counts):
    return stats.chisquare(counts).pvalue


def test_shapes_and_sizes():
    made = task().batch(3, 4)
    assert made.inputs.shape == (LENGTH, BATCH, 2)
    assert made.targets.shape == (BATCH, 1)
    assert made.inputs.dtype == made.targets.dtype == np.float32
    assert made.weight == BATCH
    assert (task().inputs, task().outputs, task().updates_per_epoch) == (2, 1, None)


def test_target_is_the_sum_of_the_two_marked_values():
    made = task().batch(3, 4)
    marked = made.inputs[..., 0] * made.inputs[..., 1]
    np.testing.assert_allclose(made.targets[:, 0], marked.sum(0), rtol=1e-6)
    assert set(np.unique(made.inputs[..., 1])) == {0, 1}
    assert (made.inputs[..., 1].sum(0) == 2).all()


def test_values_are_uniform_at_every_step():
    values = task(batch=2000).batch(0, 0).inputs[..., 0]
    assert values.min() >= 0
    assert values.max() < 1
    assert stats.kstest(values.ravel()[:20_000], stats.uniform.cdf).pvalue > 0.01
    assert np.abs(values.mean(1) - 0.5).max() < 0.03


def test_halves_marks_one_step_in_each_half_evenly():
    marks = places(task(batch=4000).batch(1, 0))
    first, second = (np.bincount(marks[:, k], minlength=LENGTH) for k in (0, 1))
    half = LENGTH // 2
    assert first[half:].sum() == 0
    assert second[: LENGTH - half].sum() == 0
    assert even(first[:half]) > 0.01
    assert even(second[LENGTH - half :]) > 0.01
    assert abs(np.corrcoef(marks.T)[0, 1]) < 0.05


def test_halves_of_an_even_length_use_every_step():
    settings = {"task": {"name": "addition", "length": 6}, "training": {"batch": 600}}
    marks = places(tasks.build(settings).batch(1, 0))
    assert set(marks[:, 0]) == {0, 1, 2}
    assert set(marks[:, 1]) == {3, 4, 5}


def test_printed_marks_one_step_of_1_to_half_less_1_and_one_of_the_rest_evenly():
    marks = places(task(batch=6000, markers="printed").batch(1, 0)) + 1
    half = LENGTH // 2
    first, second = (np.bincount(marks[:, k], minlength=LENGTH + 1) for k in (0, 1))
    assert first[half:].sum() == 0
    assert second[:half].sum() == 0
    assert even(first[1:half]) > 0.01
    assert even(second[half:]) > 0.01


def test_anywhere_marks_every_pair_evenly():
    marks = places(task(batch=8000, markers="anywhere").batch(1, 0))
    pairs = np.zeros((LENGTH, LENGTH))
    np.add.at(pairs, tuple(marks.T), 1)
    assert even(pairs[np.triu_indices(LENGTH, 1)]) > 0.01
    assert np.tril(pairs).sum() == 0


def test_the_baseline_is_the_score_of_answering_one():
    losses = [(1 - task(batch=500).batch(0, update).targets) ** 2 for update in range(40)]
    assert abs(np.mean(losses) - 1 / 6) < 4 * np.std(losses) / np.sqrt(20_000)
    assert task().baseline == 1 / 6


def test_a_batch_depends_on_seed_and_update_alone():
    one, again = task().batch(5, 6), task().batch(5, 6)
    assert one.inputs.tobytes() == again.inputs.tobytes()
    assert one.targets.tobytes() == again.targets.tobytes()
    others = [task().batch(5, 7), task().batch(6, 6), task().batch(6, 5)]
    assert len({one.inputs.tobytes(), *(other.inputs.tobytes() for other in others)}) == 4


def test_evaluation_is_a_thousand_fixed_items():
    test, again, valid = (list(task().evaluation(split)) for split in ("test", "test", "valid"))
    assert sum(batch.weight for batch in test) == 1000
    assert [batch.inputs.tobytes() for batch in test] == [batch.inputs.tobytes() for batch in again]
    assert len({batch.inputs.tobytes() for batch in (*test, *valid)}) == len(test) + len(valid)
    wider = [batch.inputs.tobytes() for batch in task(batch=3).evaluation("test")]
    assert wider == [batch.inputs.tobytes() for batch in test]
    with pytest.raises(ValueError, match="split 'train' asked for; allowed: valid, test"):
        next(task().evaluation("train"))


def test_loss_by_hand():
    outputs = torch.tensor([[[1.0], [2.0]], [[0.5], [0.5]], [[0.0], [4.0]]], dtype=torch.float64)
    targets = torch.tensor([[[1.5], [1.0]], [[0.5], [0.0]], [[0.0], [1.0]]], dtype=torch.float64)
    expected = [(0.25 + 1) / 2, 0.25 / 2, 9 / 2]
    np.testing.assert_allclose(task().loss(outputs, targets), expected, rtol=1e-15)
    np.testing.assert_allclose(task().metrics(outputs, targets)["loss"], expected, rtol=1e-15)


def test_stacking_puts_replicas_before_items():
    batches = [task().batch(seed, 0) for seed in range(3)]
    stacked = tasks.Batch.stack(batches)
    assert stacked.inputs.shape == (LENGTH, 3, BATCH, 2)
    assert stacked.targets.shape == (3, BATCH, 1)
    np.testing.assert_array_equal(stacked.inputs[:, 2], batches[2].inputs)
    np.testing.assert_array_equal(stacked.targets[1], batches[1].targets)
    assert stacked.weight == BATCH


def test_stacking_of_classes():
    labels = [tasks.Batch(np.zeros((5, 4, 2)), np.full((5, 4), seed), 4) for seed in range(3)]
    assert tasks.Batch.stack(labels).targets.shape == (5, 3, 4)
    assert (tasks.Batch.stack(labels).targets[:, 2] == 2).all()


@pytest.mark.parametrize(
    ("block", "batch", "message"),
    [
        ({"name": "subtraction"}, 8, "unknown task 'subtraction'; .*allowed are addition, .*, xor"),
        (
            {"name": "addition"},
            8,
            r"task addition: needs the key 'length' \(a whole number from 1 to a billion\)",
        ),
        ({"name": "addition", "length": 1}, 8, "length = 1 given; allowed: at least 2"),
        ({"name": "addition", "length": 3, "markers": "printed"}, 8, "length = 3 given; allowed: at least 4"),
        (
            {"name": "addition", "length": 9, "markers": "ends"},
            8,
            "task addition: markers is 'ends'; allowed are anywhere, halves,",
        ),
        (
            {"name": "addition", "length": 9, "depth": 2},
            8,
            "task addition: has no key 'depth'; allowed are length, markers",
        ),
        (
            {"name": "addition", "length": 9},
            None,
            "task addition: batch_size is None; allowed is a whole number",
        ),
    ],
)
def test_wrong_settings_are_refused(block, batch, message):
    with pytest.raises(ValueError, match=message):
        tasks.build({"task": block, "training": {"batch": batch}})
