"""Proves the tasks with known distributions against enumeration."""

import itertools
import math

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks import Batch
from tensor_rnns.tasks.distributions import transitions


def built(name, batch=5, **keys):
    return tasks.build({"task": {"name": name, **keys}, "training": {"batch": batch}})


def stacked(*batches):
    """Targets and shares of batches as a model's outputs meet them, float64."""
    batch = Batch.stack(batches)
    targets = torch.from_numpy(batch.targets)
    targets = targets.double() if targets.is_floating_point() else targets.long()
    return targets, torch.from_numpy(batch.weights).double()


def logit(p):
    return np.log(p) - np.log1p(-p)


def test_a_joint_is_enumerated_and_the_best_net_of_each_kind_known():
    """Conditionals of the law have divergence 0, marginals its total correlation."""
    task = built("joint", bits=3, feedback=True)
    (batch,) = task.evaluation_of(4, "test")
    law, y = task.law_of(4), batch.targets[..., 0]
    assert law.sum() == pytest.approx(1)
    assert (law != task.law_of(5)).all()
    table = {row: law[number] for number, row in enumerate(itertools.product((0, 1), repeat=3))}
    for item in range(8):
        assert batch.weights[0, item] == pytest.approx(table[tuple(y[:, item])], rel=1e-6)
    np.testing.assert_array_equal(batch.inputs[1:, :, 1], 2 * y[:-1] - 1)
    conditional, marginal = np.zeros((2, 3, 8, 1))
    for t, item in itertools.product(range(3), range(8)):
        past = tuple(y[:t, item])
        both = [sum(p for row, p in table.items() if row[: t + 1] == (*past, bit)) for bit in (0, 1)]
        conditional[t, item] = logit(both[1] / sum(both))
        marginal[t, item] = logit(sum(p for row, p in table.items() if row[t]))
    targets, weights = stacked(batch, batch)
    said = torch.from_numpy(np.stack([conditional, marginal], 1))
    found = task.metrics(said, targets, weights)
    assert found["kl"][0].item() == pytest.approx(0, abs=1e-6)
    assert found["kl"][1].item() == pytest.approx(found["total_correlation"][1].item(), abs=1e-6)
    assert found["total_correlation"][0].item() > 0.01


def test_a_repeated_bit_costs_ln_2_or_n_times_that():
    task = built("joint", bits=10, law="repeated", noise=True)
    batch = task.batch(1, 2)
    assert set(batch.targets.sum(0)[:, 0]) <= {0, 10}
    assert set(np.unique(batch.inputs)) == {-1, 1}
    whole, *others = task.evaluation_of(1, "valid")
    assert (others[0].inputs != whole.inputs).any()
    targets, weights = stacked(whole)
    silent = task.metrics(torch.zeros_like(targets), targets, weights)
    assert silent["loss"].item() == pytest.approx(10 * math.log(2))
    assert silent["kl"].item() == pytest.approx(9 * math.log(2))
    assert silent["total_correlation"].item() == pytest.approx(9 * math.log(2))


def test_a_source_follows_its_table_and_its_excess_is_a_divergence():
    task = built("source", batch=4000, order=2, length=9)
    batch = task.batch(3, 0)
    y = batch.targets[..., 0]
    np.testing.assert_array_equal(batch.inputs[1:, :, 0], 2 * y[:-1] - 1)
    exact = next(task.evaluation_of(3, "test"))
    chances = {}
    for t, item in itertools.product(range(2, 9), range(100)):
        x = (exact.inputs[t - 1 : t + 1, item, 0] + 1) / 2
        chances.setdefault(tuple(x), set()).add(float(exact.targets[t, item, 0]))
    assert len(chances) == 4
    for past, (chance,) in ((past, tuple(found)) for past, found in chances.items()):
        after = y[2:][(y[:-2] == past[0]) & (y[1:-1] == past[1])]
        assert after.mean() == pytest.approx(chance, abs=0.03)
    targets, weights = stacked(exact)
    best = task.metrics(torch.logit(targets), targets, weights)
    assert best["excess"].item() == pytest.approx(0, abs=1e-12)
    assert task.metrics(torch.zeros_like(targets), targets, weights)["excess"].item() > 0.01


def test_missing_symbols_have_the_entropy_of_their_posterior():
    """By enumeration of every chain."""
    task = built("missing", length=5, missing=2, kinds=3)
    step, law = transitions(3), {}
    for row in itertools.product(range(3), repeat=5):
        law[row] = np.prod([1 / 3, *(step[a, b] for a, b in itertools.pairwise(row))])
    seen = {}
    for row, p in law.items():
        key = (row[0], *row[3:])
        seen[key] = seen.get(key, 0) + p
    expected = -sum(p * math.log(p / seen[row[0], *row[3:]]) for row, p in law.items())
    assert task.exact() == pytest.approx(expected, rel=1e-12)
    batch = task.batch(1, 2)
    assert (batch.inputs[1:3, :, 3] == 1).all()
    np.testing.assert_array_equal(batch.inputs[[0, 3, 4]].argmax(-1), batch.targets[[0, 3, 4]])
    np.testing.assert_array_equal(np.flatnonzero(batch.weights.all(1)), [1, 2])
    targets, weights = stacked(batch)
    found = task.metrics(torch.zeros(*targets.shape, 3).double(), targets, weights)
    assert found["loss"].item() == pytest.approx(2 * math.log(3))
    assert found["accuracy"].item() == pytest.approx((batch.targets[1:3] == 0).mean())


def test_a_chain_follows_its_transitions():
    y = built("missing", batch=20000, length=3, missing=1).batch(1, 2).targets
    for a, b in itertools.product(range(4), repeat=2):
        assert (y[2][y[1] == a] == b).mean() == pytest.approx(transitions(4)[a, b], abs=0.02)


@pytest.mark.parametrize(
    ("name", "keys", "told"),
    [
        ("missing", {"length": 4, "missing": 3}, "missing is 3; allowed is at most length - 2 = 2"),
        ("source", {"order": 4, "length": 4}, "order is 4; allowed is less than length = 4"),
    ],
)
def test_what_cannot_be_is_refused(name, keys, told):
    """A gap without a symbol on either side, and a source that has no step to judge; one less is allowed."""
    with pytest.raises(ValueError, match=told):
        built(name, **keys)
    batch = built(name, **keys | {"length": 5}).batch(1, 2)
    assert batch.weight > 0
    assert not batch.weights[[0]].any()


def test_valid_and_test_of_a_source_are_other_items():
    task = built(name="source", order=2, length=12)
    first = {split: next(iter(task.evaluation_of(3, split))).inputs for split in ("valid", "test")}
    assert not np.array_equal(first["valid"], first["test"])
