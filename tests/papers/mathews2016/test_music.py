"""Proves the numbers of sets of music and of texts, on small ones counted by hand or by plain loops."""

import math

import numpy as np
import pytest

from tensor_rnns import functions
from tensor_rnns.datasets import Dataset
from tensor_rnns.papers.mathews2016 import music

LENGTHS = {"train": [4, 1, 6], "valid": [2], "test": [3, 5]}


def rolls(seed, density):
    """Random pieces whose first and last notes sound, so that a step over the border would be noticed."""
    rng = np.random.default_rng(seed)
    arrays = {}
    for split, lengths in LENGTHS.items():
        roll = (rng.random((sum(lengths), 88)) < density).astype(np.uint8)
        roll[:, 40:] = 0
        roll[:, 7] = 1
        arrays |= {f"{split}_roll": roll, f"{split}_lengths": np.array(lengths)}
    return Dataset("made", arrays, {})


def pieces(dataset, split):
    cuts = np.cumsum(LENGTHS[split])[:-1]
    return [piece.tolist() for piece in np.split(dataset.arrays[f"{split}_roll"], cuts)]


def test_the_markov_loss_is_that_of_plain_loops():
    dataset = rolls(3, 0.3)
    loss = 0.0
    for note in range(88):
        cases = {(was, now): 1 for was in (0, 1) for now in (0, 1)}
        for piece in pieces(dataset, "train"):
            was = 0
            for row in piece:
                cases[was, row[note]] += 1
                was = row[note]
        for piece in pieces(dataset, "test"):
            was = 0
            for row in piece:
                loss -= math.log(cases[was, row[note]] / (cases[was, 0] + cases[was, 1]))
                was = row[note]
    assert music.markov(dataset) == pytest.approx(loss / sum(LENGTHS["test"]), rel=1e-12)


def test_numbers_of_music_counted_by_hand():
    arrays = {f"{split}_lengths": np.array(lengths) for split, lengths in LENGTHS.items()}
    for split, lengths in LENGTHS.items():
        arrays[f"{split}_roll"] = np.zeros((sum(lengths), 88), dtype=np.uint8)
    arrays["train_roll"][2, [10, 12, 30]] = 1
    arrays["valid_roll"][1, [4, 12]] = 1
    arrays["test_roll"][5, 25] = 1
    found = music.numbers(Dataset("made", arrays, {}))
    del found["markov"]
    assert found == {
        "pieces": 6, "steps": 21, "steps a piece": 3.5, "lowest": 25, "highest": 51, "range": 27,
        "notes used": 5, "notes a step": pytest.approx(6 / 21), "largest chord": 3,
    }  # fmt: skip


def test_ranks_are_told_from_the_smallest():
    loaded = {"dense": rolls(5, 0.6), "thin": rolls(5, 0.1), "middle": rolls(5, 0.3)}
    rows = functions.computed("mathews2016.music")({"ranked": ["notes a step"]}, loaded)
    ranks = {row["item"]: row["value"] for row in rows if row["name"] == "rank of notes a step"}
    assert ranks == {"thin": 1, "middle": 2, "dense": 3}
    with pytest.raises(ValueError, match=r"music needs the key 'ranked'"):
        functions.computed("mathews2016.music")({}, loaded)


def test_numbers_of_a_text_counted_by_hand():
    text = {"train": "abacab", "valid": "dd", "test": "abd"}
    arrays = {"vocabulary": np.array(list("abcde"))}
    for split, letters in text.items():
        arrays[f"{split}_tokens"] = np.array(["abcde".index(letter) for letter in letters], dtype=np.uint8)
    dataset = Dataset("made", arrays, {"rare_in_train": 2, "lines": 7})
    found = {row["name"]: row["value"] for row in functions.computed("texts")({}, {"made": dataset})}
    # train has a 3, b 2, c 1 times, d and e never: with one more case of each 4, 3, 2, 1, 1 of 11
    assert found == {
        "symbols": 5,
        "train tokens": 6, "train used": 3, "train share": pytest.approx(6 / 11),
        "valid tokens": 2, "valid used": 1, "valid share": pytest.approx(2 / 11),
        "test tokens": 3, "test used": 3, "test share": pytest.approx(3 / 11),
        "unigram": pytest.approx(-math.log(4 / 11 * 3 / 11 * 1 / 11) / 3),
        "rare in train": 2,
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"texts has no key 'ranked'"):
        functions.computed("texts")({"ranked": []}, {"made": dataset})
