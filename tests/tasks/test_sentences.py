"""Proves that sentences are cut, padded and sorted as stated, and scored as by hand, whatever the padding."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks

VOCABULARY = np.array(["\n", "_", "a", "b"])
TEXTS = {
    "train": "ab\na\nbab_a\nb_\nbb_bb_b\naa\na_a_a_a_a\n",
    "valid": "b\nab_a\naab\n",
    "test": "ba\nbaba_ab\n",
}


def dataset(texts=TEXTS, vocabulary=VOCABULARY):
    place = {symbol: number for number, symbol in enumerate(VOCABULARY)}
    arrays = {
        f"{split}_tokens": np.array([place[c] for c in text], dtype=np.uint8) for split, text in texts.items()
    }
    return SimpleNamespace(name="made", arrays=arrays | {"vocabulary": vocabulary}, facts={})


def task(batch=3, data=None, **options):
    settings = {"task": {"name": "sentences"} | options, "training": {"batch": batch}}
    return tasks.build(settings, data or dataset())


def told(batch):
    """The sentences of a batch, each up to its own length."""
    columns = zip(batch.targets.T, batch.inputs.T, batch.lengths, strict=True)
    for targets, inputs, length in columns:
        assert inputs[0] == 0
        assert (inputs[1:] == targets[:-1]).all()
        assert targets[length - 1] == 0
    return ["".join(VOCABULARY[row[: n - 1]]) for row, n in zip(batch.targets.T, batch.lengths, strict=True)]


def test_sentences_come_in_the_order_of_the_file_with_their_ends():
    made = task()
    assert (made.inputs, made.outputs, made.updates_per_epoch) == (5, 5, 3)
    assert told(made.batch(4, 0)) == ["ab", "a", "bab_a"]
    assert told(made.batch(9, 5)) == ["a_a_a_a_a"]
    batch = made.batch(0, 1)
    assert batch.targets.shape == batch.inputs.shape == (8, 3)
    assert batch.weight == 3
    assert batch.lengths.tolist() == [3, 8, 3]
    np.testing.assert_allclose(batch.weights.sum(0), 1)
    np.testing.assert_allclose(batch.weights[:4, 0], [1 / 3, 1 / 3, 1 / 3, 0])
    assert [told(one) for one in made.evaluation("test")] == [["ba", "baba_ab"]]
    with pytest.raises(ValueError, match="split 'all' asked for; allowed: train, valid, test"):
        list(made.evaluation("all"))


def test_a_window_is_sorted_by_length_and_no_sentence_is_lost():
    made = task(batch=2, window=3)
    assert [told(made.batch(0, k)) for k in range(4)] == [["a", "ab"], ["b_", "aa"], ["bab_a", "bb_bb_b"],
                                                          ["a_a_a_a_a"]]  # fmt: skip
    file, sorted_ = ([len(made.batch(0, k).targets) for k in range(4)] for made in (task(batch=2), made))
    assert sum(sorted_) < sum(file)


def test_a_long_sentence_is_left_out_of_training_and_refused_elsewhere():
    assert [told(task(longest=7).batch(0, k)) for k in range(2)] == [
        ["ab", "a", "bab_a"],
        ["b_", "bb_bb_b", "aa"],
    ]
    with pytest.raises(ValueError, match="sentence 2 of test has 7 symbols; allowed are at most longest = 6"):
        task(longest=6).batch(0, 0)
    with pytest.raises(ValueError, match="split train has no sentence"):
        task(data=dataset(TEXTS | {"train": "\n"}))


def test_a_text_without_lines_is_refused():
    letters = np.array(["x", "_", "a", "b"])
    with pytest.raises(ValueError, match="data set made has no symbol for the end of a line"):
        task(data=dataset(vocabulary=letters)).batch(0, 0)


def test_only_the_first_are_read():
    assert task(most=2).updates_per_epoch == 1
    assert told(task(most=2).batch(0, 0)) == ["ab", "a"]


def test_metrics_are_those_of_each_sentence_by_itself():
    """The mean of means, the mean of all symbols, and no influence of what stands in the padding."""
    made, rng = task(), np.random.default_rng(3)
    totals, weight, by_hand = {}, 0, []
    for batch in made.evaluation("valid"):
        outputs = torch.tensor(rng.standard_normal((len(batch.targets), 1, batch.targets.shape[1], 5)))
        for column, length in enumerate(batch.lengths):
            logits = outputs[:length, 0, column].numpy()
            norm = np.log(np.exp(logits).sum(1))
            by_hand.append(norm - logits[np.arange(length), batch.targets[:length, column]])
            outputs[length:, 0, column] = torch.inf if column else torch.nan
        stacked = type(batch).stack([batch])
        judged = torch.tensor(stacked.targets), torch.tensor(stacked.weights)
        for name, value in made.metrics(outputs, *judged).items():
            totals[name] = totals.get(name, 0) + value * batch.weight
        weight += batch.weight
    means = {name: total / weight for name, total in totals.items()}
    found = {name: float(value) for name, value in (means | made.derived(means)).items()}
    mean_of_means = float(np.mean([one.mean() for one in by_hand]))
    per_symbol = float(np.concatenate(by_hand).mean())
    assert found["loss"] == found["nll"] == pytest.approx(mean_of_means, rel=1e-12)
    assert found["perplexity"] == pytest.approx(math.exp(mean_of_means), rel=1e-12)
    assert found["nats_per_symbol"] == pytest.approx(per_symbol, rel=1e-12)
    assert found["symbol_perplexity"] == pytest.approx(2 ** found["bpc"], rel=1e-12)
    assert mean_of_means != pytest.approx(per_symbol, rel=1e-3)


def test_the_baseline_is_the_best_constant():
    made = task()

    def cost(shares):
        sums = [-np.log(shares[[*s, 0]]).mean() for s in made.sentences("train")]
        return np.mean(sums)

    rng = np.random.default_rng(1)
    best = np.zeros(5)
    for sentence in made.sentences("train"):
        best += np.bincount([*sentence, 0], minlength=5) / (len(sentence) + 1)
    best = (best + 1e-12) / best.sum()
    assert made.baseline == pytest.approx(cost(best), rel=1e-9)
    for _ in range(20):
        other = best * np.exp(0.1 * rng.standard_normal(5))
        assert cost(other / other.sum()) > made.baseline
