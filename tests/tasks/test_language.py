"""Proves that text becomes rows and chunks as documents and loader have it, and how it is scored."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from tensor_rnns import tasks
from tensor_rnns.models import Model
from tensor_rnns.training.learner import Learner

SYMBOLS = 7


def text(train=50, valid=23, test=31):
    """Three splits of numbers below 7."""
    generator = np.random.default_rng(5)
    arrays = {
        f"{split}_tokens": generator.integers(0, SYMBOLS, length).astype(np.uint16)
        for split, length in {"train": train, "valid": valid, "test": test}.items()
    }
    return SimpleNamespace(name="made", arrays=arrays | {"vocabulary": np.array(list("abcdefg"))}, facts={})


def task(name="words", batch=3, bptt=4, data=None, **options):
    settings = {"task": {"name": name, "bptt": bptt} | options, "training": {"batch": batch}}
    return tasks.build(settings, data or text())


def test_rows_are_stretches_and_chunks_go_on():
    """50 symbols make 3 rows of 16 and 3 chunks of 4; the last symbol of a row is a target or dropped."""
    made, data = task(), text()
    tokens = data.arrays["train_tokens"]
    assert (made.inputs, made.outputs, made.updates_per_epoch) == (SYMBOLS, SYMBOLS, 3)
    for row in range(3):
        read = np.concatenate([made.batch(8, update).inputs[:, row] for update in range(3)])
        np.testing.assert_array_equal(read, tokens[16 * row : 16 * row + 12])
        answers = np.concatenate([made.batch(9, update).targets[:, row] for update in range(3)])
        np.testing.assert_array_equal(answers, tokens[16 * row + 1 : 16 * row + 13])
    np.testing.assert_array_equal(made.batch(8, 5).inputs, made.batch(2, 2).inputs)


def test_a_split_may_be_read_in_part():
    """With `most` 20 every split is as if the data set ended there."""
    data, short = text(), text()
    for split in ("train", "valid", "test"):
        short.arrays[f"{split}_tokens"] = data.arrays[f"{split}_tokens"][:20]
    for name in ("words", "characters"):
        ours, theirs = task(name, data=data, most=20), task(name, data=short)
        assert (ours.updates_per_epoch, ours.baseline) == (theirs.updates_per_epoch, theirs.baseline)
        for split in ("train", "valid", "test"):
            for one, other in zip(ours.evaluation(split), theirs.evaluation(split), strict=True):
                np.testing.assert_array_equal(one.inputs, other.inputs)


def test_rare_words_become_the_unknown_one():
    """With a vocabulary of 4, numbers from 4 on become that of the unknown word, in every split."""
    data = text()
    data.arrays["vocabulary"] = np.array(["the", "<unk>", "of", "a", "b", "c", "d"])
    made = task(data=data, vocabulary=4)
    assert (made.inputs, made.outputs) == (4, 4)
    for split in ("train", "valid", "test"):
        before = data.arrays[f"{split}_tokens"]
        assert (before >= 4).any()
        np.testing.assert_array_equal(made.tokens(split), np.where(before < 4, before, 1))
    for size, listed in (
        (1, data.arrays["vocabulary"]),
        (8, data.arrays["vocabulary"]),
        (4, list("abcdefg")),
    ):
        data.arrays["vocabulary"] = np.array(listed)
        with pytest.raises(ValueError, match=f"vocabulary = {size} given; the data set has 7 words"):
            task(data=data, vocabulary=size)


def test_the_authors_loader_reads_the_start_alone():
    """Row b of chunk n begins at 4 n + 5 b, and the chunks are as many as blocks of 3 x 5 symbols."""
    made = task("characters", loader="authors")
    tokens = text().arrays["train_tokens"]
    assert made.updates_per_epoch == 50 // 15
    for update in range(3):
        for row in range(3):
            start = 4 * update + 5 * row
            np.testing.assert_array_equal(made.batch(0, update).inputs[:, row], tokens[start : start + 4])
            np.testing.assert_array_equal(
                made.batch(0, update).targets[:, row], tokens[start + 1 : start + 5]
            )


def test_the_authors_loader_at_the_size_of_war_and_peace():
    """253 chunks an epoch that touch the first 35,300 of 2,556,970 characters, and 31 in validation; of the
    first 500,000 49 chunks touch 14,900."""
    data = text(2_556_970, 319_622, 319_619)
    made = task("characters", batch=100, bptt=100, data=data, loader="authors")
    assert (made.updates_per_epoch, made.chunks("valid"), made.chunks("test")) == (253, 31, 31)
    assert made.starts("train", 252).max() + made.bptt + 1 == 35_300
    assert made.starts("valid", 30).max() + made.bptt + 1 == 13_100
    short = task("characters", batch=100, bptt=100, data=data, loader="authors", most=500_000)
    assert (short.updates_per_epoch, short.starts("train", 48).max() + 101) == (49, 14_900)


def test_the_loss_is_in_nats_a_symbol():
    """Against the sum over steps and rows by hand; uniform logits score log 7."""
    made = task()
    outputs = torch.randn(4, 2, 3, SYMBOLS, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    targets = torch.randint(0, SYMBOLS, (4, 2, 3), generator=torch.Generator().manual_seed(2))
    expected = [
        -sum(
            math.log(float(outputs[t, s, b].softmax(0)[targets[t, s, b]])) for t in range(4) for b in range(3)
        )
        / 12
        for s in range(2)
    ]
    np.testing.assert_allclose(made.loss(outputs, targets), expected, rtol=1e-12)
    torch.testing.assert_close(
        made.loss(torch.zeros(4, 2, 3, SYMBOLS), targets), torch.full((2,), math.log(7))
    )


def test_the_baseline_is_the_entropy_of_the_training_symbols():
    """Half a, half b: log 2, whatever else the vocabulary has."""
    data = text(train=40)
    data.arrays["train_tokens"][:] = np.arange(40) % 2
    assert task(data=data).baseline == pytest.approx(math.log(2))


@pytest.mark.parametrize("options", [{}, {"loader": "authors"}, {"most": 34}])
def test_the_baseline_is_that_of_what_is_read(options):
    """The frequencies of the targets of an epoch; what no row reads plays no part."""
    made = task("characters", **options)
    targets = np.concatenate([made.batch(0, k).targets.ravel() for k in range(made.updates_per_epoch)])
    shares = np.array([np.mean(targets == symbol) for symbol in range(SYMBOLS) if symbol in targets])
    assert made.baseline == pytest.approx(-np.sum(shares * np.log(shares)), rel=1e-12)
    data = text()
    places = range(made.updates_per_epoch)
    unread = set(range(50)) - {
        int(k) for n in places for k in (made.starts("train", n)[:, None] + np.arange(5)).flat
    }
    assert unread
    data.arrays["train_tokens"][list(unread)] = 0
    assert task("characters", data=data, **options).baseline == made.baseline


def test_perplexity_is_exp_of_the_mean_over_the_split():
    """Not the mean of the perplexities of the chunks."""
    made = task()

    class Fixed(Model):
        name, cell = "fixed", None

        def shapes(self):
            return {"a": (1,)}

        def outputs_of(self, values, inputs):
            return torch.nn.functional.one_hot(inputs, SYMBOLS).double() * values["a"].view(-1, 1, 1)

    learner = Learner(Fixed(), made, [SimpleNamespace()] * 2, torch.device("cpu"), torch.float64)
    found = learner.evaluate(torch.tensor([[0.0], [3.0]], dtype=torch.float64), "test")
    torch.testing.assert_close(found["perplexity"], found["nll"].exp())
    assert float(found["perplexity"][0]) == pytest.approx(7)
    chunks = [made.loss(*Fixed().forward({"a": torch.tensor([3.0])}, torch.from_numpy(b.inputs)[:, None])[:1],
                        torch.from_numpy(b.targets)[:, None]) for b in made.evaluation("test")]  # fmt: skip
    assert float(found["nll"][1]) == pytest.approx(float(torch.stack(chunks).mean()))
    assert float(torch.stack(chunks).exp().mean()) > float(found["perplexity"][1]) * 1.0001


def test_what_does_not_fit_is_refused():
    """No data, too long a chunk, another loader and another split are named with what is allowed."""
    with pytest.raises(ValueError, match="no data set given"):
        tasks.build({"task": {"name": "words", "bptt": 4}, "training": {"batch": 3}}, None)
    with pytest.raises(ValueError, match="split valid has 23 symbols; allowed: at least one chunk"):
        task(bptt=7)
    with pytest.raises(ValueError, match="task characters: loader is 'all'; allowed are authors, rows"):
        task("characters", loader="all")
    with pytest.raises(ValueError, match="split 'tests' asked for; allowed: train, valid, test"):
        next(task().evaluation("tests"))


def test_bytes_watch_the_start_of_the_test_part():
    """The split valid is no part of its own; `most` is of the training part alone."""
    data = text(train=50, test=31)
    made = task("bytes", data=data, most=30, most_test=28, watched=20)
    sizes = [len(made.tokens(split)) for split in ("train", "valid", "test")]
    assert sizes == [30, 20, 28]
    np.testing.assert_array_equal(made.tokens("valid"), data.arrays["test_tokens"][:20])
    means = {"nll": torch.tensor([math.log(2), 3 * math.log(2)], dtype=torch.float64)}
    np.testing.assert_allclose(made.derived(means)["bpc"], [1, 3], rtol=1e-15)
    np.testing.assert_allclose(task("streams").derived(means)["bpc"], [1, 3], rtol=1e-15)


def test_bytes_say_when_the_state_is_zero_again():
    made = task("bytes", reset_every=2)
    assert made.reset_every == 2
    assert task("bytes").reset_every is None
    with pytest.raises(ValueError, match="reset_every"):
        task("bytes", reset_every=0.5)
