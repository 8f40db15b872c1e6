"""Proves that what is said of a data set of images is counted as by hand, ties included."""

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.datasets import Dataset
from tensor_rnns.papers.mathews2016 import images
from tensor_rnns.tasks.pixels import permutation

ROWS, COLUMNS = 6, 4
SIZES = {"train": 31, "valid": 12, "test": 17}
ARGUMENTS = {"margin": 0.2, "neighbours": [1, 3, 5]}


def made():
    """Random images with much ink in the middle, many zeros, and three classes."""
    generator = np.random.default_rng(3)
    arrays = {}
    for split, size in SIZES.items():
        levels = generator.integers(-150, 256, (size, ROWS, COLUMNS)).clip(0)
        levels[:, [0, -1]] //= 5
        arrays[f"{split}_images"] = levels.astype(np.uint8)
        arrays[f"{split}_labels"] = generator.integers(0, 3, size).astype(np.uint8)
    return Dataset("made", arrays, {})


@pytest.fixture(scope="module")
def computed():
    return {
        (row["item"], row["name"]): row["value"]
        for row in functions.computed("mathews2016.images")(ARGUMENTS, made())
    }


def test_shares_of_zeros_and_of_ink(computed):
    train = made().arrays["train_images"].astype(int)
    assert computed["images", "steps"] == ROWS * COLUMNS
    assert computed["images", "zero"] == pytest.approx(np.mean([p == 0 for p in train.ravel()]), rel=1e-12)
    assert computed["images", "middle"] == pytest.approx(train[:, 1:5].sum() / train.sum(), rel=1e-12)


def test_chance_is_the_share_of_the_most_frequent_class(computed):
    for split, size in SIZES.items():
        labels = made().arrays[f"{split}_labels"].tolist()
        assert computed["chance", split] == max(labels.count(c) for c in range(3)) / size


@pytest.mark.parametrize(("name", "lag"), [("next", 1), ("below", COLUMNS)])
def test_correlation_in_both_orders(computed, name, lag, monkeypatch):
    """As numpy gives it for all pairs at once, whatever the chunks."""
    flat = made().arrays["train_images"].reshape(SIZES["train"], -1).astype(float)
    orders = {"scan": flat, "permuted": flat[:, permutation(ROWS * COLUMNS)]}
    for order, sequences in orders.items():
        expected = np.corrcoef(sequences[:, :-lag].ravel(), sequences[:, lag:].ravel())[0, 1]
        assert computed[order, name] == pytest.approx(expected, rel=1e-10)
        monkeypatch.setattr(images, "CHUNK", 7)
        assert images.correlation(sequences, lag) == pytest.approx(expected, rel=1e-10)
    assert images.correlation(np.full((3, 9), 4), 2) == 0


def test_nearest_neighbours_one_by_one(computed, monkeypatch):
    """Against a loop over pairs of images with Python's stable sort."""
    arrays = made().arrays
    for known, told in ((("train",), ""), (("train", "valid"), ", with valid")):
        levels = [image for split in known for image in arrays[f"{split}_images"].astype(int)]
        labels = [int(label) for split in known for label in arrays[f"{split}_labels"]]
        for k in ARGUMENTS["neighbours"]:
            right = 0
            for image, truth in zip(arrays["test_images"].astype(int), arrays["test_labels"], strict=True):
                order = sorted(range(len(levels)), key=lambda i: int(((levels[i] - image) ** 2).sum()))
                votes = [labels[i] for i in order[:k]]
                best = max(votes.count(vote) for vote in votes)
                right += next(vote for vote in votes if votes.count(vote) == best) == truth
            assert computed["nearest", f"k = {k}{told}"] == right / SIZES["test"]
    monkeypatch.setattr(images, "CHUNK", 5)
    assert images.nearest(arrays, ["train"], [3])[0][3] == computed["nearest", "k = 3"]


def test_distances_are_exact_where_float32_would_round():
    """The second image is nearer by 2 among 51 million, where float32 holds every fourth number."""
    test, near, far = np.full((28, 28), 255), np.zeros((28, 28), dtype=int), np.zeros((28, 28), dtype=int)
    near[0, :2], far[0, :2] = [8, 8], [7, 9]
    squares = [int(((test - other) ** 2).sum()) for other in (far, near)]
    assert squares[0] - squares[1] == 2
    assert np.spacing(np.float32(squares[0])) == 4
    arrays = {
        "train_images": np.array([far, near], dtype=np.uint8),
        "train_labels": np.array([0, 1], dtype=np.uint8),
        "test_images": np.array([test], dtype=np.uint8),
        "test_labels": np.array([1], dtype=np.uint8),
    }
    assert images.nearest(arrays, ["train"], [1]) == [{1: 1.0}]


def test_ties_go_to_the_first():
    values = np.array([[2.0, 1.0, 2.0, 0.5, 2.0], [3.0, 3.0, 3.0, 3.0, 1.0]])
    assert images.first_of(values, 3).tolist() == [[3, 1, 0], [4, 0, 1]]
    assert images.majority(np.array([2, 0, 1])) == 2
    assert images.majority(np.array([2, 0, 1, 1, 0])) == 0
    assert images.majority(np.array([2, 1, 1])) == 1


def test_other_arguments_are_refused():
    with pytest.raises(ValueError, match=r"needs the key 'neighbours'"):
        functions.computed("mathews2016.images")({"margin": 0.2}, made())
