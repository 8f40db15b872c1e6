"""The tasks of sections 9, 10 and 12, told again by loops over single steps and items."""

import numpy as np
import pytest

from tensor_rnns import tasks


def built(name, batch=6, **keys):
    return tasks.build({"task": {"name": name, **keys}, "training": {"batch": batch}}, None)


def test_running_averages():
    """In units of the deviation that an average has in the end; the baseline is the error of 0."""
    task = built("running_averages", batch=4000, length=9, factors=[0.5, 0.9])
    batch = task.batch(3, 1)
    for item in range(5):
        for place, a in enumerate((0.5, 0.9)):
            y = 0.0
            for t in range(9):
                y = a * y + (1 - a) * float(batch.inputs[t, item, 0])
                assert batch.targets[t, item, place] == pytest.approx(
                    y * ((1 + a) / (1 - a)) ** 0.5, rel=1e-4, abs=1e-6
                )
    assert np.square(batch.targets).mean() == pytest.approx(task.baseline, rel=0.05)


@pytest.mark.parametrize("every", [None, 4])
def test_reset_count(every):
    task = built("reset_count", batch=500, length=30, **({} if every is None else {"every": every}))
    batch = task.batch(3, 1)
    for item in range(20):
        count = 0
        for t in range(30):
            one, marker = batch.inputs[t, item]
            reset = marker == 1 if every is None else (t + 1) % every == 0
            count = 0 if reset else count + one
            assert batch.targets[t, item, 0] == count
    ones, markers = batch.inputs.mean((0, 1))
    assert ones == pytest.approx(0.3, abs=0.02)
    assert markers == (0 if every else pytest.approx(0.07, abs=0.01))


def test_key_value():
    """Keys of an item differ; the query is that of the cell that is named, and the target its value."""
    task = built("key_value", batch=300, pairs=5, key_bits=4, value_bits=3)
    batch = task.batch(3, 1)
    assert batch.inputs.shape == (6, 300, 7)
    for item in range(300):
        stored, query = batch.inputs[:-1, item], batch.inputs[-1, item]
        assert len(np.unique(stored[:, :4], axis=0)) == 5
        (cell,) = np.flatnonzero((stored[:, :4] == query[:4]).all(1))
        assert cell == batch.extra["cell"][item]
        assert not query[4:].any()
        np.testing.assert_array_equal(batch.targets[item], stored[cell, 4:] > 0)
    assert set(np.unique(batch.inputs[:-1])) == {-1, 1}
    assert np.bincount(batch.extra["cell"], minlength=5).min() > 30


def test_a_disguise_is_one_permutation_with_signs_for_a_run_in_training_and_test():
    """Found again from many items by which bit of the key each bit of the query follows."""
    task = built("key_value", batch=200, disguised=True)
    found = []
    for batch in (task.batch(3, 0), task.batch(3, 7), next(task.evaluation_of(3, "test")), task.batch(4, 0)):
        items = np.arange(batch.inputs.shape[1])
        keys, query = batch.inputs[batch.extra["cell"], items, :6], batch.inputs[-1, :, :6]
        follows = keys.T @ query / len(items)
        assert (np.isclose(np.abs(follows), 1).sum(0) == 1).all()
        found.append(np.where(np.isclose(np.abs(follows), 1), follows.round(), 0))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])
    assert (found[0] != found[3]).any()


def test_blanked_bits():
    """Each place is blanked as often; the store is not touched."""
    query = built("key_value", batch=3000, blanked=2).batch(3, 1).inputs[-1, :, :6]
    assert ((query == 0).sum(1) == 2).all()
    assert (query == 0).mean(0) == pytest.approx(np.full(6, 1 / 3), abs=0.04)


def test_averaging_four_values_is_right_at_11_bits_of_16():
    batch = built("key_value", batch=20000).batch(3, 1)
    said = batch.inputs[:-1, :, 6:].sum(0)
    right = np.where(said == 0, 0.5, (said > 0) == (batch.targets > 0.5)).mean()
    assert right == pytest.approx(11 / 16, abs=0.01)


@pytest.mark.parametrize("keys", [{"pairs": 9, "key_bits": 3}, {"blanked": 7}])
def test_impossible_pairs_are_refused(keys):
    with pytest.raises(ValueError, match="allowed: 2\\^key_bits pairs, key_bits blanked at most"):
        built("key_value", **keys)
