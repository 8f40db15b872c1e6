"""Proves what the two tasks of products draw, that targets, baselines and the model tensor_product are those
of the tensor written out, and that equal factors are equal."""

import numpy as np
import pytest
import torch
from scipy import stats

from tensor_rnns import bilinear, models, tasks
from tensor_rnns.experiments.streams import rng
from tensor_rnns.tasks.products import target

SIZE = 12


def random(batch=40, **options):
    block = {"name": "random_product", "size": SIZE, "target_rank": 3, "deviation": 0.3} | options
    return tasks.build({"task": block, "training": {"batch": batch}})


def elementwise(batch=4000, **options):
    block = {"name": "elementwise_product", "size": SIZE} | options
    return tasks.build({"task": block, "training": {"batch": batch}})


@pytest.mark.parametrize("kind", ["cp", "tensor_train"])
@pytest.mark.parametrize("factors", ["independent", "equal"])
def test_targets_are_products_with_one_tensor_for_the_run(kind, factors):
    task = random(target=kind, factors=factors)
    tensor = task.form.reconstruct(target(task, 5)).numpy()
    for update in (0, 7):
        batch = task.batch(5, update)
        x, y = np.split(batch.inputs, 2, axis=1)
        np.testing.assert_allclose(batch.targets, np.einsum("bi,ijk,bk->bj", x, tensor, y), atol=1e-5)
        assert (np.abs(batch.inputs) <= 1).all()
    assert not np.allclose(tensor, task.form.reconstruct(target(task, 6)).numpy())


@pytest.mark.parametrize("kind", ["cp", "tensor_train"])
@pytest.mark.parametrize("factors", ["independent", "equal"])
def test_the_baseline_is_the_mean_square_of_a_target_over_tensors(kind, factors):
    task = random(target=kind, factors=factors)
    found = [
        float(task.form.reconstruct(target.__wrapped__(task, seed)).double().square().sum((0, 2)).mean()) / 9
        for seed in range(1500)
    ]
    assert abs(np.mean(found) - task.baseline) < 4 * np.std(found) / np.sqrt(len(found))


def test_what_zero_scores_is_computed_for_this_tensor():
    task = random()
    (batch, *_) = task.evaluation_of(5, "test")
    wanted = torch.from_numpy(batch.targets)[None]
    found = task.metrics(torch.zeros_like(wanted), wanted)
    assert found["zero"] == found["loss"] == pytest.approx(float(np.square(batch.targets).mean()))


@pytest.mark.parametrize("task", [random(), elementwise(permuted=True, values=5)], ids=lambda task: task.name)
def test_splits_are_the_same_each_time_and_of_their_seed(task):
    def read(seed, split):
        return [(b.inputs.tobytes(), b.targets.tobytes(), b.weight) for b in task.evaluation_of(seed, split)]

    assert read(3, "test") == read(3, "test")
    assert [one[1] for one in read(3, "test")] != [one[1] for one in read(4, "test")]
    assert read(3, "test") != read(3, "valid")
    assert sum(one[2] for one in read(3, "test")) == 16_384
    with pytest.raises(ValueError, match="split 'train' asked for; allowed: valid, test"):
        next(task.evaluation_of(3, "train"))


def test_bits_are_fair_and_the_target_is_their_product():
    batch = elementwise().batch(1, 0)
    x, y = np.split(batch.inputs, 2, axis=1)
    np.testing.assert_array_equal(batch.targets, x * y)
    assert np.abs(batch.inputs.mean(0) - 0.5).max() < 0.05
    assert np.square(batch.targets - 0.25).mean() == pytest.approx(elementwise().baseline, abs=0.003)


def test_a_permutation_holds_for_the_run():
    task = elementwise(permuted=True)
    orders = []
    for seed, update in ((1, 0), (1, 5), (2, 0)):
        batch = task.batch(seed, update)
        x, y = np.split(batch.inputs, 2, axis=1)
        (columns,) = {tuple(int(np.flatnonzero((x * y == t[:, None]).all(0))[0]) for t in batch.targets.T)}
        assert sorted(columns) == list(range(SIZE))
        orders.append(columns)
    assert orders[0] == orders[1] != orders[2]


def test_structured_inputs_are_copies_at_fixed_places_for_x_and_y_apart():
    task = elementwise(values=5)
    places = []
    for update in (0, 1):
        x, y = np.split(task.batch(1, update).inputs, 2, axis=1)
        groups = [
            {tuple(np.flatnonzero((half == column[:, None]).all(0))) for column in half.T} for half in (x, y)
        ]
        assert [sorted(map(len, one)) for one in groups] == [[2, 2, 2, 3, 3]] * 2
        places.append(groups)
    assert places[0] == places[1]
    assert places[0][0] != places[0][1]
    with pytest.raises(ValueError, match="values = 13 given; allowed: at most size = 12"):
        elementwise(values=13)


def test_equal_factors():
    cp, train = bilinear.form("cp", 6, 6, 6, 4), bilinear.form("tensor_train", 6, 6, 6, 4)
    found = bilinear.equal_factors(cp, rng(1), "normal(0.1)")
    assert np.array_equal(found["A"], found["B"])
    assert np.array_equal(found["A"], found["C"])
    found = bilinear.equal_factors(train, rng(1), "normal(0.1)")
    assert np.array_equal(found["A"], found["C"].T)
    assert np.array_equal(found["B"].ravel()[: found["A"].size], found["A"].ravel())
    assert found["C"].shape == train.shapes()["C"]


@pytest.mark.parametrize(("form", "rank"), [("cp", 3), ("tensor_train", 2), ("full", None)])
def test_the_shell_is_the_tensor_written_out(form, rank):
    block = {"name": "tensor_product", "form": form, "rank": rank}
    model = models.build({"model": block, "cell": None}, 10, 4)
    params = {name: torch.from_numpy(value)[None] for name, value in model.initialise(rng(2)).items()}
    inputs = torch.from_numpy(rng(3).standard_normal((1, 7, 10)))
    x, y = inputs[..., :5], inputs[..., 5:]
    wanted = torch.einsum("sbi,sijk,sbk->sbj", x, model.tensor.reconstruct(params), y)
    torch.testing.assert_close(model.forward(params, inputs)[0], wanted, rtol=0, atol=1e-12)
    with pytest.raises(ValueError, match="9 inputs given; allowed: an even number"):
        models.build({"model": block, "cell": None}, 9, 4)


@pytest.mark.parametrize("deviation", [0, -0.1, float("nan"), float("inf")])
def test_a_tensor_without_spread_is_refused(deviation):
    with pytest.raises(ValueError, match=f"deviation is {deviation}; allowed is a number above 0"):
        random(deviation=deviation)


def test_elements_of_the_inputs_are_uniform_from_minus_one_to_one():
    inputs = random(batch=4000).batch(5, 3).inputs
    assert stats.kstest(inputs.ravel()[:9000], stats.uniform(-1, 2).cdf).pvalue > 0.001


@pytest.mark.parametrize("factors", ["independent", "equal"])
def test_the_models_factors_are_equal_where_they_are_asked_to_be(factors):
    block = {
        "name": "tensor_product",
        "form": "cp",
        "rank": 3,
        "factors": factors,
        "initialiser": {"normal": 1.0},
    }
    model = models.build({"model": block, "cell": None}, 2 * SIZE, SIZE)
    a, b, c = model.initialise(rng(3)).values()
    assert (np.array_equal(a, b) and np.array_equal(b, c)) == (factors == "equal")
