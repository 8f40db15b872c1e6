"""Proves what copy memory, addition and pixels with a training set draw, in which order, and their scores."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.tasks.training_sets import BLANK, RUN, legacy_orders

GAP, LONGEST, BATCH = 7, 3, 4
STEPS = GAP + 2 * LONGEST


def build(name, batch=BATCH, data=None, **options):
    return tasks.build({"task": {"name": name} | options, "training": {"batch": batch}}, data)


def copy(batch=BATCH, **options):
    return build("copy_memory", batch, **{"gap": GAP, "longest": LONGEST, "sequences": 12 * batch} | options)


def test_a_sequence_of_copy_memory_by_hand():
    """T = N + 20 and 10 symbols: data, N - 1 blanks, run, blanks; due are N + 10 blanks, then the data."""
    task = build("copy_memory", gap=100)
    batch = task.batch(5, 0)
    assert (task.steps, task.inputs, task.outputs, batch.inputs.shape) == (120, 10, 10, (120, BATCH))
    x, y = batch.inputs[:, 2].tolist(), batch.targets[:, 2].tolist()
    assert x[10:] == [BLANK] * 99 + [RUN] + [BLANK] * 10
    assert y == [BLANK] * 110 + x[:10]
    assert max(x[:10]) < BLANK
    assert (batch.weight, batch.inputs.dtype) == (BATCH, np.int64)


@pytest.mark.parametrize("vary", ["length", "lag"])
def test_what_varies_takes_every_value(vary):
    """Each item alone is as by hand, with its own length or lag, and blanks to the end."""
    batch = copy(300, vary=vary).batch(1, 2)
    seen = set()
    for x, y in zip(batch.inputs.T.tolist(), batch.targets.T.tolist(), strict=True):
        run = x.index(RUN)
        data = [symbol for symbol in x if symbol < BLANK]
        lag = run + 1 - len(data)
        assert x == data + [BLANK] * (lag - 1) + [RUN] + [BLANK] * (STEPS - run - 1)
        assert y == [BLANK] * (run + 1) + data + [BLANK] * (STEPS - run - 1 - len(data))
        assert (len(data), lag)[vary == "length"] == (LONGEST, GAP)[vary == "length"]
        seen.add((len(data), lag)[vary == "lag"])
    assert seen == set(range(1, (LONGEST, GAP)[vary == "lag"] + 1))


@pytest.mark.parametrize(("vary", "printed"), [("nothing", 0.17329), ("length", 0.09531), ("lag", 0.17329)])
def test_the_baseline_is_the_score_of_knowing_the_timing_alone(vary, printed):
    """Logits that say blank where it is due and nothing of the data elsewhere, on 3,000 items."""
    task = build("copy_memory", 500, gap=100, vary=vary, sequences=None)
    assert task.baseline == pytest.approx(printed, abs=5e-6)
    losses = []
    for update in range(6):
        targets = torch.from_numpy(task.batch(3, update).targets)[:, None]
        outputs = torch.full((*targets.shape, 10), -1e9)
        outputs[..., BLANK] = torch.where(targets == BLANK, 0.0, -1e9)
        outputs[..., :BLANK] = torch.where(targets == BLANK, -1e9, 0.0)[..., None]
        losses.append(task.loss(outputs, targets).item())
    assert np.mean(losses) == pytest.approx(task.baseline, rel=0.02)


def test_metrics_by_hand():
    """Of two replicas the second is wrong at one data step of the first item and one blank of the last; items
    of 3 and 1 data symbols count alike."""
    task = copy(2, vary="length")
    targets = torch.full((STEPS, 2, 2), BLANK)
    targets[10:13, :, 0], targets[8, :, 1] = torch.tensor([[1], [2], [3]]), 4
    outputs = torch.nn.functional.one_hot(targets, 10).double() * 5
    outputs[11, 1, 0], outputs[0, 1, 1] = outputs[11, 1, 0].roll(1), outputs[0, 1, 1].roll(1)
    found = task.metrics(outputs, targets)
    right, wrong = (math.log(math.exp(5) + 9) - score for score in (5, 0))
    np.testing.assert_allclose(found["loss"], [right, (24 * right + 2 * wrong) / 26], rtol=1e-12)
    np.testing.assert_allclose(found["accuracy"], [1, 24 / 26], rtol=1e-15)
    np.testing.assert_allclose(found["data_accuracy"], [1, (2 / 3 + 1) / 2], rtol=1e-15)
    np.testing.assert_allclose(found["data_loss"], [right, ((2 * right + wrong) / 3 + right) / 2], rtol=1e-12)
    assert (found["accuracy"][0], found["data_accuracy"][0]) == (1, 1)


def test_the_corrected_accuracy_is_the_authors():
    """0.8 (T (a - 1) + 20 a - 10) for ten symbols: 8 of 8 at a = 1, and 7.97 at 0.99972 over 120 steps."""
    task = build("copy_memory", gap=100)
    found = task.derived({"accuracy": torch.tensor([1.0, 0.99972, 0.9])})["corrected"]
    np.testing.assert_allclose(
        found, [0.8 * (120 * (a - 1) + 20 * a - 10) for a in (1.0, 0.99972, 0.9)], rtol=1e-5
    )
    assert found[:2].tolist() == pytest.approx([8, 7.97], abs=0.005)


def test_a_training_set_is_taken_in_order_and_over_again():
    task = copy()
    batches = [task.batch(6, update).inputs.tobytes() for update in range(30)]
    assert task.updates_per_epoch == 12
    assert len(set(batches)) == 12
    assert batches[12:24] == batches[:12]
    endless = copy(sequences=None)
    assert endless.updates_per_epoch is None
    again = [endless.batch(6, update).inputs.tobytes() for update in range(30)]
    assert again[:12] == batches[:12]
    assert len(set(again)) == 30


def test_one_set_is_held_out_for_all():
    """valid and test are one set of their own, whatever the stream; train is the start of the stream's."""
    task = copy(held_out=230)

    def taken(seed, split):
        return [batch.inputs.tobytes() for batch in task.evaluation_of(seed, split)]

    assert [batch.weight for batch in task.evaluation("valid")] == [100, 100, 30]
    assert taken(1, "valid") == taken(1, "test") == taken(2, "valid")
    assert taken(1, "train") == [task.batch(1, update).inputs.tobytes() for update in range(12)]
    assert not set(taken(1, "train")) & set(taken(2, "train"))
    assert len(taken(1, "train")) == 12
    few = copy(held_out=10)
    assert sum(batch.weight for batch in few.evaluation_of(1, "train")) == 12
    with pytest.raises(ValueError, match="split 'all' asked for; allowed: train, valid, test"):
        next(task.evaluation("all"))


def test_a_test_set_apart_shares_nothing_with_validation():
    """Training and validation stay those of copy memory; the test set is as large, and other sequences."""
    options = {"gap": 20, "longest": 9, "vary": "lag", "sequences": 12, "held_out": 230}
    task, other = build("copy_memory_apart", **options), build("copy_memory", **options)

    def taken(of, seed, split):
        return [batch.inputs.tobytes() for batch in of.evaluation_of(seed, split)]

    assert [taken(task, 1, split) for split in ("train", "valid")] == [
        taken(other, 1, split) for split in ("train", "valid")
    ]
    columns = {
        split: [row.tobytes() for batch in task.evaluation_of(1, split) for row in batch.inputs.T]
        for split in ("valid", "test", "train")
    }
    assert [len(set(rows)) for rows in columns.values()] == [230, 230, 12]
    assert not set(columns["test"]) & {*columns["valid"], *columns["train"]}
    assert taken(task, 1, "test") == taken(task, 2, "test")
    assert [batch.weight for batch in task.evaluation("test")] == [100, 100, 30]


def test_addition_is_held_out_with_its_own_markers():
    """Training marks one step of each half; held out as the text says, or anywhere as the code does."""
    for markers, shares in (("halves", (1, 1)), ("anywhere", (0.4, 0.6))):
        task = build("addition_set", length=40, held_out=400, held_out_markers=markers)
        batches = {split: list(task.evaluation_of(3, split)) for split in ("train", "test")}
        ones = {
            split: np.concatenate([batch.inputs[:20, :, 1].sum(0) == 1 for batch in found])
            for split, found in batches.items()
        }
        assert ones["train"].all()
        assert shares[0] <= ones["test"].mean() <= shares[1]
        plain = tasks.build({"task": {"name": "addition", "length": 40}, "training": {"batch": BATCH}})
        assert task.batch(3, 5).inputs.tobytes() == plain.batch(3, 5).inputs.tobytes()


SIZES = {"train": 23, "valid": 9, "test": 5}


def images(rows=4, columns=6):
    generator = np.random.default_rng(8)
    arrays = {}
    for split, size in SIZES.items():
        arrays[f"{split}_images"] = generator.integers(0, 256, (size, rows, columns), dtype=np.uint8)
        arrays[f"{split}_labels"] = np.arange(size, dtype=np.uint8) % 10
    return SimpleNamespace(name="made", arrays=arrays, facts={"classes": 10})


def test_the_permutation_is_that_of_one_legacy_generator():
    """Two shuffles come before it, so that it depends on the number of images; of MNIST its first ones."""
    legacy = np.random.RandomState(1234)
    first, second = list(range(23)), list(range(9))
    legacy.shuffle(first)
    legacy.shuffle(second)
    order, pixels = legacy_orders(23, 9, 24)
    assert order.tolist() == first
    assert pixels.tolist() == legacy.permutation(24).tolist()
    assert legacy_orders(23, 14, 24)[1].tolist() != pixels.tolist()
    order, pixels = legacy_orders(50_000, 10_000, 784)
    assert (order[:3].tolist(), pixels[:5].tolist()) == ([20308, 37706, 6041], [538, 505, 546, 510, 734])


def test_images_come_in_one_order_over_and_over():
    data = images()
    task = build("pixels_set", 5, data)
    order, pixels = legacy_orders(23, 9, 24)
    assert task.updates_per_epoch == 4
    for update in (0, 3, 4, 11):
        batch = task.batch(9, update)
        chosen = order[update % 4 * 5 :][:5]
        expected = data.arrays["train_images"][chosen].reshape(5, 24)[:, pixels].T / 256
        np.testing.assert_array_equal(batch.inputs[..., 0], expected.astype(np.float32))
        np.testing.assert_array_equal(batch.targets, data.arrays["train_labels"][chosen])
    test = next(build("pixels_set", 5, data, order="scan").evaluation("test")).inputs[..., 0]
    np.testing.assert_array_equal(test, data.arrays["test_images"].reshape(5, 24).T / np.float32(256))


def test_pooling_averages_squares_before_the_permutation():
    data = images()
    task = build("pixels_set", 5, data, pool=2)
    found = next(task.evaluation("valid")).inputs
    pixels = legacy_orders(23, 9, 6)[1]
    picture = data.arrays["valid_images"][7].astype(float)
    squares = [picture[2 * r : 2 * r + 2, 2 * c : 2 * c + 2].mean() / 256 for r in range(2) for c in range(3)]
    np.testing.assert_allclose(found[:, 7, 0], np.array(squares)[pixels], rtol=1e-6)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "copy_memory",
            {"gap": 5, "sequences": 10},
            "sequences = 10 given with batches of 4; allowed: a multiple",
        ),
        ("copy_memory", {"gap": 0}, "gap is 0; allowed is a whole number from 1 to a billion"),
        ("copy_memory", {"gap": 5, "vary": "both"}, "vary is 'both'; allowed are lag, length, nothing"),
        ("addition_set", {"length": 1}, "length = 1 given; allowed: at least 2"),
        ("pixels_set", {"pool": 4}, "pool = 4 given; allowed: a divisor of 4 rows and 6 columns"),
    ],
)
def test_wrong_settings_are_refused(name, options, message):
    with pytest.raises(ValueError, match=message):
        build(name, BATCH, images() if name == "pixels_set" else None, **options).batch(0, 0)
